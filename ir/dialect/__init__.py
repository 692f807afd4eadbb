"""The ops, types and attributes of the dialect."""
