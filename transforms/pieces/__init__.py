"""Cats and stacks of pieces of tensors become reads of the tensors that were cut.

The type of a view says where it lies in its storage, so all ways to cut a tensor (split, chunk,
unbind, slice, select, narrow) are the same here. A cat of pieces may read the tensor that was cut,
a slice or a permutation of it, fewer and larger pieces, or a permutation that is reshaped.
"""
