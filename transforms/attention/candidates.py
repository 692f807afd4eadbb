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
#: Calls that bound scores, for which no kernel has a place.
_BOUNDS = frozenset(("tanh",))
_DROPOUTS = (torch.nn.functional.dropout, torch.dropout)


def may_have_attention(graph: Graph, roots: Iterable[Node]) -> bool:
    """Whether a graph has a softmax between two matrix products, and nothing between it and either
    of them for which no kernel of the device has a place.

    - `roots`: the calls of the graph that may be (the exponentials in) a softmax.
    """
    products = {
        node
        for op, target in _PRODUCTS
        for node in graph.find_nodes(op=op, target=target, sort=False)
    }
    if len(products) < 2:
        return False
    in_vain: set[tuple[Node, bool]] = set()
    apart: set[Node] = set()
    return any(
        _may_be_in_softmax(root)
        and _reaches_a_kernel(root, products, in_vain)
        and _comes_from(root, products, apart)
        for root in roots
    )


def _may_be_in_softmax(root: Node) -> bool:
    """False for an exponential that is not summed up, judging by the name of what reads it."""
    return _name(root) != "exp" or any("sum" in _name(user) for user in root.users)


def _comes_from(root: Node, products: set[Node], apart: set[Node]) -> bool:
    """Whether a product is above a root, with nothing between that no kernel has a place for.

    - `apart`: nodes that are known to have none above; if there is none, more are added.
    """
    pending, seen = [root], {root}
    while pending:
        node = pending.pop()
        above = [*filter(_writes, node.users), *reversed(node.all_input_nodes)]
        if not products.isdisjoint(above):
            return True
        for one in above:  # what a call reads first comes off the stack first
            if one not in seen and one not in apart and _name(one) not in _BOUNDS:
                seen.add(one)
                pending.append(one)
    apart |= seen
    return False


def _reaches_a_kernel(root: Node, products: set[Node], in_vain: set[tuple[Node, bool]]) -> bool:
    """Whether the way from a root to the first product may be the end of an attention.

    - `in_vain`: where ways are known to have no such end; if this one has none, more is added.
    """
    pending = [(root, False)]
    seen = set(pending)
    while pending:
        node, drops = pending.pop()
        for user in node.users:
            if user in products and _may_be_taken(user, drops):
                return True
            if user in products:
                continue
            holding = (user, *user.all_input_nodes) if _writes(user) else (user,)
            following = {(one, drops or _drops(user)) for one in holding}
            following -= seen
            following -= in_vain
            seen |= following
            pending += following
    in_vain |= seen
    return False


def _may_be_taken(product: Node, drops: bool) -> bool:
    """Whether a kernel may take an attention with that last product, and with dropout."""
    value = product.meta.get("example_value", product.meta.get("val"))
    if not isinstance(value, torch.Tensor):
        return True
    return refusal_of_all(value.device, value.dtype, 0.5 if drops else 0.0) is None


def _writes(node: Node) -> bool:
    """Whether a call may write its result to an operand, judging by its name."""
    name = _name(node)
    return name in _OPERATORS_IN_PLACE or (name.endswith("_") and not name.endswith("__"))


def _name(node: Node) -> str:
    """The name of the method, function or operator that a node calls."""
    if isinstance(node.target, str):
        return node.target
    return getattr(node.target, "__name__", "").partition(".")[0]


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
