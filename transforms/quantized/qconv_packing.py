"""`qconv_weight_prepack`: convolutions that PT2E quantised are computed in 8 bits by oneDNN."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from xdsl.ir import SSAValue

from xductor.ir import ops
from xductor.transforms.quantized import int8_operators as int8_operators  # registers them
from xductor.transforms.quantized.dequantised_operands import (
    WIDE,
    Int8Weight,
    Quantised,
    check_bias,
    check_sums,
    check_tensor,
    data_behind,
    known_sizes,
    weight_behind,
)
from xductor.transforms.quantized.int8_packing import Found, Int8Packing
from xductor.transforms.rewriting.contracts import Declined
from xductor.transforms.rewriting.graph_state import GraphState
from xductor.transforms.rewriting.handles import handle

_CLONE = "aten.clone.default"


@dataclass(frozen=True)
class QconvWeightPrepack(Int8Packing):
    """`aten.convolution` of dequantised uint8 data over one or two dims becomes a packed call.

    The weight is int8, with a scale for each output. The result is float32, or bfloat16 where data
    and weight are cast to it. Transposed convolutions stay.
    """

    name = "qconv_weight_prepack"
    inductor = "quantization.py:_register_qconv_weight_prepack_pass.qconv_weight_prepack"
    roots = frozenset(("aten.convolution.default",))
    counter = "qconv_weight_prepack_matcher_count"

    def found(self, op: Any, state: GraphState) -> Found:
        if op.argument("transposed"):
            raise Declined("a transposed convolution")
        check_tensor(op.results[0], WIDE, "the result")
        data = data_behind(op.argument("input"), (), (torch.uint8,))
        weight = weight_behind(op.argument("weight"), (_CLONE,), state.graph)
        check_sums(data, weight)
        known = _known_sizes(data, weight)
        bias = op.argument("bias")
        check_bias(bias, _shape(weight.values)[0], state.facts)
        names = ("stride", "padding", "dilation", "groups")
        geometry = [_numbers(op.argument(name), name) for name in names]
        scale, zero = data.scale, data.zero
        pack: Any = torch.ops.onednn.qconv_prepack
        x, scales, b = (handle(one, state.facts) for one in (data.values, weight.scales, bias))
        dtype = op.results[0].type.dtype

        def build(packed: Any, zeros: Any) -> Any:
            w, z = (handle(one, state.facts) for one in (packed, zeros))
            how = (scale, zero, w, scales, z, b, *geometry, 1.0, 0, dtype, "none", [], "")
            return ops.xductor.qconv.default(x, *how)

        return Found(
            [op],
            weight,
            ("qconv", scale, zero, repr(geometry), repr(known)),
            lambda one, given: pack(one, given, scale, zero, *geometry, known),
            [one for one in (data.values, bias) if one is not None],
            build,
            relaid=True,
        )


def _known_sizes(data: Quantised, weight: Int8Weight) -> list[int] | None:
    """The sizes of the data, if they are known. Raises Declined for those that are not taken."""
    if data.is_by_tensors:
        raise Declined("the scale of the data is not known")
    sizes, dims = _shape(data.values), _shape(weight.values)
    if not len(sizes) == len(dims) in (3, 4):
        raise Declined(f"data of {len(sizes)} dims, a weight of {len(dims)}")
    known = known_sizes(sizes)
    if known is None and (sizes[1] == 1 or all(size == 1 for size in sizes[2:])):
        raise Declined("symbolic sizes, for which Inductor takes the result for contiguous")
    return known


def _shape(value: SSAValue) -> tuple[Any, ...]:
    type_: Any = value.type
    return type_.shape


def _numbers(found: Any, name: str) -> Any:
    """An argument that is numbers. Raises Declined for others."""
    numbers = list(found) if isinstance(found, tuple | list) else [found]
    if not all(isinstance(one, int) for one in numbers):
        raise Declined(f"{name} {found} is not known")
    return numbers if isinstance(found, tuple | list) else found


__all__ = ["QconvWeightPrepack"]
