"""A quick look at an FX graph: may it hold something to compute at compile time?"""

from __future__ import annotations

from functools import cache

import torch
from torch._ops import OpOverload
from torch.fx import Graph, Node

from xductor.transforms.freezing.foldable import PRODUCTS


def holds_something_to_fold(graph: Graph) -> bool:
    """Whether some constant has no reader, or some op reads only constants."""
    constants = graph.find_nodes(op="get_attr", sort=False)
    if not constants:
        return False
    if any(not node.users for node in constants):
        return True
    # True for a value that is made of constants, False for one that constructors alone make.
    known: dict[Node, bool] = dict.fromkeys(constants, True)
    products = _products()
    for node in graph.nodes:
        if node.op != "call_function" or not isinstance(node.target, OpOverload):
            continue
        inputs = node.all_input_nodes
        if node.target in products and any(
            known.get(one) is False and one.all_input_nodes for one in inputs
        ):
            return True
        if all(one in known for one in inputs):
            known[node] = any(known[one] for one in inputs)
            if known[node]:
                return True
    return False


@cache
def _products() -> frozenset[OpOverload]:
    aten = torch.ops.aten
    return frozenset(getattr(aten, name.split(".")[1]).default for name in PRODUCTS)


__all__ = ["holds_something_to_fold"]
