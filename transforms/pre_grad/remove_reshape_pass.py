"""`remove_reshape_pass`: reshapes of reshapes, and those that are undone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, ClassVar

import torch

from xductor.ir import aten
from xductor.transforms import EXACT, Rewrite, Tensor, bind, one_of, shared

_POINTWISE = (aten.relu, aten.tanh, aten.sigmoid, aten.exp)
"""What treats every element alike, whatever the sizes are."""


def _reshaped(x: Any, size: Any) -> Any:
    return one_of(shared(aten.reshape(x, size)), shared(aten.view.default(x, size)))


class RemoveReshapeOfReshape(Rewrite):
    """A reshape of a reshape is a reshape."""

    name = "remove_reshape_pass"
    stage = "pre_grad"
    inductor = "pre_grad.py:remove_reshape_pass"
    numerics = EXACT

    def pattern(self, x: Tensor, first: list[int], second: list[int]) -> Any:
        return aten.reshape(_reshaped(x, first), second)

    def replacement(self, x: Tensor, second: list[int]) -> Any:
        return aten.reshape(x, second)

    def instances(self) -> Iterator[dict[str, Any]]:
        return _instances("first", "second")


class _ReshapePair(Rewrite, abstract=True):
    """Sizes that are changed around a pointwise call, and given back.

    - `op`: what changes them.
    """

    stage = "pre_grad"
    numerics = EXACT
    op: ClassVar[Any]

    def pattern(self, x: Tensor, size: list[int], back: list[int], y: Tensor, which: int) -> Any:
        changed = self.op(x, size)
        made = one_of(*[one(changed) for one in _POINTWISE], as_=which)
        return bind(y, self.op(made, back))

    def where(self, x: Tensor, back: list[int], y: Tensor) -> Any:
        return x.has_sizes(back) and x.same_layout(y)

    def replacement(self, x: Tensor, which: int) -> Any:
        return _POINTWISE[int(which)](x)

    def instances(self) -> Iterator[dict[str, Any]]:
        for one, which in product(_instances("size", "back"), range(len(_POINTWISE))):
            yield one | {"which": which, "back": list(one["x"].shape)}


class RemoveReshapePair(_ReshapePair):
    """Reshapes around a pointwise call of which the outer one gives back the sizes."""

    name = "remove_reshape_pass"
    inductor = "pre_grad.py:remove_reshape_pass"
    op = aten.reshape


class RemoveViewPair(_ReshapePair):
    """The same of views."""

    name = "remove_reshape_pass"
    inductor = "pre_grad.py:remove_reshape_pass"
    op = aten.view.default


def _instances(first: str, second: str) -> Iterator[dict[str, Any]]:
    """Sizes that fit, which seldom come by themselves."""
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        for shape, inner, outer in (
            ((4, 6), [24], [2, 12]),
            ((2, 3, 4), [6, -1], [24]),
            ((1, 8), [8], [2, 4]),
            ((0, 4), [0], [4, 0]),
            ((5,), [5, 1], [1, 5]),
        ):
            yield {"x": torch.rand(shape, dtype=dtype), first: inner, second: outer}


REMOVE_RESHAPES = (RemoveReshapeOfReshape, RemoveReshapePair, RemoveViewPair)

__all__ = ["REMOVE_RESHAPES"]
