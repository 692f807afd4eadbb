"""Decides whether the layout of a fused call's result is observable.

A kernel returns `[batch, heads, rows, size]` in a layout of its choice: with heads before rows, or
with rows before heads, like its query. The graph does not determine which, so all of these must be
acceptable.
"""

from __future__ import annotations

from typing import Any

from xdsl.ir import SSAValue

from xductor.ir import OutputOp, SchemaOp, TensorType, TorchOp
from xductor.ir.dialect.types import contiguous_strides
from xductor.transforms.analysis.op_effects import effects_of
from xductor.transforms.attention.reading import name_of
from xductor.transforms.rewriting.graph_state import GraphState
from xductor.transforms.rewriting.layouts import (
    needs_exact_strides,
    results_with,
    same_strides,
)

#: The number of ops through which the layout is followed.
_LIMIT = 24


def layout_is_seen(
    old: SSAValue, call: SSAValue, made: list[TorchOp], new: SSAValue, state: GraphState
) -> bool:
    """Whether the layout of `call`'s result would be observable after `new` replaces `old`.

    `made` are the ops that make `new`.
    """
    for layout in _layouts(call.type):
        types: dict[SSAValue, Any] = {call: layout}
        for op in made[made.index(call.owner) + 1 :]:  # type: ignore[arg-type]
            found = results_with(op, types, state)
            if found is None:
                return True
            types.update(zip(op.results, found.types, strict=True))
        after = types.get(new, new.type)
        walk = _Walk(state)
        if walk.shows(old, after) or walk.shares():
            return True
    return False


def _layouts(type_: Any) -> list[TensorType]:
    """The layouts that kernels return: heads first, and rows first."""
    batch, heads, rows, size = type_.shape
    by_rows = contiguous_strides((batch, rows, heads, size))
    return [
        type_,
        TensorType(type_.data._replace(stride=(by_rows[0], by_rows[2], by_rows[1], by_rows[3]))),
    ]


class _Walk:
    """Follows what another layout of a value changes for its users."""

    def __init__(self, state: GraphState) -> None:
        self.state = state
        self.left = _LIMIT
        # Copies of the old layout that may become views with the new one.
        self.copies: list[SSAValue] = []

    def shows(self, value: SSAValue, after: Any) -> bool:
        """Whether it would be observable if a value had the type `after`."""
        if same_strides(value.type, after, self.state):
            return False
        for user in dict.fromkeys(use.operation for use in value.uses):
            assert isinstance(user, TorchOp)
            self.left -= 1
            if type(user) is OutputOp or self.left < 0 or _must_not_change(user):
                return True
            found = results_with(user, {value: after}, self.state)
            if found is None:
                return True
            if name_of(user) in _MAY_COPY:
                self.copies += user.results
            for result, type_ in zip(user.results, found.types, strict=True):
                if type(result.type) is TensorType and self.shows(result, type_):
                    return True
        return False

    def shares(self) -> bool:
        """Whether copies must not become views: one is written, or two are returned."""
        returned = [one for one in self.copies if one in self.state.returned_roots]
        return len(returned) > 1 or not self.state.written_roots.isdisjoint(self.copies)


#: Calls that copy or not depending on the layout of their operand.
_MAY_COPY = frozenset(("reshape", "reshape_as", "flatten", "ravel", "contiguous", "to"))


def _must_not_change(op: TorchOp) -> bool:
    if isinstance(op, SchemaOp):
        return needs_exact_strides(op)
    effects = effects_of(op)
    return effects.unknown or bool(effects.writes)


__all__ = ["layout_is_seen"]
