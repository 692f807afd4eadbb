"""Operators as Python functions that build ops: `aten.mm(a, b)`."""
