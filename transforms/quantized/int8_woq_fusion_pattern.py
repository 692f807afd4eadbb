"""`int8_woq_fusion_pattern`: products of one tensor with int8 weights become one product."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from xdsl.ir import SSAValue

from xductor.ir import aten, ops
from xductor.transforms.freezing.computations import has_known_sizes, sizes_of
from xductor.transforms.freezing.concat_linear import ConcatLinear, Member
from xductor.transforms.passes.numerics import ROUNDS_LESS_OFTEN, Declared
from xductor.transforms.quantized.operators import has_kernel

_MUL = "aten.mul.Tensor"
_WIDEN = "prims.convert_element_type.default"
_TURN = "aten.permute.default"
_RESHAPES = ("aten.reshape.default", "aten.view.default")


@dataclass(frozen=True)
class Int8WoqFusionPattern(ConcatLinear):
    """`mm(x, widened int8 weight) * scales`, reshaped in between or not, for two or more weights.

    The joined product is the operator of `woq_lowerings`, under its conditions, since a joined
    weight that is widened would be computed at compile time. Inductor's entry joins three.
    """

    name = "int8_woq_fusion_pattern"
    inductor = "freezing_patterns.py:int8_woq_fusion_pattern"
    counter = "woq_matcher_count"
    numerics: ClassVar[Declared] = {torch.bfloat16: ROUNDS_LESS_OFTEN}
    roots = frozenset((_MUL,))
    fewest = 2

    def member(self, op: Any) -> Member | None:
        if len(op._operands) != 2:  # a factor that is a number
            return None
        first, second = op._operands
        return _scaled_product(op, first, second) or _scaled_product(op, second, first)

    def joined(
        self, like: Member, data: Any, weights: Sequence[Any], vectors: Sequence[Sequence[Any]]
    ) -> Any:
        weight, scales = aten.cat(weights, 0), aten.cat(vectors[0], 0)
        return ops.xductor.weight_int8pack_mm(data, weight, scales)


def _scaled_product(op: Any, product: Any, scales: Any) -> Member | None:
    reshape = _made_by(product, *_RESHAPES)
    mm = _made_by(product if reshape is None else reshape._operands[0], "aten.mm.default")
    if mm is None:
        return None
    data, columns = mm._operands
    path = _path_to_weight(columns)
    if path is None:
        return None
    weight = path[-1]._operands[0]
    dtypes = (weight.type.dtype, columns.type.dtype, scales.type.dtype)
    if dtypes != (torch.int8, torch.bfloat16, torch.bfloat16):
        return None
    if not has_known_sizes(weight):
        return None
    rows, inner = sizes_of(weight)
    if product.type.shape[-1:] != (rows,) or tuple(scales.type.shape) != (rows,):
        return None
    if not has_kernel(data.type.device, inner):
        return None
    between = () if reshape is None else (reshape,)
    replaced = (*reversed(path), mm, *between, op)
    form = (inner, weight.type.device)
    return Member(replaced, data, weight, rows, (scales,), form, is_reshaped=reshape is not None)


def _path_to_weight(columns: SSAValue) -> tuple[Any, ...] | None:
    """The two ops that widen and turn a weight `[n, k]`, the last one first."""
    last = _made_by(columns, _WIDEN, _TURN)
    if last is None:
        return None
    first = _made_by(last._operands[0], _WIDEN, _TURN)
    if first is None or first.name == last.name:
        return None
    turn = first if first.name == _TURN else last
    return (last, first) if list(turn.argument("dims")) in ([1, 0], [-1, 0]) else None


def _made_by(value: Any, *names: str) -> Any:
    """The op of one of these names whose result is read here alone."""
    owner = value.owner
    return owner if getattr(owner, "name", None) in names and value.has_one_use() else None


__all__ = ["Int8WoqFusionPattern"]
