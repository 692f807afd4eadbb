"""Constants behind freezing's own steps: which the module keeps, and what is computed last.

What patterns of Inductor make of constants (packed weights, some of them opaque, and concatenated
ones) is computed by Inductor's folding. What ours left alone before stays alone: outputs, what
kernels refuse, what would take too much memory.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from typing import TYPE_CHECKING, Any

from torch.utils._python_dispatch import _disable_current_modes

from xductor.backend.steps import stock

if TYPE_CHECKING:
    from torch.fx import GraphModule, Node

_FOLDING = "torch._inductor.constant_folding"
_LEFT_ALONE = "xductor_left_alone"


def read_by(gm: GraphModule) -> set[str]:
    """The attributes of a module that its graph reads."""
    return {str(node.target) for node in gm.graph.find_nodes(op="get_attr", sort=False)}


def settle(gm: GraphModule, before: Collection[str]) -> None:
    """Let a module forget constants that are no longer read, and mark new ones as frozen.

    - `before`: the attributes that its graph read before.
    """
    mark = stock.lookup("torch._inductor.freezing_utils:maybe_set_is_frozen_param")
    now = read_by(gm)
    for name in set(before) - now:
        if hasattr(gm, name):
            delattr(gm, name)
    for name in now.difference(before):
        mark(getattr(gm, name))


def leave_alone(gm: GraphModule) -> None:
    """Let `fold` compute nothing that is in the graph by now."""
    gm.meta[_LEFT_ALONE] = {node for node in gm.graph.nodes if node.op == "call_function"}


def fold(gm: GraphModule, stock_fold: Callable[[GraphModule], None]) -> None:
    """Compute what was made of constants since `leave_alone`; all of it, if that was not called."""
    left: set[Node] | None = gm.meta.pop(_LEFT_ALONE, None)
    if left is None:
        stock_fold(gm)
        return
    if not any(_may_fold(node, left) for node in gm.graph.nodes):
        return
    before = read_by(gm)
    replace = stock.lookup(f"{_FOLDING}:replace_node_with_constant")
    with _disable_current_modes():
        folder = _folder()(gm, left)
        folder.run()
        for node, value in folder.node_replacements.items():
            replace(gm, node, value)
        gm.graph.eliminate_dead_code()
        settle(gm, before)
        gm.graph.lint()
        gm.recompile()


def _may_fold(node: Node, left: Collection[Node]) -> bool:
    inputs = node.all_input_nodes
    return (
        node.op == "call_function"
        and node not in left
        and any(one.op == "get_attr" for one in inputs)
        and all(one.op == "get_attr" or not one.all_input_nodes for one in inputs)
    )


@cache
def _folder() -> Any:
    """Inductor's folder, but for some nodes; Inductor is not imported before it is needed."""
    base: Any = stock.lookup(f"{_FOLDING}:ConstantFolder")

    class LateFolder(base):
        def __init__(self, gm: GraphModule, left: Collection[Node]) -> None:
            super().__init__(gm, skip_constructors=True)
            self.left = left

        def run_node(self, node: Node) -> Any:
            return self.unknown_value if node in self.left else super().run_node(node)

    return LateFolder


__all__ = ["fold", "leave_alone", "read_by", "settle"]
