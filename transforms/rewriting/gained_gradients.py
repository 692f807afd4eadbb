"""Before autograd: values that gain a gradient by a write, which their types show from the start.

A type before autograd is read from a tensor that has been through the whole program. What a later
write did to `requires_grad` is in it, so the types of two values may agree where the values do not
at the place at which one would stand for the other.
"""

from __future__ import annotations

from xdsl.ir import OpResult, SSAValue

from xductor.ir import NotInferred, TensorType, TorchOp
from xductor.ir.inference.ambient_modes import UnknownMode
from xductor.ir.inference.infer import NotApplicable, aliases_above, infer_types, storage_root
from xductor.transforms.rewriting.graph_state import GraphState
from xductor.transforms.rewriting.modes import modes_at


def gains_gradient(value: SSAValue, state: GraphState) -> bool:
    """Whether a value of the graph, or one that it is a view of, may have been made without the
    gradient that its type shows, and gain it by a write.
    """
    root = storage_root(value)
    if not state.is_written(root) and root not in map(storage_root, state.written_around):
        return False
    made = [one for one in aliases_above(value) if isinstance(one, OpResult)]
    return any(_type_is_of_later(one, state) for one in made if one.op.parent is not None)


def _type_is_of_later(value: OpResult, state: GraphState) -> bool:
    if type(value.type) is not TensorType or not isinstance(value.op, TorchOp):
        return False
    try:
        with modes_at(value.op, state):
            then = infer_types(value.op, state.env)[value.index]
    except (NotApplicable, NotInferred, UnknownMode):
        return _has_gradient(value.type)
    return _has_gradient(then) != _has_gradient(value.type)


def _has_gradient(type_: object) -> bool:
    return type(type_) is TensorType and "requires_grad" in type_.data.flags


__all__ = ["gains_gradient"]
