"""`concat_linear_woq_int4`: products of one tensor with int4 weights become one product."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from xductor.ir import aten
from xductor.transforms import graphs_of
from xductor.transforms.freezing.computations import has_known_sizes, sizes_of
from xductor.transforms.freezing.concat_linear import ConcatLinear, Member
from xductor.transforms.freezing.constant_fold import compute_now

#: Packing goes through blocks of this many rows at most, so that packed weights of whole blocks
#: can stand one behind the other.
_BLOCK = 64


@dataclass(frozen=True)
class ConcatLinearWoqInt4(ConcatLinear):
    """`_weight_int4pack_mm_for_cpu` of one tensor, two or more with groups of one size.

    The joined weight and its scales are computed at compile time. Weights that are not
    a whole number of packed blocks stay as they are.
    """

    name = "concat_linear_woq_int4"
    inductor = "quantization.py:concat_linear_woq_int4"
    roots = frozenset(("aten._weight_int4pack_mm_for_cpu.default",))
    fewest = 2

    def rewrite(self, module: ModuleOp) -> int:
        fused = super().rewrite(module)
        for graph in graphs_of(module) if fused else ():
            compute_now(graph, ("aten.cat.default",))
        return fused

    def member(self, op: Any) -> Member | None:
        data, weight, scales = op._operands
        if not (has_known_sizes(weight) and has_known_sizes(scales)):
            return None
        rows, packed = sizes_of(weight)
        groups, columns, _ = sizes_of(scales)
        if columns != rows or rows % _BLOCK:
            return None
        form = (op.argument("qGroupSize"), packed, groups, scales.type.dtype)
        return Member((op,), data, weight, rows, (scales,), form)

    def joined(
        self, like: Member, data: Any, weights: Sequence[Any], vectors: Sequence[Sequence[Any]]
    ) -> Any:
        weight, scales = aten.cat(weights, 0), aten.cat(vectors[0], 1)
        size = like.ops[-1].argument("qGroupSize")
        return aten._weight_int4pack_mm_for_cpu(data, weight, size, scales)


__all__ = ["ConcatLinearWoqInt4"]
