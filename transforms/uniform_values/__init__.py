"""Tensors whose elements all have the same value."""
