"""Values for the nodes of graphs that record none, or not for all."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import torch
from torch._guards import detect_fake_mode
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import GraphModule, Node
from torch.fx.passes.fake_tensor_prop import FakeTensorProp
from torch.utils._pytree import tree_leaves


def lacks_values(gm: GraphModule) -> bool:
    """Whether a placeholder records no value, as after `torch.export` or `symbolic_trace`."""
    nodes = gm.graph.find_nodes(op="placeholder")
    return any("val" not in node.meta and "example_value" not in node.meta for node in nodes)


def lost_gradients(gm: GraphModule) -> bool:
    """Whether inputs or parameters require gradients and no value that is recorded of a call does.

    `torch.export` records detached values, under "val". What Dynamo records, as "example_value", is
    as its calls give it: those of a backward need no gradients.
    """
    if any("example_value" in node.meta for node in gm.graph.find_nodes(op="placeholder")):
        return False
    asked = any(
        _requires_grad(_recorded(node))
        or (node.op == "get_attr" and _requires_grad(operator.attrgetter(node.target)(gm)))
        for node in gm.graph.nodes
        if node.op in ("placeholder", "get_attr")
    )
    return asked and not any(
        _requires_grad(_recorded(node))
        for node in gm.graph.nodes
        if node.op not in ("placeholder", "get_attr", "output")
    )


def recorded_inputs(gm: GraphModule) -> list[Any]:
    """The values that the placeholders record, in order."""
    return [_recorded(node) for node in gm.graph.find_nodes(op="placeholder")]


def _recorded(node: Node) -> Any:
    return node.meta.get("val", node.meta.get("example_value"))


def _requires_grad(value: Any) -> bool:
    return any(isinstance(one, torch.Tensor) and one.requires_grad for one in tree_leaves(value))


def propagate_values(gm: GraphModule, example_inputs: Sequence[Any]) -> None:
    """Give every node the fake value that it has for some inputs, in place of what it records."""
    mode = detect_fake_mode(example_inputs) or FakeTensorMode(allow_non_fake_inputs=True)
    inputs = [
        mode.from_tensor(one, static_shapes=True) if type(one) is torch.Tensor else one
        for one in example_inputs
    ]
    for node in gm.graph.nodes:
        node.meta.pop("example_value", None)
    with torch.set_grad_enabled(torch.is_grad_enabled()):  # a graph may leave another mode
        _WithGradients(gm, mode).propagate_dont_convert_inputs(*inputs)
    for node in gm.graph.nodes:
        if "val" in node.meta:
            node.meta["example_value"] = node.meta.pop("val")


class _WithGradients(FakeTensorProp):
    """Records values that say whether they require a gradient, which detached ones do not."""

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        recorded = tree_leaves(n.meta.get("val"))
        for one, value in zip(recorded, tree_leaves(result), strict=False):
            if isinstance(one, torch.Tensor) and value.requires_grad:
                one.requires_grad_()
        return result


__all__ = ["lacks_values", "lost_gradients", "propagate_values", "recorded_inputs"]
