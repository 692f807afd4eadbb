"""Puts in memory what several results of a graph are views of.

Inductor makes each result a tensor of the strides that it must have. Of a view of what is not in
memory it makes a copy with these strides, if the loop that computes the base would lay it out
otherwise: `y = x.t() * 2; return y.t(), y[::2]` returns two tensors that share no memory.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from xductor.backend.fx.views_and_writes import viewed

if TYPE_CHECKING:
    from torch.fx import Graph, Node


def keep_results_shared(graph: Graph) -> int:
    """Give memory, with its strides, to what several results are views of.

    Nothing is done for what is contiguous, which Inductor lays out so, nor where symbolic strides
    leave gaps. Returns how many tensors got memory.
    """
    results = graph.output_node().args[0]
    if not isinstance(results, list | tuple):
        return 0
    given = dict.fromkeys(one for one in results if isinstance(one, torch.fx.Node))
    if all(viewed(one) is None for one in given):
        return 0
    bases = Counter(map(_base, given))
    shared = [base for base, count in bases.items() if count > 1 and _may_be_laid_out_anew(base)]
    return sum(_put_in_memory(graph, base) for base in shared)


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
    shape, stride = _exact(value.shape), _exact(value.stride())
    return 0 not in shape and _outwards(shape, stride) != [*reversed(range(len(shape)))]


def _exact(numbers: Iterable[Any]) -> tuple[Any, ...]:
    """Sizes or strides as they can be compared without a guard."""
    return tuple(one.node.expr if isinstance(one, torch.SymInt) else one for one in numbers)


def _put_in_memory(graph: Graph, base: Node) -> bool:
    """Give a tensor memory; False if its strides cannot be computed."""
    from torch._inductor import inductor_prims

    value: Any = base.meta["val"]
    readers = list(base.users)
    with graph.inserting_before(base.next):
        strides: Sequence[Any] | None = value.stride()
        if any(isinstance(one, torch.SymInt) for one in value.stride()):
            strides = _computed_strides(graph, base)
        if strides is None:
            return False
        forced = graph.call_function(inductor_prims.force_stride_order, (base, list(strides)))
    forced.meta.update(base.meta)
    for reader in readers:
        reader.replace_input_with(base, forced)
    return True


def _computed_strides(graph: Graph, base: Node) -> list[Any] | None:
    """Nodes that compute the strides of a tensor without gaps from its sizes; numbers where known.

    None if it has gaps, or may have some.
    """
    value: Any = base.meta["val"]
    order = _outwards(_exact(value.shape), _exact(value.stride()))
    if order is None:
        return None
    strides: dict[int, Any] = {}
    running: Any = 1
    for dim, outer in zip(order, [*order[1:], None], strict=True):
        strides[dim] = running
        if outer is not None:
            running = _product(graph, running, _size(graph, base, dim), value.stride(outer))
    return [strides[dim] for dim in range(value.dim())]


def _outwards(shape: tuple[Any, ...], stride: tuple[Any, ...]) -> list[int] | None:
    """The dimensions of a tensor without gaps, from the innermost one on."""
    left = list(range(len(shape)))
    order: list[int] = []
    running: Any = 1
    while left:
        fitting = [dim for dim in reversed(left) if stride[dim] == running]
        if not fitting:
            return None
        dim = next((dim for dim in fitting if shape[dim] == 1), fitting[0])
        left.remove(dim)
        order.append(dim)
        running *= shape[dim]
    return order


def _size(graph: Graph, base: Node, dim: int) -> Any:
    size = base.meta["val"].shape[dim]
    if not isinstance(size, torch.SymInt):
        return size
    return _valued(graph, torch.ops.aten.sym_size.int, (base, dim), size)


def _product(graph: Graph, one: Any, other: Any, value: Any) -> Any:
    if one == 1:
        return other
    return _valued(graph, operator.mul, (one, other), value)


def _valued(graph: Graph, target: Any, args: tuple[Any, ...], value: Any) -> Any:
    """A call with its value, or the value itself if it is a number."""
    if not isinstance(value, torch.SymInt):
        return value
    node = graph.call_function(target, args)
    node.meta["val"] = value
    return node


__all__ = ["keep_results_shared"]
