"""Cats and stacks of pieces: what they read of the tensors that were cut, and reading just that.

Where a view lies in a storage is said by its type, so that every way to cut a tensor (split, chunk,
unbind, slice, select, narrow) is the same here. What a cat reads is the tensor that was cut, a
slice or a permutation of it, fewer and larger pieces, or a permutation that is reshaped.
"""
