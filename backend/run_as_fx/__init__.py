"""Runs the graphs of a compile as FX, without generated code."""
