"""How a stage stacks tensors along a new dim and takes them apart again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from xductor.ir import aten


@dataclass(frozen=True)
class Stacking:
    """The op functions of one stage that stack tensors and take them apart.

    - `stack`: stacks tensors of one type along a new leading dim.
    - `rows`: a view of each entry of the leading dim, whose size is given.
    - `copy`: a tensor with the same content and a storage of its own.
    """

    stack: Callable[[Sequence[Any]], Any]
    rows: Callable[[Any, int], list[Any]]
    copy: Callable[[Any], Any]


def _cat(tensors: Sequence[Any]) -> Any:
    return aten.cat([aten.unsqueeze(one, 0) for one in tensors], 0)


def _selects(stacked: Any, count: int) -> list[Any]:
    return [aten.select(stacked, 0, number) for number in range(count)]


#: After autograd: what code generation reads without a copy.
ATEN = Stacking(_cat, _selects, aten.clone)


def _stack(tensors: Sequence[Any]) -> Any:
    return aten.stack(list(tensors))


def _unbound(stacked: Any, count: int) -> list[Any]:
    return list(aten.unbind(stacked))


#: Before autograd: one view of all rows, whose backward is one stack.
TORCH = Stacking(_stack, _unbound, aten.clone)

__all__ = ["ATEN", "TORCH", "Stacking"]
