"""Raises the IR to an FX graph; what calls in an FX graph read and write."""
