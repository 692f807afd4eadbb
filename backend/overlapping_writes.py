"""Makes Inductor's writes in place ones that eager kernels take.

Inductor turns functional ops to ones in place where generated code reads each element before it
writes it: the op may then read what it writes to (`index_put_(x, [i], x)`), or write to a tensor
whose elements share memory (an expanded constant, for which code has a buffer of its own). Eager
kernels refuse both, or give something else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from xductor.ir.aliases import schema_aliases
from xductor.ir.effects import overload_effects

if TYPE_CHECKING:
    from torch.fx import Graph, GraphModule, Node

aten = torch.ops.aten

#: Writes to a tensor, not to its elements.
_OTHER_WRITES = ("aten::set_", "aten::resize_")


def separate_writes(gm: GraphModule) -> None:
    """Copy what an op in place would overlap with, in a graph and the bodies it calls."""
    from torch.fx import GraphModule

    for module in gm.modules():
        if isinstance(module, GraphModule):
            _separate(module.graph)
            module.recompile()


def _separate(graph: Graph) -> None:
    given: set[Node] = set()
    for node in list(graph.nodes):
        for written in _written(node):
            _give_memory(graph, written, given)
    bases: dict[Node, Node] = {}
    for node in list(graph.nodes):
        source = _viewed(node)
        bases[node] = node if source is None else bases.get(source, source)
        into = {bases.get(one, one) for one in _written(node)}
        if into:
            _copy_what_is_read(graph, node, into, bases)


def _copy_what_is_read(graph: Graph, node: Node, into: set[Node], bases: dict[Node, Node]) -> None:
    """Let an op in place read copies of what shares memory with what it writes."""
    from torch.fx.node import map_arg

    slots = _written_slots(node)
    copies: dict[Node, Node] = {}

    def copied(one: Node) -> Node:
        if bases.get(one, one) not in into:
            return one
        if one not in copies:
            with graph.inserting_before(node):
                copies[one] = graph.call_function(aten.clone.default, (one,))
            copies[one].meta.update(one.meta)
        return copies[one]

    node.args = tuple(
        arg if position in slots else map_arg(arg, copied) for position, arg in enumerate(node.args)
    )
    node.kwargs = {
        name: arg if name in slots else map_arg(arg, copied) for name, arg in node.kwargs.items()
    }


def _give_memory(graph: Graph, written: Node, given: set[Node]) -> None:
    """Copy the view by which a written tensor has elements that share memory, for all its users.

    `given` has the copies so far, whose views have values recorded that are expanded still.
    """
    chain = [written]
    while (source := _viewed(chain[-1])) is not None:
        chain.append(source)
    if not given.isdisjoint(chain) or not _overlaps_itself(written):
        return
    shared = next((i for i, one in enumerate(chain) if not _overlaps_itself(one)), len(chain))
    if shared == len(chain):
        return  # an input: eager refuses the write as well
    view = chain[shared - 1]
    with graph.inserting_after(view):
        copy = graph.call_function(
            aten.clone.default, (view,), {"memory_format": torch.contiguous_format}
        )
    copy.meta.update(view.meta)
    view.replace_all_uses_with(copy, delete_user_cb=lambda user: user is not copy)
    given.add(copy)


def _overlaps_itself(node: Node) -> bool:
    """Whether a tensor is expanded, as far as its recorded value tells."""
    value = node.meta.get("val")
    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return False
    sizes = zip(value.shape, value.stride(), strict=True)
    return any(type(step) is int and step == 0 and not _is_one(size) for size, step in sizes)


def _is_one(size: Any) -> bool:
    return type(size) is int and size <= 1


def _viewed(node: Node) -> Node | None:
    """The tensor that the result of a call shares memory with, if it may."""
    target: Any = node.target
    if not isinstance(target, torch._ops.OpOverload):
        return None
    owners = {fact.argument for fact in schema_aliases(target) if fact is not None}
    for position, argument in enumerate(target._schema.arguments):
        if argument.name in owners:
            given = node.args[position : position + 1] or (node.kwargs.get(argument.name),)
            return given[0] if isinstance(given[0], torch.fx.Node) else None
    return None


def _written_slots(node: Node) -> set[Any]:
    """The positions and names of the arguments that a call writes to."""
    target: Any = node.target
    if not isinstance(target, torch._ops.OpOverload) or target._schema.name in _OTHER_WRITES:
        return set()
    writes = overload_effects(target).writes
    if not writes:
        return set()
    names = [argument.name for argument in target._schema.arguments]
    return {key for slot in enumerate(names) if slot[1] in writes for key in slot}


def _written(node: Node) -> list[Node]:
    """The tensors that a call writes to."""
    slots = _written_slots(node)
    if not slots:
        return []
    given = [node.args[slot] for slot in slots if isinstance(slot, int) and slot < len(node.args)]
    given += [node.kwargs[slot] for slot in slots if slot in node.kwargs]
    flat = [one for arg in given for one in (arg if isinstance(arg, list | tuple) else (arg,))]
    return [one for one in flat if isinstance(one, torch.fx.Node)]


__all__ = ["separate_writes"]
