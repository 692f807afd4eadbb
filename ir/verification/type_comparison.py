"""Compares recorded with inferred types, up to what is known about symbols."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xductor.ir.dialect.types import Dim, SymBoolType, SymFloatType, SymIntType, TensorType
from xductor.ir.symbolic.expression_arithmetic import rebuilt, substitute
from xductor.ir.symbolic.expressions import SymExpr
from xductor.ir.symbolic.facts import Facts

_NUMBERS = (SymIntType, SymFloatType, SymBoolType)


class TypeComparison:
    """Compares types of one graph.

    Fresh symbols (which inference made for data-dependent sizes) match whatever the recorded types
    have in their place. `unrecorded` symbols may be subject to facts that were not recorded, so
    what is unknown about them does not count as a difference.
    """

    def __init__(
        self, facts: Facts, *, with_grad: bool, unrecorded: frozenset[str] = frozenset()
    ) -> None:
        self.facts = facts
        self.with_grad = with_grad
        self.unrecorded = unrecorded

    def unified(
        self, recorded: Sequence[Any], inferred: Sequence[Any], fresh: frozenset[str]
    ) -> dict[str, Dim]:
        """The recorded expression for each fresh symbol."""
        bound: dict[str, Dim] = {}
        for ours, theirs in zip(recorded, inferred, strict=True):
            for dim, other in zip(_dims(ours), _dims(theirs), strict=False):
                if type(other) is SymExpr and other.text in fresh:
                    bound.setdefault(other.text, dim)
        return bound

    def difference(self, recorded: Any, inferred: Any, bound: dict[str, Dim]) -> str | None:
        """The difference of two types in a few words; None if they agree.

        "storage offset" is given only if nothing else differs.
        """
        if recorded is inferred and not bound:
            return None
        if type(recorded) is not type(inferred):
            return "kind of value"
        if isinstance(recorded, TensorType):
            return self._tensor_difference(recorded, inferred, bound)
        if isinstance(recorded, _NUMBERS):
            return None if self._equal(recorded.expr, inferred.expr, bound) else "value"
        return None if recorded == inferred else "kind of object"

    def _tensor_difference(
        self, recorded: TensorType, inferred: TensorType, bound: dict[str, Dim]
    ) -> str | None:
        ours, theirs = recorded.data, inferred.data
        if ours.dtype is not theirs.dtype:
            return "dtype"
        if ours.device != theirs.device:
            return "device"
        if ours.layout != theirs.layout or ours.subclass != theirs.subclass:
            return "layout"
        if len(ours.shape) != len(theirs.shape):
            return "rank"
        for size, other in zip(ours.shape, theirs.shape, strict=True):
            if not self._equal(size, other, bound):
                return "shape"
        strided = ours.layout == "strided"
        if strided and not self._same_strides(recorded, inferred, bound):
            return "strides"
        for flag in ("conj", "neg", *(("requires_grad",) if self.with_grad else ())):
            if (flag in ours.flags) != (flag in theirs.flags):
                return flag
        if strided and not self._equal(ours.offset, theirs.offset, bound):
            return "storage offset"
        return None

    def _same_strides(
        self, recorded: TensorType, inferred: TensorType, bound: dict[str, Dim]
    ) -> bool:
        """Whether strides agree where they matter: not in dims of size one or empty tensors."""
        if recorded.stride == inferred.stride:
            return True
        sizes = recorded.shape
        if any(self.facts.known_equal(size, 0) for size in sizes):
            return True
        return all(
            self._equal(step, other, bound)
            or self.facts.known_equal(size, 1) is True
            or self._equal(_not_empty(step, sizes), _not_empty(other, sizes), bound)
            for size, step, other in zip(sizes, recorded.stride, inferred.stride, strict=True)
        )

    def _equal(self, recorded: Dim, inferred: Dim, bound: dict[str, Dim]) -> bool:
        if recorded is inferred:
            return True
        if bound and type(inferred) is SymExpr:
            inferred = substitute(inferred, bound)
        if recorded is inferred:
            return True
        answer = self.facts.known_equal(recorded, inferred)
        if answer is None:
            return any(name in self.unrecorded for name in _symbols(recorded, inferred))
        return answer is True


def _not_empty(stride: Dim, sizes: Sequence[Dim]) -> Dim:
    """A stride of a tensor that has elements: PyTorch counts a size of zero as one in strides."""
    if isinstance(stride, int) or "max(" not in stride.text:
        return stride
    if stride.head == "max" and len(stride.args) == 2 and 1 in stride.args:
        (size,) = (one for one in stride.args if one != 1)
        if size in sizes:
            return size
    return rebuilt(stride.head, [_not_empty(one, sizes) for one in stride.args])


def _symbols(*dims: Dim) -> frozenset[str]:
    return frozenset().union(*(dim.symbols for dim in dims if isinstance(dim, SymExpr)))


def _dims(type_: Any) -> tuple[Dim, ...]:
    if isinstance(type_, TensorType):
        return (*type_.shape, *type_.stride, type_.offset)
    if isinstance(type_, _NUMBERS):
        return (type_.expr,)
    return ()


__all__ = ["TypeComparison"]
