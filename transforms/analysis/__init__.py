"""What passes ask about a graph: order, memory, effects, calls with bodies."""
