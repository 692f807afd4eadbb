"""Captures and checks the graphs of a compile, for tests."""
