"""oneDNN's operators: packed weights, and what is computed together with a packed call."""
