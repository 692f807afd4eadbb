"""Passes that remove calls which return their input, and additions of 0 and products with 1."""
