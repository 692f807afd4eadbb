"""`xductor-opt`."""
