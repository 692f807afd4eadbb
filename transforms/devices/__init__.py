"""The device on which a tensor is made."""
