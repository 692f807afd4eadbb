"""Lets a value stand for another that has the same content, where no one can notice."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from xdsl.ir import Block, OpResult, SSAValue

from xductor.ir import Facts, GetAttrOp, GraphOp, TensorType, TorchOp, result_aliases
from xductor.ir.dialect.types import Dim
from xductor.transforms.analysis.functionalized_calls import FUNCTIONALIZED, reads_what_it_writes
from xductor.transforms.analysis.graphs import facts_of
from xductor.transforms.analysis.memory import Memory
from xductor.transforms.analysis.op_effects import effects_of, never_writes
from xductor.transforms.editing.editor import Editor
from xductor.transforms.editing.written_back import made_in_written_input, outlives

_VISIBLE_FLAGS = frozenset(("conj", "neg", "requires_grad"))


def known_equal(left: tuple[Dim, ...], right: tuple[Dim, ...], facts: Facts) -> bool:
    """Whether two lists of sizes or strides are equal for all values of the symbols."""
    if left == right:
        return True
    return len(left) == len(right) and all(
        facts.known_equal(a, b) is True for a, b in zip(left, right, strict=True)
    )


def surely_differ(left: TensorType, right: TensorType) -> bool:
    """Whether two types surely have different dtypes or sizes, found by a quick look.

    Sizes with symbols may be equal though they look different.
    """
    a, b = left.data, right.data
    return a.dtype is not b.dtype or (a.shape != b.shape and not left.symbols and not right.symbols)


def same_meta(left: Any, right: Any, facts: Facts) -> bool:
    """Whether two types agree in all but the offset and whether they are parameters.

    Compared are dtype, device, layout, sizes, strides, conjugate and negative bits, and
    `requires_grad`.
    """
    if left is right and type(left) is TensorType:
        return True
    if type(left) is not TensorType or type(right) is not TensorType:
        return False
    a, b = left.data, right.data
    return (
        a.dtype is b.dtype
        and a.device == b.device
        and a.layout == b.layout
        and a.subclass == b.subclass
        and _VISIBLE_FLAGS.isdisjoint(set(a.flags) ^ set(b.flags))
        and known_equal(a.shape, b.shape, facts)
        and (a.layout != "strided" or known_equal(a.stride, b.stride, facts))
    )


class Replacement:
    """Replaces results by values of the same content within one graph.

    The contract: sizes, strides, offset and dtype stay as they were wherever they can be seen. No
    output starts to share storage with an input or another output, or becomes the very same tensor,
    not even in generated code (`written_back`). No read moves to the other side of a write, nor of
    a write that a functionalized call may become (`functionalized_calls`).
    """

    def __init__(self, graph: GraphOp) -> None:
        self.graph = graph
        self.editor = Editor(graph)
        self.analyses = self.editor.analyses

    @cached_property
    def facts(self) -> Facts:
        return facts_of(self.graph)

    @property
    def memory(self) -> Memory:
        """The storages, computed when first asked for: most graphs hold nothing to replace."""
        return self.analyses.memory

    @cached_property
    def returned(self) -> set[SSAValue]:
        """The tensors that the graph returns."""
        return {tensor_of(value) for value in self.graph.output.operands}

    def may_replace(self, op: TorchOp, source: SSAValue) -> bool:
        """Whether `source`, an operand of the same content, may stand for the only result."""
        result = op.results[0]
        if not same_meta(result._type, source._type, self.facts):
            return False
        if _is_view_of(op, source):
            return self.may_be(result, source)
        return self._may_share(op, result, source)

    def may_be(self, result: SSAValue, source: SSAValue) -> bool:
        """Whether `result`, an alias of `source`, may become the very same tensor.

        It may not if the graph returns it and the caller has the other already.
        """
        if self.facts.known_equal(_offset(result), _offset(source)) is not True:
            return False
        if result not in self.returned:
            return True
        tensor = tensor_of(source)
        return not is_outside(tensor) and tensor not in self.returned

    def _may_share(self, op: TorchOp, result: SSAValue, source: SSAValue) -> bool:
        """Whether a copy may be dropped, so that its readers read what was copied."""
        memory = self.memory
        copy, copied = memory.storage(result), memory.storage(source)
        if copy.returned and (copied.outside or copied.returned):
            return False
        if memory.interfere(result, source, op):
            return False
        if self._would_clash(result, source):
            return False
        if made_in_written_input(source, memory.is_written_outside) and outlives(
            result, self.graph
        ):
            return False
        moves = self.facts.known_equal(_offset(result), _offset(source)) is not True
        return not (moves and (copy.returned or copy.absolute or copy.values > 1))

    def _would_clash(self, result: SSAValue, source: SSAValue) -> bool:
        """Whether a functionalized call would read what it may come to write."""
        if not self.analyses.has_one_of(FUNCTIONALIZED):
            return False
        memory = self.memory
        copied = memory.storage(source)

        def in_storage(value: SSAValue) -> bool:
            return memory.storage(value) is copied

        return reads_what_it_writes(result, source, in_storage, self.facts)

    def replace(self, op: TorchOp, source: SSAValue) -> None:
        """Replace the only result of `op` by `source` and erase `op`, as one application."""
        if op.results[0] in self.returned:
            self.returned.add(tensor_of(source))
        self.editor.replace(op, source)


def is_outside(value: SSAValue) -> bool:
    """Whether a value comes from outside: an input, a parameter or a constant."""
    owner = value.owner
    return isinstance(owner, Block) or type(owner) is GetAttrOp


def tensor_of(value: SSAValue) -> SSAValue:
    """The value that is the same tensor object: an in-place op returns its argument itself."""
    while isinstance(value, OpResult):
        op = value.op
        assert isinstance(op, TorchOp)
        fact = result_aliases(op)[value.index]
        if fact is None or not fact[1] or never_writes(type(op)) or not effects_of(op).writes:
            return value
        value = op._operands[fact[0]]
    return value


def _offset(value: SSAValue) -> Dim:
    type_ = value._type
    assert type(type_) is TensorType
    return type_.data.offset


def _is_view_of(op: TorchOp, source: SSAValue) -> bool:
    """Whether the only result is certain to share the storage of `source`."""
    fact = result_aliases(op)[0]
    return fact is not None and fact[1] and op._operands[fact[0]] is source
