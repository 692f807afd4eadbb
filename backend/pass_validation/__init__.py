"""Validates procedural passes on graphs on which they fire, run before and after."""
