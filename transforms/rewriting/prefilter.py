"""Whether rewrites could match anything in an FX graph, found without lowering it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from torch._subclasses.fake_tensor import FakeTensor
from torch.fx import Graph, Node

from xductor.transforms.rewriting.driver import RewriteIndex, on_any_device


def may_match(index: RewriteIndex, graph: Graph) -> bool:
    """Whether a graph holds a root of a rewrite, as its input an op that the rewrite needs, beside
    it the op of another output, and anywhere the other ops of the pattern.

    True promises nothing; False promises that nothing matches.
    """
    anywhere = on_any_device()
    for root in index.lookups:
        below, beside = root.below, root.beside
        if below is not None and not below.are_in(graph):
            continue
        if not root.has_what_it_needs(graph):
            continue
        devices = () if anywhere else root.devices
        for node in graph.find_nodes(op=root.op, target=root.target, sort=False):
            if devices and not _is_on(node, devices):
                continue
            if below is not None and not below.makes_input_of(node):
                continue
            if beside is None or beside.read_input_of(node):
                return True
    return False


def _is_on(node: Node, devices: Collection[str]) -> bool:
    """Whether a node's value is on a device of one of these types, as far as can be told."""
    value: Any = node.meta.get("val")
    # A fake tensor's `device` does more than is needed here, at each node of a stage.
    device = value.fake_device if type(value) is FakeTensor else getattr(value, "device", None)
    return device is None or device.type in devices


__all__ = ["may_match"]
