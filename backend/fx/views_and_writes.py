"""What a node of a graph after autograd is a view of, and what it writes to, by its schema."""

from __future__ import annotations

import operator
from functools import cache
from typing import Any

import torch
from torch.fx import Node

from xductor.ir.effects.aliases import schema_aliases
from xductor.ir.effects.operator_effects import overload_effects

#: These write to a tensor, not to its elements.
_OTHER_WRITES = ("aten::set_", "aten::resize_")
#: What ops of other libraries accept is known only to their authors.
_OWN_LIBRARIES = ("aten", "prims")


def viewed(node: Node) -> Node | None:
    """The tensor that the result of a call shares memory with, if it may."""
    target: Any = node.target
    if target is operator.getitem:
        producer = node.args[0]
        return producer if isinstance(producer, torch.fx.Node) and viewed(producer) else None
    if not isinstance(target, torch._ops.OpOverload):
        return None
    owners = {fact.argument for fact in schema_aliases(target) if fact is not None}
    for position, argument in enumerate(target._schema.arguments):
        if argument.name in owners:
            given = node.args[position : position + 1] or (node.kwargs.get(argument.name),)
            return given[0] if isinstance(given[0], torch.fx.Node) else None
    return None


def written_slots(node: Node) -> frozenset[Any]:
    """The positions and names of the arguments that a call writes to."""
    target: Any = node.target
    if not isinstance(target, torch._ops.OpOverload) or target.namespace not in _OWN_LIBRARIES:
        return frozenset()
    return _slots(target)


@cache
def _slots(target: torch._ops.OpOverload) -> frozenset[Any]:
    """Those of an operator of PyTorch's own, whose schema stays as it is."""
    if target._schema.name in _OTHER_WRITES:
        return frozenset()
    writes = overload_effects(target).writes
    names = [argument.name for argument in target._schema.arguments]
    return frozenset(key for slot in enumerate(names) if slot[1] in writes for key in slot)


def written_by(node: Node) -> list[Node]:
    """The tensors that a call writes to."""
    slots = written_slots(node)
    if not slots:
        return []
    given = [node.args[slot] for slot in slots if isinstance(slot, int) and slot < len(node.args)]
    given += [node.kwargs[slot] for slot in slots if slot in node.kwargs]
    flat = [one for arg in given for one in (arg if isinstance(arg, list | tuple) else (arg,))]
    return [one for one in flat if isinstance(one, torch.fx.Node)]


__all__ = ["viewed", "written_by", "written_slots"]
