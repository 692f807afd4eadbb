"""`realize_before_expand`: what is dear to compute is in memory before it is expanded.

Inductor computes elementwise functions in the kernel that reads them. Where a small tensor meets a
large one, as the sines of positions meet the queries of all heads, or buckets of distances an index
for each score, the kernel computes each of its elements many times.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch._ops import OpOverload
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult

from xductor.ir import GraphOp, SchemaOp, TensorType
from xductor.transforms import EXACT, TypedPass, graphs_of
from xductor.transforms.analysis.analyses import MEMORY, ORDER
from xductor.transforms.analysis.dear_functions import DEAR_FUNCTIONS
from xductor.transforms.analysis.effect_order import is_view
from xductor.transforms.analysis.kept_memory import KeptMemory
from xductor.transforms.analysis.usual_sizes import UsualSizes
from xductor.transforms.editing.editor import Editor
from xductor.transforms.passes.applications import applied
from xductor.transforms.passes.debug_counters import should_apply

#: Ops that Inductor computes in the kernel of their reader, though ATen does not call them pointwise.
_FUSED = frozenset(
    ("aten.gather.default", "aten.index.Tensor", "aten.index_select.default",
     "aten.embedding.default", "aten.constant_pad_nd.default")
)  # fmt: skip
#: A power by a number is mostly a product.
_DEAR = DEAR_FUNCTIONS - {"aten.pow.Tensor_Scalar"}
#: How often an element must be computed for nothing.
_TIMES = 8
#: How many elements must be computed in all to be worth a kernel of its own.
_ELEMENTS = 1 << 22


@dataclass(frozen=True)
class RealizeBeforeExpand(TypedPass):
    """A small tensor that takes a sine, a logarithm or the like, and that large ones are made with.

    `prims.inductor_force_stride_order`, which changes nothing here, gives it a buffer of its own.
    The last small tensor is realized: after a cast to 16 bits, and before it is expanded. One number
    for each row, as norms have it, is not: a kernel that reduces rows computes it once for each.

    - `devices`: where it is done. On CPUs it was measured, and gained nothing.

    What is realized takes no more than a 64th of the memory of the graph's inputs, or 2 MiB if that
    is more. Tensors of symbolic sizes are left alone.
    """

    name = "realize_before_expand"
    stage = "post_grad"
    numerics = EXACT
    roots = _DEAR
    preserves = frozenset((MEMORY, ORDER))

    devices: tuple[str, ...] = ("cuda", "xpu")

    def rewrite(self, module: ModuleOp) -> int:
        return sum(_Graph(graph, self.devices).realize() for graph in graphs_of(module))


class _Graph:
    """The pass on one graph."""

    def __init__(self, graph: GraphOp, devices: tuple[str, ...]) -> None:
        self.devices = devices
        self.editor = Editor(graph)
        self.sizes = UsualSizes(graph)
        self.memory = KeptMemory(graph)

    def realize(self) -> int:
        dear: set[Any] = set()
        realized = 0
        for op in list(self.editor.graph.block.ops):
            if not _is_fused(op):
                continue
            if op.name not in _DEAR and dear.isdisjoint(op._operands):
                continue
            result = op.results[0]
            if is_view(op) or not self._pays(result) or not should_apply(RealizeBeforeExpand.name):
                dear.add(result)
                continue
            self._put_in_memory(op, result)
            realized += 1
        return realized

    def _pays(self, value: OpResult) -> bool:
        type_: Any = value.type
        if not _is_static(type_) or not type_.shape or type_.shape[-1] == 1:
            return False
        own = self.sizes.elements(value)
        computed = sum(size for size in self._made_with(value) if size >= _TIMES * own)
        if type_.device.type not in self.devices or computed < _ELEMENTS:
            return False
        return self.memory.has_room(self.memory.bytes([value]))

    def _made_with(self, value: OpResult) -> Iterator[int]:
        """How many elements those have that are computed from a value, or from views of it."""
        for use in value.uses:
            user: Any = use.operation
            if not _is_fused(user):
                continue
            result = user.results[0]
            if is_view(user):
                yield from self._made_with(result)
            else:
                yield self.sizes.elements(result)

    def _put_in_memory(self, op: SchemaOp, value: OpResult) -> None:
        type_: Any = value.type
        self.memory.kept += self.memory.bytes([value])
        below: Any = op.next_op
        made = self.editor.call(
            "prims.inductor_force_stride_order.default",
            (value, type_.stride),
            above=below,
            types=[type_],
        )
        applied(op, made.results[0])
        self.editor.take_over(value, made.results[0])
        made.operands[0] = value


def _is_fused(op: Any) -> bool:
    """Whether generated code computes the one result of an op in the kernels that read it."""
    if not isinstance(op, SchemaOp) or len(op.results) != 1:
        return False
    return type(op.results[0].type) is TensorType and (_is_elementwise(op.target) or is_view(op))


@cache
def _is_elementwise(target: OpOverload) -> bool:
    name = f"{target.namespace}.{target.__name__}"
    return name in _FUSED or torch.Tag.pointwise in target.tags


def _is_static(type_: TensorType) -> bool:
    return all(type(size) is int for size in (*type_.shape, *type_.stride))


__all__ = ["RealizeBeforeExpand"]
