"""Products of matrices, and what stands around them."""
