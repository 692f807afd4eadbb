"""Copies with the strides of their originals."""

from __future__ import annotations

from typing import Any

from xdsl.ir import SSAValue

from xductor.ir import ListArg, RawOp, TensorType
from xductor.ir.dialect.types import Dim
from xductor.ir.symbolic.expressions import add, mul, sub
from xductor.transforms.analysis.graphs import facts_of
from xductor.transforms.editing.editor import Editor
from xductor.transforms.editing.replacement import known_equal
from xductor.transforms.editing.symint_scope import SymintScope


class StridedCopies:
    """Makes copies in one graph: plain clones, or of the whole storage if there are gaps."""

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        self.facts = facts_of(editor.graph)
        self.scope = SymintScope(editor.graph, editor.analyses.order.key)

    def copy(self, value: SSAValue, op: RawOp) -> SSAValue | None:
        """A copy with the strides of a value; None if its sizes are not available there."""
        type_ = value.type
        if type(type_) is not TensorType:
            return None
        made = self.editor.call("aten.clone.default", [value, None], above=op)
        if self._is_laid_out(made.results[0].type, type_):
            return made.results[0]
        self.editor.erase(made)
        sizes = [self._sizes(one, op) for one in (type_.shape, type_.stride, (type_.offset,))]
        length = self._sizes((_length(type_),), op)
        if length is None or any(one is None for one in sizes):
            return None
        shape, stride, offset = sizes
        assert offset is not None
        whole = self._strided(value, length, ListArg((1,)), 0, op)
        copy = self.editor.call("aten.clone.default", [whole, None], above=op).results[0]
        return self._strided(copy, shape, stride, offset[0], op)

    def _strided(
        self, value: SSAValue, shape: Any, stride: Any, offset: Any, op: RawOp
    ) -> SSAValue:
        arguments = [value, shape, stride, offset]
        return self.editor.call("aten.as_strided.default", arguments, above=op).results[0]

    def _is_laid_out(self, found: Any, wanted: TensorType) -> bool:
        return (
            known_equal(found.shape, wanted.shape, self.facts)
            and known_equal(found.stride, wanted.stride, self.facts)
            and self.facts.known_equal(found.offset, wanted.offset) is True
        )

    def _sizes(self, dims: tuple[Dim, ...], op: RawOp) -> ListArg | None:
        """Sizes as a list argument; None if the graph does not have one of them there."""
        found: list[Any] = []
        for dim in dims:
            value = dim if type(dim) is int else self.scope.before(dim, op)  # type: ignore[arg-type]
            if value is None:
                return None
            found.append(value)
        return ListArg(found)


def _length(type_: TensorType) -> Dim:
    """How many elements of its storage a tensor spans, from the start of the storage."""
    length: Any = add(type_.offset, 1)
    for size, step in zip(type_.shape, type_.stride, strict=True):
        length = add(length, mul(sub(size, 1), step))
    return length


__all__ = ["StridedCopies"]
