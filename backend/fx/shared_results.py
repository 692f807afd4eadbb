"""Puts in memory what several results of a graph are views of.

Inductor makes each result a tensor of the strides that it must have. Of a view of what is not in
memory it makes a copy with these strides, if the loop that computes the base would lay it out
otherwise: `y = x.t() * 2; return y.t(), y[::2]` returns two tensors that share no memory.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import torch

from xductor.backend.fx.views_and_writes import viewed
from xductor.ir.dialect.types import contiguous_strides

if TYPE_CHECKING:
    from torch.fx import Graph, Node


def keep_results_shared(graph: Graph) -> int:
    """Give memory, with its strides, to what several results are views of.

    Nothing is done for what is contiguous, which Inductor lays out so, nor for symbolic sizes.
    Returns how many tensors got memory.
    """
    results = graph.output_node().args[0]
    if not isinstance(results, list | tuple):
        return 0
    given = dict.fromkeys(one for one in results if isinstance(one, torch.fx.Node))
    if all(viewed(one) is None for one in given):
        return 0
    bases = Counter(map(_base, given))
    shared = [base for base, count in bases.items() if count > 1 and _may_be_laid_out_anew(base)]
    for base in shared:
        _put_in_memory(graph, base)
    return len(shared)


def _base(node: Node) -> Node:
    while (source := viewed(node)) is not None:
        node = source
    return node


def _may_be_laid_out_anew(base: Node) -> bool:
    value = base.meta.get("val")
    if base.op != "call_function" or not isinstance(value, torch.Tensor):
        return False
    if value.layout is not torch.strided:
        return False
    shape, stride = tuple(value.shape), tuple(value.stride())
    if not all(type(one) is int for one in (*shape, *stride)):
        return False
    return 0 not in shape and stride != contiguous_strides(shape)


def _put_in_memory(graph: Graph, base: Node) -> None:
    value: Any = base.meta["val"]
    force = torch.ops.prims.inductor_force_stride_order.default
    with graph.inserting_after(base):
        forced = graph.call_function(force, (base, list(value.stride())))
    forced.meta.update(base.meta)
    base.replace_all_uses_with(forced, delete_user_cb=lambda user: user is not forced)


__all__ = ["keep_results_shared"]
