"""Verification of a module at the levels `structure`, `types` and `stage`."""
