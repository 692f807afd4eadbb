"""Arithmetic behind a computation: which may be folded into the weight, and why not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch.utils._python_dispatch import _disable_current_modes
from xdsl.ir import OpResult, SSAValue

from xductor.ir import GetAttrOp, GraphOp, SchemaOp, TensorType
from xductor.ir.text.resources import constant
from xductor.transforms.freezing.computations import (
    Computation,
    computation_of,
    is_plain,
    sizes_of,
)
from xductor.transforms.matching.matcher import Match
from xductor.transforms.rewriting.contracts import Declined

#: The arithmetic that is folded, by its op.
KINDS: dict[str, Literal["add", "sub", "mul", "div"]] = {
    "aten.add.Tensor": "add",
    "aten.sub.Tensor": "sub",
    "aten.mul.Tensor": "mul",
    "aten.div.Tensor": "div",
}
_RESHAPES = frozenset(("aten.reshape.default", "aten.view.default"))


@dataclass(frozen=True)
class Site:
    """A computation, an optional reshape that keeps the last dim, and the arithmetic behind it.

    - `other`: the other operand of the arithmetic, a number or a tensor.
    - `is_first`: whether the result of the computation is the first operand.
    """

    op: SchemaOp
    computation: Computation
    reshape: SchemaOp | None
    other: Any
    is_first: bool

    @property
    def result(self) -> Any:
        return self.op.results[0]

    @property
    def kind(self) -> Literal["add", "sub", "mul", "div"]:
        return KINDS[self.op.name]

    @property
    def alpha(self) -> Any:
        return self.op.argument("alpha") if self.kind in ("add", "sub") else 1

    @property
    def values_between(self) -> list[OpResult]:
        ops = [self.computation.op, *([self.reshape] if self.reshape is not None else [])]
        return [one.results[0] for one in ops]

    def match(self) -> Match:
        """The site as the match that the contracts ask about."""
        computation = self.computation
        read = [computation.data, computation.weight, computation.bias, self.other]
        tensors = [one for one in read if isinstance(one, SSAValue)]
        ops: Any = [self.op, *[value.op for value in self.values_between]]
        return Match.of(self.op, ops, [self.op.results[0]], tensors)

    def check_other(self, graph: GraphOp) -> None:
        """Raise Declined if the other operand does not fit or is not known."""
        if self.kind == "div" and not self.is_first:
            raise Declined("something is divided by the result")
        numbers = [self.alpha] if isinstance(self.other, SSAValue) else [self.alpha, self.other]
        for number in numbers:
            if type(number) not in (int, float):
                raise Declined(f"{number} is no real number that is known")
            if not math.isfinite(number):
                raise Declined(f"{number} beside it is not finite")
        if isinstance(self.other, SSAValue):
            self._check_tensor(self.other, graph)
        elif self.kind == "div" and self.other == 0:
            raise Declined("it is divided by 0")

    def _check_tensor(self, other: SSAValue, graph: GraphOp) -> None:
        sizes, rank = sizes_of(other), len(self.result.type.shape)
        channel = len(sizes) + self.computation.channel
        wide = [place for place, size in enumerate(sizes) if size != 1]
        if len(sizes) > rank or wide not in ([], [channel]):
            raise Declined(f"sizes {list(sizes)} beside it are not those of its channels")
        if wide and sizes[channel] != self.computation.channels:
            raise Declined(f"sizes {list(sizes)} beside it make it larger")
        held = constant(graph, other.owner) if type(other.owner) is GetAttrOp else None
        if held is None:
            raise Declined("the other operand is not a known constant")
        with _disable_current_modes(), torch.no_grad():
            if not bool(torch.isfinite(held).all()):
                raise Declined("what stands beside it is not finite")
            if self.kind == "div" and not bool((held != 0).all()):
                raise Declined("it is divided by 0")


def site_of(op: Any) -> Site | None:
    """The site that may be folded at an op; None if there is none."""
    if op.parent is None:
        return None
    operands: Sequence[Any] = [op.argument("self"), op.argument("other")]
    for value, other, is_first in ((*operands, True), (*reversed(operands), False)):
        reshape = value.owner if isinstance(value, OpResult) else None
        if reshape is not None and reshape.name in _RESHAPES and _keeps_last(reshape):
            data: Any = reshape.argument("self")  # type: ignore[attr-defined]
            below: Any = data.owner if isinstance(data, OpResult) else None  # an input has no op
        else:
            below, reshape = reshape, None
        computation = computation_of(below) if below is not None else None
        if computation is None or (reshape is not None and computation.channel != -1):
            continue
        fits = is_plain(other) if isinstance(other, SSAValue) else True
        if fits and _has_type_of(op, value, computation):
            return Site(op, computation, reshape, other, is_first)  # type: ignore[arg-type]
    return None


def _keeps_last(reshape: Any) -> bool:
    before, after = (value.type.shape for value in (reshape.argument("self"), reshape.results[0]))
    return len(before) > 0 and len(after) > 0 and before[-1] == after[-1]


def _has_type_of(op: Any, value: Any, computation: Computation) -> bool:
    """Whether neither the arithmetic nor the computation promotes or broadcasts the result."""
    after, before, weight = op.results[0].type, value.type, computation.weight.type
    return (
        type(after) is TensorType
        and type(before) is TensorType
        and after.shape == before.shape
        and after.dtype is before.dtype is weight.dtype  # type: ignore[attr-defined]
    )


def is_of_constants(value: SSAValue) -> bool:
    """Whether a value depends on tensors of the module alone."""
    owner: Any = value.owner
    if type(owner) is GetAttrOp:
        return True
    return (
        isinstance(owner, SchemaOp)
        and owner.effects.pure
        and all(is_of_constants(one) for one in owner._operands)
    )


def is_read_once(value: SSAValue, graph: GraphOp) -> bool:
    """Whether a value has one use; for a tensor of the module, whether the graph reads it once."""
    owner: Any = value.owner
    same = [owner]
    if type(owner) is GetAttrOp:
        held = [op for op in graph.block.ops if type(op) is GetAttrOp]
        same = [op for op in held if op.path == owner.path]
    return sum(len(list(op.results[0].uses)) for op in same) == 1


__all__ = ["KINDS", "Site", "is_of_constants", "is_read_once", "site_of"]
