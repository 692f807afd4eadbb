"""Products of matrices whose sizes are padded for alignment."""
