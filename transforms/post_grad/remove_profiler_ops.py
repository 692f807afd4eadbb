"""`remove_profiler_ops`: removes the ops that `record_function` leaves in a graph."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from xductor.transforms import EXACT, TypedPass, graphs_of
from xductor.transforms.passes.applications import applied
from xductor.transforms.passes.debug_counters import should_apply

_MARKS = frozenset(
    (
        "profiler._record_function_enter.default",
        "profiler._record_function_enter_new.default",
        "profiler._record_function_exit.default",
        "profiler._record_function_exit._RecordFunction",
    )
)


@dataclass(frozen=True)
class RemoveProfilerOps(TypedPass):
    """Erase the begin and end of profiler ranges, so that they do not prevent fusion.

    A range stays if something else uses its handle.
    """

    name = "remove_profiler_ops"
    stage = "post_grad"
    inductor = "post_grad.py:_remove_profiler_ops"
    numerics = EXACT
    roots = _MARKS

    def rewrite(self, module: ModuleOp) -> int:
        removed = 0
        for graph in graphs_of(module):
            for op in reversed(graph.block.ops):
                if (
                    op.name in _MARKS
                    and all(result.first_use is None for result in op.results)
                    and should_apply(self.name)
                ):
                    applied(op)
                    graph.block.erase_op(op)
                    removed += 1
        return removed
