"""Raises the IR to an FX graph."""
