"""The rules by which a value may stand for another as far as their storage goes.

All passes are held to them: no output starts or ceases to share storage with an input or another
output, or becomes the very same tensor, not even in generated code (`written_back`). No read comes
to see a write that it did not see, nor one that a functionalized call may become
(`functionalized_calls`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from functools import cached_property
from typing import Any

from xdsl.ir import Block, OpResult, SSAValue

from xductor.ir import GetAttrOp, GraphOp, TensorType, TorchOp, result_aliases
from xductor.ir.dialect.types import Dim
from xductor.ir.inference.infer import aliases_above, storage_root
from xductor.transforms.analysis.analyses import Analyses
from xductor.transforms.analysis.functionalized_calls import FUNCTIONALIZED, reads_what_it_writes
from xductor.transforms.analysis.op_effects import effects_of, never_writes
from xductor.transforms.editing.written_back import made_in_written_input, outlives


class Storages(ABC):
    """What the rules ask about the storages of a graph; it is computed when it is first asked for.

    Subclasses keep what was computed true while they change the graph.
    """

    graph: GraphOp
    facts: Any  # Facts, found at once or when they are first asked for
    analyses: Analyses

    @cached_property
    def returned_tensors(self) -> set[SSAValue]:
        """The tensors that the graph returns, traced back through ops that return an argument."""
        return {tensor_of(value) for value in self.graph.output.operands}

    @cached_property
    def returned_roots(self) -> set[SSAValue]:
        """The roots of the storages that the graph returns."""
        return {storage_root(value) for value in self.graph.output.operands}

    @cached_property
    def writes(self) -> list[TorchOp]:
        """Ops that may write to an operand."""
        return self.analyses.find_writes()

    @property
    def has_writes(self) -> bool:
        """Whether an op may write to an operand."""
        return bool(self.writes)

    @abstractmethod
    def is_written(self, root: SSAValue) -> bool:
        """Whether an op may write to a storage that has this root."""

    @abstractmethod
    def meets_write(self, old: SSAValue, new: SSAValue, gone: Collection[TorchOp]) -> bool:
        """Whether a write may be seen, or missed, if `new` stood for `old` and `gone` went."""

    @abstractmethod
    def autograd_problem(self, old: SSAValue, new: SSAValue, root: SSAValue) -> str:
        """Why autograd would tell two views of one storage apart; "" if it would not."""


def storage_problem(
    old: SSAValue,
    new: SSAValue,
    before: SSAValue,
    after: SSAValue,
    gone: Collection[TorchOp],
    state: Storages,
) -> str:
    """Why `new` may not stand for `old`, a tensor of the same content; "" if it may.

    - `before`, `after`: the roots of their storages.
    - `gone`: the ops that go.
    """
    if before is after:
        return _in_one_storage(old, new, before, gone, state)
    returned = before in state.returned_roots
    if returned and (is_outside(after) or after in state.returned_roots):
        return "an output would come to share storage with an input or another output"
    if returned and is_outside(before):
        return "an output would no longer share storage with an input"
    if _meets_functionalized(old, new, after, state):
        return "a call would read what it may come to write"
    if returned and before is not old and _parts_outputs(old, before, state):
        return "two outputs would no longer share storage"
    if not state.has_writes:
        return ""
    if state.meets_write(old, new, gone):
        return "its storage is written to"
    return _made_in_input(old, new, state, or_copied=False)


def _in_one_storage(
    old: SSAValue, new: SSAValue, root: SSAValue, gone: Collection[TorchOp], state: Storages
) -> str:
    if not _surely_share(old, new):
        if root in state.returned_roots or state.meets_write(old, new, gone):
            return "it may have storage of its own, which its replacement may not"
        if state.has_writes and (problem := _made_in_input(old, new, state, or_copied=True)):
            return problem
    if state.facts.known_equal(_offset(old), _offset(new)) is not True:
        return "it would begin elsewhere in its storage"
    if problem := state.autograd_problem(old, new, root):
        return problem
    returned = state.returned_tensors
    if old in returned:
        tensor = tensor_of(new)
        if is_outside(tensor) or tensor in returned:
            return "an output would become the very tensor that an input or another output is"
    return ""


def _surely_share(one: SSAValue, other: SSAValue) -> bool:
    """Whether two values with one storage root are certain to share: neither may be a copy."""
    above = list(aliases_above(other))
    for value in aliases_above(one):
        if value in above:
            return all(map(is_certain_view, above[: above.index(value)]))
        if not is_certain_view(value):
            return False
    return False


def is_certain_view(value: SSAValue) -> bool:
    """Whether a value is certain to be a view of what it is made from."""
    assert isinstance(value, OpResult)
    assert isinstance(value.op, TorchOp)
    fact = result_aliases(value.op)[value.index]
    return fact is not None and fact[1]


def _meets_functionalized(old: SSAValue, new: SSAValue, after: SSAValue, state: Storages) -> bool:
    """Whether a functionalized call would read what it may come to write."""
    if not state.analyses.has_one_of(FUNCTIONALIZED):
        return False
    return reads_what_it_writes(old, new, lambda one: storage_root(one) is after, state.facts)


def _parts_outputs(old: SSAValue, root: SSAValue, state: Storages) -> bool:
    """Whether some outputs with this storage root come through `old` and others do not."""
    ways: set[bool] = set()
    for value in state.graph.output.operands:
        if storage_root(value) is root:
            ways.add(old in aliases_above(value))
    return len(ways) > 1


def _made_in_input(old: SSAValue, new: SSAValue, state: Storages, *, or_copied: bool) -> str:
    """Why the new value may not outlive the graph: generated code may make it in an input.

    - `or_copied`: the old value may be a copy, though its storage has the same root.
    """

    def is_written(root: SSAValue) -> bool:
        return is_outside(root) and state.is_written(root)

    if not made_in_written_input(new, is_written):
        return ""
    if not or_copied and made_in_written_input(old, is_written):
        return ""
    if not outlives(old, state.graph):
        return ""
    return "an output may come to be made in an input that is written to"


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


__all__ = ["Storages", "is_certain_view", "is_outside", "storage_problem", "tensor_of"]
