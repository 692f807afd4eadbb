"""Validation of procedural passes: graphs on which they fire, run before and after."""
