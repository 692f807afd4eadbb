"""Graphs of a compile, captured and checked in tests."""
