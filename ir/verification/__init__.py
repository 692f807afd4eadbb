"""The levels of checking a module by itself."""
