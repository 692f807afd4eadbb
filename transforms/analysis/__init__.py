"""What passes ask about a graph: order, memory, effects of calls with bodies."""
