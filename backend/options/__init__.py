"""Inductor's options that enable fusions by name: what a user may set, and what they enable."""
