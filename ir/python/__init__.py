"""Python-level callables: their names, their parameters, and which of them text may name."""
