"""Inputs that a forward writes to, and that the backward reads.

A backward recomputes some of its values, from an input if that is small. AOTAutograd gives it the
tensor itself, though the forward may write to it at its end: the gradients are then silently those
of what was written; or, if the input requires a gradient, the backward raises. Eager saves what its
ops save, which need not include the input. So the forward returns a copy of what the input held.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

from xductor.backend.fx.value_metadata import run_on_recorded
from xductor.backend.fx.views_and_writes import viewed, written_by

if TYPE_CHECKING:
    from torch.fx import GraphModule, Node

aten = torch.ops.aten


def keep_what_inputs_held(forward: GraphModule, backward: GraphModule, outputs: int) -> int:
    """Let a forward save copies of inputs that it writes to; returns how many.

    After its first `outputs` results a forward returns what it saves, under the names that the
    inputs of the backward have. An input that the backward writes to as well must not be copied.
    """
    written = _written_inputs(forward)
    if not written:
        return 0
    theirs = {node.name for node in _written_inputs(backward)}
    output = forward.graph.output_node()
    returned: Any = output.args[0]
    results = list(returned)
    copies: dict[Node, Node] = {}
    for place in range(outputs, len(results)):
        saved = results[place]
        if isinstance(saved, torch.fx.Node) and saved.name not in theirs:
            results[place] = _kept(saved, written, copies)
    if copies:
        output.args = (tuple(results),)
        forward.recompile()
    return len(copies)


def _kept(saved: Node, written: set[Node], copies: dict[Node, Node]) -> Node:
    """What stands for a saved tensor: the same view of a copy if its input is written."""
    chain = [saved]
    while (base := viewed(chain[-1])) is not None:
        chain.append(base)
    if chain[-1] not in written or any(written_by(node) for node in chain):
        return saved
    for node in reversed(chain):
        if node not in copies:
            graph = node.graph
            with graph.inserting_after(node):
                copies[node] = (
                    graph.call_function(aten.clone.default, (node,))
                    if node.op == "placeholder"
                    else graph.node_copy(node, lambda one: copies.get(one, one))
                )
            _record(copies[node], node)
    return copies[saved]


def _record(copy: Node, node: Node) -> None:
    """Record what the partitioner and Inductor read of a node: a value with its own storage."""
    copy.meta = {name: one for name, one in node.meta.items() if name != "desc"}
    value = node.meta.get("val")
    if isinstance(value, FakeTensor):
        copy.meta["val"] = run_on_recorded(copy, "val", value.fake_mode)


def _written_inputs(gm: GraphModule) -> set[Node]:
    """The inputs whose elements a graph writes, or for which it returns what others will write."""
    inputs = gm.graph.find_nodes(op="placeholder")
    found = {one for node in gm.graph.nodes for one in written_by(node) if one.op == "placeholder"}
    mutated = [
        one.mutated_input
        for one in gm.graph.output_node().meta.get("desc", ())
        if isinstance(one, _mutations())
    ]
    return found | {one for one in inputs if one.meta.get("desc") in mutated}


@functools.cache
def _mutations() -> type:
    from torch._functorch._aot_autograd.descriptors import InputMutationAOTOutput

    return InputMutationAOTOutput


__all__ = ["keep_what_inputs_held"]
