"""Who would notice if the strides of a value changed."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch._ops import OpOverload
from xdsl.ir import SSAValue

from xductor.ir import NotInferred, OutputOp, SchemaOp, TensorType, TorchOp, infer_call
from xductor.ir.inference.infer import NotApplicable
from xductor.transforms.analysis.memory import reads_storage
from xductor.transforms.analysis.op_effects import effects_of
from xductor.transforms.rewriting.graph_state import GraphState


def check_users(value: SSAValue, new_type: TensorType, state: GraphState) -> str | None:
    """Why a value may not get the strides of `new_type`, or None if nobody can tell.

    A user can tell if it is the graph's output, if it writes to the value or reads its storage, if
    its operator asks for exact strides, and if its results would be laid out differently.
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
        if list(found.types) != [result.type for result in user.results]:
            return f"and the result of {user.name} would be laid out differently"
    return None


def needs_exact_strides(op: TorchOp) -> bool:
    """Whether an op's meaning depends on how its operands are laid out."""
    effects = effects_of(op)
    if effects.unknown or effects.writes or reads_storage(op):
        return True
    return isinstance(op, SchemaOp) and _is_tagged(op.target)


@cache
def _is_tagged(overload: OpOverload) -> bool:
    tags: Any = overload.tags
    names = ("needs_exact_strides", "needs_fixed_stride_order")
    return any(getattr(torch.Tag, name, None) in tags for name in names)


__all__ = ["check_users", "needs_exact_strides"]
