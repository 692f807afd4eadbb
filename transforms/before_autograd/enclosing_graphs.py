"""The graphs around one whose pre-grad stage is running, and what they do with shared tensors.

Inductor first runs the stage over the bodies of higher-order ops, each by itself and without
saying where it stands. What a body may become depends on that: the graph that calls it may write
to the body's inputs or outputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise
from typing import Any, NamedTuple

import torch
from torch.fx import GraphModule, Node

from xductor.transforms.before_autograd.torch_level_writes import written_arguments

_entered: ContextVar[tuple[GraphModule, ...]] = ContextVar("xductor_entered_graphs", default=())


@contextmanager
def entering(gm: GraphModule) -> Iterator[None]:
    """Record inside the block that the stage runs over `gm` and the bodies in it."""
    token = _entered.set((*_entered.get(), gm))
    try:
        yield
    finally:
        _entered.reset(token)


def entered_graphs() -> tuple[GraphModule, ...]:
    """The graph whose stage is running, and those that contain it, outermost first.

    Empty if nothing records the stage.
    """
    return _entered.get()


class WrittenAround(NamedTuple):
    """The numbers of a body's inputs and outputs that are written after it ran."""

    inputs: frozenset[int] = frozenset()
    outputs: frozenset[int] = frozenset()


_NOTHING = WrittenAround()


def written_around() -> WrittenAround:
    """What the graphs around the one whose stage is running write later, or may write."""
    around = _NOTHING
    graphs = entered_graphs()
    for parent, body in pairwise(graphs):
        around = _in_body(parent, body, around)
    return around


def _in_body(parent: GraphModule, body: GraphModule, around: WrittenAround) -> WrittenAround:
    """What `parent` writes of a body that it calls; `around` is what is written of `parent`."""
    inputs: set[int] = set()
    outputs: set[int] = set()
    nodes = list(parent.graph.nodes)
    for place, call in enumerate(nodes):
        names = [arg for arg in call.all_input_nodes if arg.op == "get_attr"]
        if all(getattr(parent, str(name.target), None) is not body for name in names):
            continue
        written = _written(nodes[place + 1 :], parent) | _of_parent(parent, around)
        given = [arg for arg in call.args if arg not in names]
        inputs |= {number for number, arg in enumerate(given) if _storages(arg) & written}
        made = call.meta.get("example_value")
        results = made if isinstance(made, tuple | list) else (made,)
        outputs |= {number for number, one in enumerate(results) if _storages_of(one) & written}
    return WrittenAround(frozenset(inputs), frozenset(outputs))


def _of_parent(parent: GraphModule, around: WrittenAround) -> set[int]:
    """The storages of the inputs and outputs of a graph that are written around it."""
    found: set[int] = set()
    for number, node in enumerate(parent.graph.find_nodes(op="placeholder")):
        if number in around.inputs:
            found |= _storages(node)
    (output,) = parent.graph.find_nodes(op="output")
    returned = output.args[0]
    for number, arg in enumerate(returned if isinstance(returned, tuple | list) else (returned,)):
        if number in around.outputs:
            found |= _storages(arg)
    return found


def _written(nodes: list[Node], gm: GraphModule) -> set[int]:
    """The storages that some calls of a graph write to, or may write to."""
    found: set[int] = set()
    for node in nodes:
        for arg in written_arguments(node, gm):
            found |= _storages(arg)
    return found


def _storages(arg: Any) -> set[int]:
    """The storage of the tensor that a node had when the graph was captured, if it had one."""
    if not isinstance(arg, Node):
        return set()
    return _storages_of(arg.meta.get("example_value", arg.meta.get("val")))


def _storages_of(value: Any) -> set[int]:
    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return set()
    return {value.untyped_storage()._cdata}


__all__ = [
    "WrittenAround",
    "entered_graphs",
    "entering",
    "written_around",
]
