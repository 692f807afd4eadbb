"""Operators as Python functions, which build ops: `aten.mm(a, b)`."""
