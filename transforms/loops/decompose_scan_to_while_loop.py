"""`decompose_scan_to_while_loop`: a scan over rows becomes a loop."""

from __future__ import annotations

from dataclasses import dataclass

from xductor.transforms.loops.row_loops_pass import RowLoopsPass


@dataclass(frozen=True)
class DecomposeScanToWhileLoop(RowLoopsPass):
    """A `scan` becomes a `while_loop` that writes the results of each step to buffers."""

    name = "decompose_scan_to_while_loop"
    inductor = "post_grad.py:decompose_scan_to_while_loop"
    roots = frozenset(("higher_order.scan",))
    carries = True


__all__ = ["DecomposeScanToWhileLoop"]
