"""Passes that turn higher-order ops over the rows of tensors into loops."""
