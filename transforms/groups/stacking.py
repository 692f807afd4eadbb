"""How a stage puts tensors one behind the other along a new dim, and takes them apart again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from xductor.ir import aten


@dataclass(frozen=True)
class Stacking:
    """Op functions of one stage.

    - `stack`: tensors of one type as one, along a new dim in front.
    - `rows`: a view of each place of the first dim, of which there are so many.
    - `copy`: a tensor of its own with the same content.
    """

    stack: Callable[[Sequence[Any]], Any]
    rows: Callable[[Any, int], list[Any]]
    copy: Callable[[Any], Any]


def _cat(tensors: Sequence[Any]) -> Any:
    return aten.cat([aten.unsqueeze(one, 0) for one in tensors], 0)


def _selects(stacked: Any, count: int) -> list[Any]:
    return [aten.select(stacked, 0, number) for number in range(count)]


ATEN = Stacking(_cat, _selects, aten.clone)
"""Behind autograd: what code generation reads without a copy."""


def _stack(tensors: Sequence[Any]) -> Any:
    return aten.stack(list(tensors))


def _unbound(stacked: Any, count: int) -> list[Any]:
    return list(aten.unbind(stacked))


TORCH = Stacking(_stack, _unbound, aten.clone)
"""Before autograd: one view of all rows, whose backward is one stack."""

__all__ = ["ATEN", "TORCH", "Stacking"]
