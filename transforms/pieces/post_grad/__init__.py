"""What Inductor names after autograd: options, and its patterns of cats of pieces."""
