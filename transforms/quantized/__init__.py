"""Products with weights of 8 and 4 bits, which are scaled when they are read."""
