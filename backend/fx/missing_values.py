"""Values for the nodes of graphs that record none, or not for all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch._guards import detect_fake_mode
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import GraphModule
from torch.fx.passes.fake_tensor_prop import FakeTensorProp


def lacks_values(gm: GraphModule) -> bool:
    """Whether a placeholder records no value, as after `torch.export` or `symbolic_trace`."""
    nodes = gm.graph.find_nodes(op="placeholder")
    return any("val" not in node.meta and "example_value" not in node.meta for node in nodes)


def propagate_values(gm: GraphModule, example_inputs: Sequence[Any]) -> None:
    """Give every node the fake value that it has for some inputs, in place of what it records."""
    mode = detect_fake_mode(example_inputs) or FakeTensorMode(allow_non_fake_inputs=True)
    inputs = [
        mode.from_tensor(one, static_shapes=True) if type(one) is torch.Tensor else one
        for one in example_inputs
    ]
    for node in gm.graph.nodes:
        node.meta.pop("example_value", None)
    FakeTensorProp(gm, mode).propagate_dont_convert_inputs(*inputs)
    for node in gm.graph.nodes:
        if node.op != "output" and "val" in node.meta:
            node.meta["example_value"] = node.meta.pop("val")


__all__ = ["lacks_values", "propagate_values"]
