"""`decompose_map_to_while_loop`: a map over rows becomes a loop."""

from __future__ import annotations

from dataclasses import dataclass

from xductor.transforms.loops.row_loops_pass import RowLoopsPass


@dataclass(frozen=True)
class DecomposeMapToWhileLoop(RowLoopsPass):
    """A `map` becomes a `while_loop` that writes the results of each step to buffers."""

    name = "decompose_map_to_while_loop"
    inductor = "post_grad.py:decompose_map_to_while_loop"
    roots = frozenset(("higher_order.map_impl",))
    carries = False


__all__ = ["DecomposeMapToWhileLoop"]
