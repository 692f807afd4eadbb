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
from torch.fx import Graph
from torch.torch_version import TorchVersion
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult

from xductor.ir import GraphOp, ListArg, SchemaOp, TensorType
from xductor.transforms import EXACT, TypedPass, graphs_of
from xductor.transforms.analysis.analyses import MEMORY, ORDER, analyses_of
from xductor.transforms.analysis.dear_functions import DEAR_FUNCTIONS
from xductor.transforms.analysis.effect_order import is_view
from xductor.transforms.analysis.kept_memory import KeptMemory
from xductor.transforms.analysis.usual_sizes import UsualSizes
from xductor.transforms.editing.computed_sizes import ComputedSizes
from xductor.transforms.editing.editor import Editor
from xductor.transforms.passes.applications import applied
from xductor.transforms.passes.debug_counters import should_apply

#: Ops that Inductor computes in the kernel of their reader, though they are not tagged `pointwise`.
_FUSED = frozenset(
    ("aten.gather.default", "aten.index.Tensor", "aten.index_select.default",
     "aten.embedding.default", "aten.constant_pad_nd.default")
)  # fmt: skip
#: A power by a number is mostly a product.
_DEAR = DEAR_FUNCTIONS - {"aten.pow.Tensor_Scalar"}
#: How often an element must be computed for nothing.
_TIMES = 8
#: Which share of the largest tensor that is made with it all that is realized may take.
_SHARE = 4
#: Whether Inductor can tell the order of symbolic strides there; older versions compare them.
_ORDERS_SYMBOLS = torch.__version__ >= TorchVersion("2.13")


@dataclass(frozen=True)
class RealizeBeforeExpand(TypedPass):
    """A small tensor that takes a sine, a logarithm or the like, and that large ones are made with.

    `prims.inductor_force_stride_order`, which changes nothing here, gives it a buffer of its own.
    The last small tensor is realized: after a cast to 16 bits, and before it is expanded. A number
    for each row, as norms have it, is not: a kernel that reduces rows computes it once for each.

    What is realized takes no more than a quarter of the largest tensor that is made with it.
    Symbolic sizes are judged by what they were while the graph was traced.

    - `devices`: where it is done. On CPUs it was measured, and gained nothing.
    - `elements`: how many elements must be computed in all to be worth a kernel of its own.
    """

    name = "realize_before_expand"
    stage = "post_grad"
    numerics = EXACT
    roots = _DEAR
    preserves = frozenset((MEMORY, ORDER))

    devices: tuple[str, ...] = ("cuda", "xpu")
    elements: int = 1 << 22

    @classmethod
    def may_apply(cls, graph: Graph) -> bool:
        """Whether a dear function is computed on a device where this is done."""
        devices = cls().devices
        return any(_device(node.meta.get("val")) in devices for node in cls.root_nodes(graph))

    def has_work(self, module: ModuleOp) -> bool:
        dear = (op for graph in graphs_of(module) for op in analyses_of(graph).named(_DEAR))
        return any(_type(op).device.type in self.devices for op in dear if _is_fused(op))

    def rewrite(self, module: ModuleOp) -> int:
        return sum(_Graph(graph, self).realize() for graph in graphs_of(module))


class _Graph:
    """The pass on one graph."""

    def __init__(self, graph: GraphOp, asked: RealizeBeforeExpand) -> None:
        self.asked = asked
        self.editor = Editor(graph)
        self.sizes = UsualSizes(graph)
        self.strides = ComputedSizes(self.editor)
        self.memory = KeptMemory(graph)

    def realize(self) -> int:
        dear: set[Any] = set()
        realized = 0
        ops: list[Any] = list(self.editor.graph.block.ops)
        for op in ops:
            if not _is_fused(op):
                continue
            if op.name not in _DEAR and dear.isdisjoint(op._operands):
                continue
            result = op.results[0]
            if is_view(op) or not self._pays(result) or not should_apply(self.asked.name):
                dear.add(result)
                continue
            self._put_in_memory(op, result)
            realized += 1
        return realized

    def _pays(self, value: OpResult) -> bool:
        type_ = _type(value.owner)
        if type_.device.type not in self.asked.devices or not self._has_layout(value):
            return False
        if not type_.shape or type_.shape[-1] == 1:
            return False
        own = self.sizes.elements(value)
        larger = [one for one in self._made_with(value) if self.sizes.elements(one) >= _TIMES * own]
        if sum(map(self.sizes.elements, larger)) < self.asked.elements:
            return False
        room = max(self.memory.bytes([one]) for one in larger) // _SHARE
        return self.memory.kept + self.memory.bytes([value]) <= room

    def _has_layout(self, value: OpResult) -> bool:
        """Whether sizes were seen while the graph was traced, and strides can be arguments."""
        type_ = _type(value.owner)
        if _is_static(type_):
            return True
        seen = all(self.sizes.seen(size) is not None for size in type_.shape)
        below: Any = value.op.next_op
        return _ORDERS_SYMBOLS and seen and self.strides.are_known(type_.stride, below)

    def _made_with(self, value: OpResult) -> Iterator[OpResult]:
        """What is computed from a value, or from views of it, in kernels that compute it too."""
        for use in value.uses:
            user: Any = use.operation
            if not _is_fused(user):
                continue
            result = user.results[0]
            if is_view(user):
                yield from self._made_with(result)
            else:
                yield result

    def _put_in_memory(self, op: SchemaOp, value: OpResult) -> None:
        type_ = _type(op)
        self.memory.kept += self.memory.bytes([value])
        below: Any = op.next_op
        made = self.editor.call(
            "prims.inductor_force_stride_order.default",
            (value, ListArg([self.strides.above(step, below) for step in type_.stride])),
            above=below,
            types=[type_],
        )
        applied(op, made.results[0])
        self.editor.take_over(value, made.results[0])
        made.operands[0] = value


def _type(op: Any) -> Any:
    return op.results[0].type


def _is_fused(op: Any) -> bool:
    """Whether generated code computes the one result of an op in the kernels that read it."""
    if not isinstance(op, SchemaOp) or len(op.results) != 1:
        return False
    return type(_type(op)) is TensorType and (_is_elementwise(op.target) or is_view(op))


@cache
def _is_elementwise(target: OpOverload) -> bool:
    name = f"{target.namespace}.{target.__name__}"
    return name in _FUSED or torch.Tag.pointwise in target.tags


def _device(value: object) -> str:
    return value.device.type if isinstance(value, torch.Tensor) else ""


def _is_static(type_: TensorType) -> bool:
    return all(type(size) is int for size in (*type_.shape, *type_.stride))


__all__ = ["RealizeBeforeExpand"]
