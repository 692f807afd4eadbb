"""Algebra over whole tensors: the same value by less work. Inductor has none of these passes."""
