"""On which device a tensor is made."""
