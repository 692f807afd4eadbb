"""The command `xductor-opt`."""
