"""Python-level callables: their names, their parameters, and which ones text may name."""
