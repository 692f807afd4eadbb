"""Whether rewrites could match anything in an FX graph, told without lowering it."""

from __future__ import annotations

from functools import cache
from typing import Any

from torch.fx import Graph, Node

from xductor.ir.registry import op_class_by_name
from xductor.transforms.rewriting.driver import RewriteIndex, on_any_device


def may_match(index: RewriteIndex, graph: Graph) -> bool:
    """Whether a graph holds a root of a rewrite, and below it an op that the rewrite asks for.

    True promises nothing; False promises that nothing matches.
    """
    for root in sorted(index.roots):
        op, target = _node_key(root)
        devices = frozenset[str]() if on_any_device() else index.devices_of(root)
        for node in graph.find_nodes(op=op, target=target, sort=False):
            if (not devices or _is_on(node, devices)) and _may_root(index, root, node):
                return True
    return False


def _may_root(index: RewriteIndex, root: str, node: Node) -> bool:
    if index.takes_anything_below(root):
        return True
    below = {_key_of(one) for one in node.all_input_nodes}
    # The results of an op with several are picked by getitem.
    below |= {_key_of(inner) for one in node.all_input_nodes for inner in one.all_input_nodes}
    return any(_node_key(name) in below for name in index.asked_below(root))


def _is_on(node: Node, devices: frozenset[str]) -> bool:
    """Whether a node's value is on a device of one of these kinds, as far as can be told."""
    value: Any = node.meta.get("val")
    device = getattr(value, "device", None)
    return device is None or device.type in devices


def _key_of(node: Node) -> tuple[str, Any]:
    return node.op, node.target


@cache
def _node_key(name: str) -> tuple[str, Any]:
    cls = op_class_by_name(name)
    return cls.fx_op, cls.target


__all__ = ["may_match"]
