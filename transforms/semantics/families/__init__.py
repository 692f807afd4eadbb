"""The meanings of ops, a family of them per module."""
