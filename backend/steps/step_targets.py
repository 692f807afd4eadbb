"""What Inductor's own steps act on: they leave a graph that has none of it as it is.

Everything is read when it is asked for, since tables and registries may change. A step runs if it
cannot be told what it acts on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import torch

from xductor.backend.steps import stock

if TYPE_CHECKING:
    from torch.fx import Graph, GraphModule

    from xductor.backend.stage_runs.stage_run import StageRun

_AUTO_FUNCTIONALIZED = ("auto_functionalized", "auto_functionalized_v2")
_TRITON = ("triton_kernel_wrapper_functional",)


def calls_one_of(graph: Graph, targets: Iterable[object]) -> bool:
    """Whether a graph calls one of `targets`."""
    return any(graph.find_nodes(op="call_function", target=one, sort=False) for one in targets)  # type: ignore[arg-type]


def holds(*names: str, bodies: bool = False) -> Callable[[StageRun], bool]:
    """The condition that a graph calls one of some higher-order operators.

    `bodies`: a call in the graph of another module inside it counts too.
    """

    def condition(run: StageRun) -> bool:
        targets = list(_higher_order(names))
        graphs = _graphs(run.gm) if bodies else (run.gm.graph,)
        return any(calls_one_of(graph, targets) for graph in graphs)

    return condition


def _higher_order(names: Iterable[str]) -> Iterator[object]:
    """Those of the named operators that are registered: no other can have been called."""
    for name in names:
        found = getattr(torch.ops.higher_order, name, None)
        if found is not None:
            yield found


def _graphs(gm: GraphModule) -> Iterator[Graph]:
    for module in gm.modules():
        if isinstance(module, torch.fx.GraphModule):
            yield module.graph


def may_reinplace(run: StageRun) -> bool:
    """Whether `reinplace_inplaceable_ops` finds a call that it could make in-place."""
    registries = [
        stock.lookup(f"reinplace:{name}")
        for name in (
            "inplaceable_ops",
            "inplaceable_foreach_ops",
            "inplaceable_triton_ops",
            "_SCATTER_OP_TO_VIEW",
        )
    ]
    if any(registry is None for registry in registries):
        return True
    functional = _higher_order((*_AUTO_FUNCTIONALIZED, "with_effects"))
    return any(calls_one_of(run.gm.graph, targets) for targets in (*registries, functional))


def may_decompose_auto_functionalized(run: StageRun) -> bool:
    """Whether there is something to decompose, or an unused attribute, which is erased too."""
    return has_unused_attributes(run.gm) or holds(*_AUTO_FUNCTIONALIZED, bodies=True)(run)


def has_unused_attributes(gm: GraphModule) -> bool:
    """Whether a graph reads an attribute that nobody uses."""
    return any(not node.users for node in gm.graph.find_nodes(op="get_attr", sort=False))


#: Whether the step of that name in the post-grad stage could do something to a graph.
fix_dtype_views = holds("auto_functionalized_v2")
decompose_triton = holds(*_TRITON, bodies=True)


__all__ = [
    "calls_one_of",
    "decompose_triton",
    "fix_dtype_views",
    "has_unused_attributes",
    "holds",
    "may_decompose_auto_functionalized",
    "may_reinplace",
]
