"""Whether anybody sees how a kernel lays out the result of a fused call.

A kernel gives `[batch, heads, rows, size]` in the layout it likes: heads before rows, or rows
before heads, as its query came. The graph says nothing of it, so all of these must do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.ir import SSAValue

from xductor.ir import NotInferred, OutputOp, SchemaOp, TensorType, TorchOp, infer_call
from xductor.ir.dialect.types import contiguous_strides
from xductor.ir.inference.infer import Inferred, NotApplicable
from xductor.transforms.analysis.op_effects import effects_of
from xductor.transforms.attention.reading import name_of
from xductor.transforms.editing.replacement import known_equal
from xductor.transforms.rewriting.contracts import Violation
from xductor.transforms.rewriting.graph_state import GraphState
from xductor.transforms.rewriting.layouts import needs_exact_strides

#: How many ops the layout is followed through.
_LIMIT = 24


def layout_is_seen(
    old: SSAValue, call: SSAValue, made: list[TorchOp], new: SSAValue, state: GraphState
) -> bool:
    """Whether a layout of `call`'s result would show behind `new`, which is to stand for `old`.

    `made` are the ops that make `new`. Raises Violation: they differ in more than strides.
    """
    for layout in _layouts(call.type):
        types: dict[SSAValue, Any] = {call: layout}
        for op in made[made.index(call.owner) + 1 :]:  # type: ignore[arg-type]
            found = _results(op, types, state)
            if found is None:
                return True
            types.update(zip(op.results, found.types, strict=True))
        after = types.get(new, new.type)
        _check_same(old.type, after, state)
        walk = _Walk(state)
        if walk.shows(old, after) or walk.shares():
            return True
    return False


def _layouts(type_: Any) -> list[TensorType]:
    """The layouts that kernels give: by heads, and by rows."""
    batch, heads, rows, size = type_.shape
    by_rows = contiguous_strides((batch, rows, heads, size))
    return [
        type_,
        TensorType(type_.data._replace(stride=(by_rows[0], by_rows[2], by_rows[1], by_rows[3]))),
    ]


def _check_same(before: Any, after: Any, state: GraphState) -> None:
    a, b = before.data, after.data
    for what in ("dtype", "device", "layout", "subclass", "flags"):
        if getattr(a, what) != getattr(b, what):
            raise Violation(f"the result: expected {before}, found {after} ({what} differs)")
    if not known_equal(a.shape, b.shape, state.facts):
        raise Violation(f"the result: expected sizes {list(a.shape)}, found {list(b.shape)}")


class _Walk:
    """Follows what another layout of a value means for its users, and for theirs."""

    def __init__(self, state: GraphState) -> None:
        self.state = state
        self.left = _LIMIT
        # What copied the old layout, and may be a view of the new one.
        self.copies: list[SSAValue] = []

    def shows(self, value: SSAValue, after: Any) -> bool:
        """Whether anybody would notice if a value had the type `after`."""
        if _same_strides(value.type, after, self.state):
            return False
        for user in dict.fromkeys(use.operation for use in value.uses):
            assert isinstance(user, TorchOp)
            self.left -= 1
            if type(user) is OutputOp or self.left < 0 or _must_not_change(user):
                return True
            found = _results(user, {value: after}, self.state)
            if found is None:
                return True
            if name_of(user) in _MAY_COPY:
                self.copies += user.results
            for result, type_ in zip(user.results, found.types, strict=True):
                if type(result.type) is TensorType and self.shows(result, type_):
                    return True
        return False

    def shares(self) -> bool:
        """Whether it would matter that copies are views: one is written, or two are returned."""
        returned = [one for one in self.copies if one in self.state.returned_roots]
        return len(returned) > 1 or not self.state.written_roots.isdisjoint(self.copies)


#: Calls that copy or not, as the layout of their operand has it.
_MAY_COPY = frozenset(("reshape", "reshape_as", "flatten", "ravel", "contiguous", "to"))


def _must_not_change(op: TorchOp) -> bool:
    if isinstance(op, SchemaOp):
        return needs_exact_strides(op)
    effects = effects_of(op)
    return effects.unknown or bool(effects.writes)


def _same_strides(before: Any, after: Any, state: GraphState) -> bool:
    if type(before) is not TensorType or type(after) is not TensorType:
        return before == after
    shape = before.shape
    if any(size == 0 for size in shape):
        return True
    one = tuple(0 if n == 1 else s for n, s in zip(shape, before.stride, strict=True))
    other = tuple(0 if n == 1 else s for n, s in zip(shape, after.stride, strict=True))
    return known_equal(one, other, state.facts)


def _results(op: TorchOp, types: Mapping[SSAValue, Any], state: GraphState) -> Inferred | None:
    """What an op gives if its operands have other types; None if it cannot be."""
    operands = [types.get(operand, operand.type) for operand in op._operands]
    try:
        found, _ = infer_call(type(op), op.args, operands, state.env, op._operands)
    except (NotApplicable, NotInferred):
        return None
    if found.assumed or found.equated or len(found.types) != len(op.results):
        return None
    return found


def lay_out_anew(value: SSAValue, state: GraphState) -> None:
    """Make the users of a value again whose results it lays out in another way than the graph says,
    and theirs in turn.
    """
    pending = list(dict.fromkeys(use.operation for use in value.uses))
    while pending:
        user = pending.pop(0)
        assert isinstance(user, TorchOp)
        found = None if type(user) is OutputOp else _results(user, {}, state)
        if found is None:
            continue
        types = [
            _with_strides(result.type, after, state)
            for result, after in zip(user.results, found.types, strict=True)
        ]
        if types == [result.type for result in user.results]:
            continue
        node = user.node
        made = type(user).make(
            user.args,
            user.operands,
            types,
            node.inherited(node.names, node.node),
            structure=user.structure,
            aliases=found.aliases,
        )
        state.put(made, user)
        for old, new in zip(user.results, made.results, strict=True):
            state.take_over(old, new)
            pending += [use.operation for use in new.uses]
        state.erase(user)


def _with_strides(before: Any, after: Any, state: GraphState) -> Any:
    if type(before) is not TensorType or _same_strides(before, after, state):
        return before
    return TensorType(before.data._replace(stride=after.data.stride))


__all__ = ["lay_out_anew", "layout_is_seen"]
