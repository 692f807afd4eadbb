"""The bytes of the tensors that live."""

from __future__ import annotations

import gc

import torch
from torch import Tensor
from torch._subclasses import FakeTensor


def held_bytes() -> int:
    """The bytes of all tensors that live, each storage once. Packed weights count as their types
    say: what a library adds for its blocks is not seen."""
    gc.collect()
    storages: dict[tuple[str, int], int] = {}
    for one in gc.get_objects():
        if not issubclass(type(one), Tensor) or issubclass(type(one), FakeTensor):
            continue
        if one.layout is torch.strided and one.device.type == "cpu":
            storage = one.untyped_storage()
            storages["storage", storage.data_ptr()] = storage.nbytes()
        elif one.device.type == "cpu":
            storages["packed", id(one)] = one.numel() * one.element_size()
    return sum(storages.values())


__all__ = ["held_bytes"]
