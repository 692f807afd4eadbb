"""Patterns: what declared rewrites are written in, and how they are found in a graph."""
