"""Which live tensors share storage, by the identity of their storages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from xductor.ir.dialect.results import AliasAttr


def storage_of(value: Any) -> int | None:
    """The identity of a tensor's storage; None if the value has none."""
    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return None
    try:
        return value.untyped_storage()._cdata
    except (NotImplementedError, RuntimeError):  # functorch wrappers and some subclasses have none
        return None


def shared_storages(operands: Iterable[Any], results: Iterable[Any]) -> AliasAttr | None:
    """For each result the first operand whose storage it shares; None if no result shares any.

    - `operands`: a value for each operand of a call; None if it is not known.
    - `results`: the leaves of the call's value.
    """
    return shared(map(storage_of, operands), map(storage_of, results))


def shared(operands: Iterable[int | None], results: Iterable[int | None]) -> AliasAttr | None:
    """What `shared_storages` gives, from the identities of the storages."""
    places: dict[int, int] = {}
    for index, storage in enumerate(operands):
        if storage is not None:
            places.setdefault(storage, index)
    if not places:
        return None
    found = [None if storage is None else places.get(storage) for storage in results]
    if found.count(None) == len(found):
        return None
    return AliasAttr(tuple([None if place is None else (place, True) for place in found]))


__all__ = ["shared", "shared_storages", "storage_of"]
