"""Which live tensors share storage, by the identity of their storages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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


def shared_storages(operands: Sequence[Any], results: Iterable[Any]) -> AliasAttr | None:
    """For each result the first operand whose storage it shares; None if no result shares any.

    - `operands`: a value for each operand of a call; None if it is not known.
    - `results`: the leaves of the call's value.
    """
    places: dict[int, int] = {}
    for index, operand in enumerate(operands):
        storage = storage_of(operand)
        if storage is not None:
            places.setdefault(storage, index)
    if not places:
        return None
    facts: list[tuple[int, bool] | None] = []
    for result in results:
        storage = storage_of(result)
        place = places.get(storage) if storage is not None else None
        facts.append(None if place is None else (place, True))
    return AliasAttr(tuple(facts)) if any(fact is not None for fact in facts) else None


__all__ = ["shared_storages", "storage_of"]
