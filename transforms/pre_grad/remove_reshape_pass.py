"""`remove_reshape_pass`: merges successive reshapes, and removes those that cancel out."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, ClassVar

import torch

from xductor.ir import aten
from xductor.transforms import EXACT, Rewrite, Tensor, bind, one_of, shared
from xductor.transforms.matching.spellings import VIEW_OR_RESHAPE

#: Calls that treat every element alike, whatever the sizes.
_POINTWISE = (aten.relu, aten.tanh, aten.sigmoid, aten.exp)


def _reshaped(x: Any, size: Any) -> Any:
    return one_of(shared(aten.reshape(x, size)), shared(aten.view.default(x, size)))


class RemoveReshapeOfReshape(Rewrite):
    """`reshape(reshape(x, first), second)` becomes `reshape(x, second)`."""

    name = "remove_reshape_pass"
    stage = "pre_grad"
    inductor = "pre_grad.py:remove_reshape_pass"
    numerics = EXACT
    through = (VIEW_OR_RESHAPE,)

    def pattern(self, x: Tensor, first: list[int], second: list[int]) -> Any:
        return aten.reshape(_reshaped(x, first), second)

    def replacement(self, x: Tensor, second: list[int]) -> Any:
        return aten.reshape(x, second)

    def instances(self) -> Iterator[dict[str, Any]]:
        return _instances("first", "second")


class _ReshapePair(Rewrite, abstract=True):
    """Base for `op(f(op(x, size)), back)`, with a pointwise `f` and `back` the sizes of `x`.

    - `op`: the call that changes the sizes.
    """

    stage = "pre_grad"
    numerics = EXACT
    through = (VIEW_OR_RESHAPE,)
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
    """`reshape(f(reshape(x, size)), back)` becomes `f(x)`, if `back` is the shape of `x`.

    `f` is relu, tanh, sigmoid or exp.
    """

    name = "remove_reshape_pass"
    inductor = "pre_grad.py:remove_reshape_pass"
    op = aten.reshape


class RemoveViewPair(_ReshapePair):
    """`view(f(view(x, size)), back)` becomes `f(x)`, if `back` is the shape of `x`.

    `f` is relu, tanh, sigmoid or exp.
    """

    name = "remove_reshape_pass"
    inductor = "pre_grad.py:remove_reshape_pass"
    op = aten.view.default


def _instances(first: str, second: str) -> Iterator[dict[str, Any]]:
    """Operands that meet the conditions, which random ones rarely do."""
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
