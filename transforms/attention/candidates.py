"""Whether an FX graph may have attention that a kernel can take, told without lowering it."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import torch
from torch.fx import Graph, Node

from xductor.transforms.attention.kernels import refusal_of_all

_PRODUCT_NAMES = ("matmul", "bmm", "mm", "baddbmm")
_PRODUCT_METHODS = (*_PRODUCT_NAMES, "__matmul__", "__rmatmul__")
_PRODUCT_FUNCTIONS: tuple[Any, ...] = tuple(
    dict.fromkeys(
        (
            operator.matmul,
            torch.einsum,
            torch.functional.einsum,
            torch.ops.aten.einsum.default,
            *(getattr(torch, name) for name in _PRODUCT_NAMES),
            *(getattr(torch.Tensor, name) for name in _PRODUCT_METHODS),
            *(getattr(torch.ops.aten, name).default for name in _PRODUCT_NAMES),
        )
    )
)
_PRODUCTS = (
    *(("call_function", one) for one in _PRODUCT_FUNCTIONS),
    *(("call_method", one) for one in _PRODUCT_METHODS),
)
_OPERATORS_IN_PLACE = frozenset(("iadd", "isub", "imul", "itruediv"))
_DROPOUTS = (torch.nn.functional.dropout, torch.dropout)


def may_have_attention(graph: Graph, roots: Iterable[Node]) -> bool:
    """Whether a graph has two matrix products, and between one of `roots` and a product of those
    nothing for which no kernel of the device has a place.

    - `roots`: the calls of the graph that may be (the exponentials in) a softmax.
    """
    products = {
        node
        for op, target in _PRODUCTS
        for node in graph.find_nodes(op=op, target=target, sort=False)
    }
    return len(products) > 1 and _reaches_a_kernel(roots, products)


def _reaches_a_kernel(roots: Iterable[Node], products: set[Node]) -> bool:
    """Whether the way from a root to the first product may be the end of an attention."""
    pending: list[tuple[Node, bool]] = [(root, False) for root in roots]
    seen = set(pending)
    while pending:
        node, drops = pending.pop()
        for user in node.users:
            if user in products and _may_be_taken(user, drops):
                return True
            if user in products:
                continue
            holding = (user, *user.all_input_nodes) if _writes(user) else (user,)
            following = {(one, drops or _drops(user)) for one in holding} - seen
            seen |= following
            pending += following
    return False


def _may_be_taken(product: Node, drops: bool) -> bool:
    """Whether a kernel may take an attention with that last product, and with dropout."""
    value = product.meta.get("example_value", product.meta.get("val"))
    if not isinstance(value, torch.Tensor):
        return True
    return refusal_of_all(value.device, value.dtype, 0.5 if drops else 0.0) is None


def _writes(node: Node) -> bool:
    """Whether a call may write its result to an operand, judging by its name."""
    name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")
    return name in _OPERATORS_IN_PLACE or (name.endswith("_") and not name.endswith("__"))


def _drops(node: Node) -> bool:
    """Whether a call is certain to be a dropout that drops something."""
    if node.op != "call_function" or node.target not in _DROPOUTS:
        return False
    p, train = [
        node.args[place] if len(node.args) > place else node.kwargs.get(name)
        for place, name in ((1, "p"), (2, "train" if node.target is torch.dropout else "training"))
    ]
    return isinstance(p, int | float) and p > 0 and train is True


__all__ = ["may_have_attention"]
