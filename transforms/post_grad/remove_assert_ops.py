"""`remove_assert_ops`: removes assertions about the metadata of tensors."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from xductor.transforms import EXACT, TypedPass, graphs_of
from xductor.transforms.passes.applications import applied
from xductor.transforms.passes.debug_counters import should_apply

_ASSERTION = "aten._assert_tensor_metadata.default"


@dataclass(frozen=True)
class RemoveAssertOps(TypedPass):
    """Erase assertions that types already decide, so that they do not prevent fusion.

    These are `aten._assert_tensor_metadata.default` only; assertions about values stay.
    """

    name = "remove_assert_ops"
    stage = "post_grad"
    inductor = "post_grad.py:remove_assert_ops"
    numerics = EXACT
    roots = frozenset((_ASSERTION,))

    def rewrite(self, module: ModuleOp) -> int:
        removed = 0
        for graph in graphs_of(module):
            for op in graph.block.ops:
                if (
                    op.name == _ASSERTION
                    and not any(result.uses for result in op.results)
                    and should_apply(self.name)
                ):
                    applied(op)
                    graph.block.erase_op(op)
                    removed += 1
        return removed
