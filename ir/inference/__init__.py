"""Type inference for the results of ops."""
