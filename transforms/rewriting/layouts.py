"""Who would notice if the strides or the offset of a value changed, and how users follow it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from heapq import heappop, heappush
from typing import Any

import torch
from torch._ops import OpOverload
from xdsl.ir import SSAValue

from xductor.ir import (
    NotInferred,
    OutputOp,
    SchemaOp,
    TensorType,
    TorchOp,
    aliases_through,
    infer_call,
)
from xductor.ir.functions.torch_calls import aten_call
from xductor.ir.inference.infer import Inferred, NotApplicable
from xductor.transforms.analysis.memory import reads_storage
from xductor.transforms.analysis.op_effects import effects_of
from xductor.transforms.editing.replacement import known_equal
from xductor.transforms.rewriting.graph_state import GraphState


def check_users(value: SSAValue, new_type: TensorType, state: GraphState) -> str | None:
    """Why a value may not get the strides of `new_type`, or None if no user notices.

    A user notices if it is the graph's output, if it writes to the value or reads its storage, if
    its operator asks for exact strides, or if its results would be laid out differently.
    """
    for user in dict.fromkeys(use.operation for use in value.uses):
        assert isinstance(user, TorchOp)
        if type(user) is OutputOp:
            return "and the graph returns it"
        if needs_exact_strides(user):
            return f"and {user.name} needs the strides it has"
        types = [new_type if operand is value else operand.type for operand in user._operands]
        try:
            found, _ = infer_call(type(user), user.args, types, state.env, user._operands)
        except (NotApplicable, NotInferred) as error:
            return f"and {user.name} cannot take them: {error}"
        if state.env.with_grad and (found.assumed or found.equated):  # it is traced once more
            return f"and {user.name} would ask for a guard"
        if list(found.types) != [result.type for result in user.results]:
            return f"and the result of {user.name} would be laid out differently"
    return None


def check_followers(moved: Mapping[SSAValue, TensorType], state: GraphState) -> str | None:
    """Why readers cannot follow values to the strides and offsets of new types; None if they can.

    They follow, as `lay_out_anew` makes them do, down to results that are laid out as they were. A
    reader cannot if it is the graph's output, writes, reads the storage, asks for exact strides, or
    does not take the strides.
    """
    types: dict[SSAValue, Any] = dict(moved)
    pending = sorted({reader for value in moved for reader in _readers(value, state)})
    while pending:
        _, _, user = heappop(pending)
        if type(user) is OutputOp:
            return "and the graph returns what is made of it"
        if needs_exact_strides(user):
            return f"and {user.name} needs the strides it has"
        found = results_with(user, types, state)
        if found is None:
            return f"and {user.name} cannot take them"
        laid_out = _laid_out_as(user, found, state)
        if laid_out is None:
            continue
        for result, after in zip(user.results, laid_out, strict=True):
            if after != types.get(result, result.type):
                types[result] = after
                for reader in _readers(result, state):
                    heappush(pending, reader)
    return None


def _readers(value: SSAValue, state: GraphState) -> set[tuple[Any, int, Any]]:
    """The readers of a value, with their places in the graph."""
    users: Any = {use.operation for use in value.uses}
    return {(state.order.key(user), id(user), user) for user in users}


def needs_exact_strides(op: TorchOp) -> bool:
    """Whether an op's meaning depends on how its operands are laid out."""
    effects = effects_of(op)
    if effects.unknown or effects.writes or reads_storage(op):
        return True
    if isinstance(op, SchemaOp):
        return _is_tagged(op.target)
    call = aten_call(op)
    return call is not None and _is_tagged(call.cls.target)


@cache
def _is_tagged(overload: OpOverload) -> bool:
    tags: Any = overload.tags
    names = ("needs_exact_strides", "needs_fixed_stride_order")
    return any(getattr(torch.Tag, name, None) in tags for name in names)


def check_offset(value: SSAValue, state: GraphState) -> str | None:
    """Why a value may not begin elsewhere in its storage, or None if no user notices.

    The graph's caller notices, and so do ops that read whole storages, of the value or its views.
    """
    pending = [value]
    while pending:
        for use in pending.pop().uses:
            user = use.operation
            assert isinstance(user, TorchOp)
            if type(user) is OutputOp:
                return "and the graph returns it"
            effects = effects_of(user)
            if effects.unknown or effects.writes or reads_storage(user):
                return f"and {user.name} may see that"
            pending += aliases_through(use)
    return None


def same_strides(before: Any, after: Any, state: GraphState) -> bool:
    """Whether the strides of two types reach the same places; dims of size one may have any."""
    if type(before) is not TensorType or type(after) is not TensorType:
        return before == after
    shape = before.shape
    if any(size == 0 for size in shape):
        return True
    one = tuple(0 if n == 1 else s for n, s in zip(shape, before.stride, strict=True))
    other = tuple(0 if n == 1 else s for n, s in zip(shape, after.stride, strict=True))
    return known_equal(one, other, state.facts)


def results_with(op: TorchOp, types: Mapping[SSAValue, Any], state: GraphState) -> Inferred | None:
    """What an op gives if its operands have other types; None if it cannot take them."""
    operands = [types.get(operand, operand.type) for operand in op._operands]
    try:
        found, _ = infer_call(type(op), op.args, operands, state.env, op._operands)
    except (NotApplicable, NotInferred):
        return None
    if found.assumed or found.equated or len(found.types) != len(op.results):
        return None
    return found


def lay_out_anew(
    value: SSAValue, state: GraphState, *, keeps_strides: bool = False
) -> list[TorchOp]:
    """Make the users of a value again if their inferred offsets or strides are no longer those in
    the graph, and their users in turn. Returns the ops that were made.

    - `keeps_strides`: only its offset changed, which its views alone show.
    """
    renewed: list[TorchOp] = []
    users = [use for use in value.uses if not keeps_strides or aliases_through(use)]
    pending = list(dict.fromkeys(use.operation for use in users))
    while pending:
        user = pending.pop(0)
        assert isinstance(user, TorchOp)
        if user.parent is None:  # it reads several values that moved, and was made again before
            continue
        found = None if type(user) is OutputOp else results_with(user, {}, state)
        if found is None:
            continue
        types = _laid_out_as(user, found, state)
        if types is None:
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
        renewed.append(made)
    return renewed


def _laid_out_as(op: TorchOp, found: Inferred, state: GraphState) -> list[Any] | None:
    """The types of an op's results with the strides and offsets that were inferred for it.

    None if these reach the same places. Where one result has others, all are as inferred: the op
    will be made again, and a dim of size one may have got another stride too.
    """
    pairs = [(result.type, after) for result, after in zip(op.results, found.types, strict=True)]
    if not any(_moves(before, after, state) for before, after in pairs):
        return None
    return [
        TensorType(before.data._replace(stride=after.stride, offset=after.offset))
        if type(before) is TensorType and type(after) is TensorType
        else before
        for before, after in pairs
    ]


def _moves(before: Any, after: Any, state: GraphState) -> bool:
    if type(before) is not TensorType or type(after) is not TensorType:
        return False
    if state.facts.known_equal(before.offset, after.offset) is not True:
        return True
    return not same_strides(before, after, state)


__all__ = [
    "check_followers",
    "check_offset",
    "check_users",
    "lay_out_anew",
    "needs_exact_strides",
    "results_with",
    "same_strides",
]
