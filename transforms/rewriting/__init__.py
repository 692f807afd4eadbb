"""Declared rewrites: `pattern`, `where`, `replacement` over typed ops. See `rewrite.py`."""
