"""What the ops, types and attributes of the dialect are."""
