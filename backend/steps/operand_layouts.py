"""Keeps the layouts of what kernels get when bridged steps put other values in its place.

Inductor's patterns replace a value by one with other strides: a cumulative sum of ones becomes an
expanded range. Generated code does not mind, since it lays out again what it hands to a kernel that
it does not write itself. But if a graph is run as FX, such a kernel may have been chosen for the
earlier strides and misread others; and whoever gets an output may look at its strides, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from xductor.backend.stage_runs.stage_run import StageRun
from xductor.ir.effects.aliases import schema_aliases

if TYPE_CHECKING:
    from torch.fx import Graph, Node

aten = torch.ops.aten

_KEPT = "operand_layouts"
_FUNCTIONALIZED = ("auto_functionalized", "auto_functionalized_v2")

Layouts = dict["Node", list[Any]]


def watch(run: StageRun) -> None:
    """Remember the tensors that external kernels, and the caller, get from the graph as it is."""
    run.kept[_KEPT] = layouts(run.gm.graph)


def restore(run: StageRun) -> None:
    """Restore the layout of what they would get in another one; values must be up to date."""
    keep_layouts(run.gm.graph, run.kept.pop(_KEPT, {}))


def layouts(graph: Graph) -> Layouts:
    """The recorded values of what each external kernel, and the output, uses."""
    return {
        node: [used.meta.get("val") for used in node.all_input_nodes]
        for node in graph.nodes
        if node.op == "output" or _takes_what_it_gets(node.target)
    }


def keep_layouts(graph: Graph, before: Layouts) -> int:
    """Restore the order of dims of `before` by copies where strides differ; returns how many."""
    copies: dict[tuple[Any, ...], Node] = {}
    for node in graph.nodes:
        used = node.all_input_nodes if node in before else []
        if len(used) != len(before.get(node, ())):
            continue  # edited, and perhaps meant to use something else
        for operand, value in zip(used, before.get(node, ()), strict=True):
            if _other_strides(operand.meta.get("val"), value):
                key = (operand, *map(str, value.stride()))
                if key not in copies:
                    copies[key] = _laid_out(graph, node, operand, value)
                node.replace_input_with(operand, copies[key])
    return len(copies)


def _laid_out(graph: Graph, node: Node, operand: Node, value: Any) -> Node:
    """A copy of an operand whose dims have the order in memory that those of `value` have."""
    order = _order(value)
    inverse = [order.index(dim) for dim in range(len(order))]
    calls: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
        (aten.permute.default, (order,), {}),
        (aten.clone.default, (), {"memory_format": torch.contiguous_format}),
        (aten.permute.default, (inverse,), {}),
    ]
    copy = operand
    with graph.inserting_before(node):
        for target, args, kwargs in calls if order != sorted(order) else calls[1:2]:
            made = graph.call_function(target, (copy, *args), kwargs)
            made.meta.update(operand.meta)
            fake = copy.meta["val"]
            with fake.fake_mode:
                made.meta["val"] = target(fake, *args, **kwargs)
            copy = made
    return copy


def _order(value: Any) -> list[int]:
    """The dims of a tensor from the slowest to the fastest, as far as size hints tell."""
    steps = [step if type(step) is int else step.node.hint for step in value.stride()]
    dims = list(range(len(steps)))
    return dims if None in steps else sorted(dims, key=lambda dim: -steps[dim])


def _other_strides(now: Any, before: Any) -> bool:
    """Whether two tensors of equal sizes have strides that can be told apart."""
    if not isinstance(now, torch.Tensor) or not isinstance(before, torch.Tensor):
        return False
    if now.layout is not torch.strided or before.layout is not torch.strided:
        return False
    if now.dtype is not before.dtype or not _all_same(now.shape, before.shape):
        return False
    if any(_is(size, 0) for size in now.shape):
        return False
    if any(_is(step, 0) for step in before.stride()):
        return False  # an expanded operand was accepted as it was
    steps = zip(now.shape, now.stride(), before.stride(), strict=True)
    return any(not _is(size, 1) and not _same(a, b) for size, a, b in steps)


def _all_same(left: Any, right: Any) -> bool:
    return len(left) == len(right) and all(map(_same, left, right))


def _same(a: Any, b: Any) -> bool:
    """Whether two sizes are the same number or expression; no guard is added."""
    if type(a) is int or type(b) is int:
        return type(a) is type(b) and a == b
    return a.node.expr == b.node.expr


def _is(size: Any, number: int) -> bool:
    return type(size) is int and size == number


def _takes_what_it_gets(target: Any) -> bool:
    """Whether a call is a kernel for which Inductor has no code, and makes new tensors."""
    if isinstance(target, torch._ops.HigherOrderOperator):
        return target.name() in _FUNCTIONALIZED
    if not isinstance(target, torch._ops.OpOverload) or any(schema_aliases(target)):
        return False
    from torch._inductor.lowering import fallbacks, lowerings

    return target in fallbacks or target not in lowerings


__all__ = ["keep_layouts", "layouts", "restore", "watch"]
