"""What stands behind the operands of a convolution or product that PT2E quantised."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import torch

# Defines the operators `quantized_decomposed`.
from torch.ao.quantization.fx import _decomposed as _decomposed
from torch.utils._python_dispatch import _disable_current_modes
from xdsl.ir import SSAValue

from xductor.ir import Facts, GetAttrOp, GraphOp, SchemaOp, TensorType
from xductor.ir.text.resources import constant
from xductor.transforms.editing.replacement import known_equal
from xductor.transforms.onednn.packing import check_vector
from xductor.transforms.rewriting.contracts import Declined

CAST = "prims.convert_element_type.default"
DEQUANTISE = "quantized_decomposed.dequantize_per_tensor.default"
DEQUANTISE_BY_TENSORS = "quantized_decomposed.dequantize_per_tensor.tensor"
_PER_CHANNEL = "quantized_decomposed.dequantize_per_channel.default"

#: The dtypes of results that oneDNN does not quantise again.
WIDE = (torch.float32, torch.bfloat16)


class Quantised(NamedTuple):
    """Values of 8 bits with their scale and zero point, which are numbers or tensors of one number.

    - `passed`: the ops that pass the dequantised values on, nearest to their reader first.
    """

    values: SSAValue
    scale: Any
    zero: Any
    passed: Sequence[Any]

    @property
    def is_by_tensors(self) -> bool:
        return isinstance(self.scale, SSAValue)


class Int8Weight(NamedTuple):
    """A constant int8 weight, whose channels are its first dim, with their scales.

    - `zeros`: their zero points, all 0; None if they have none.
    - `passed`: the ops that pass the dequantised weight on, nearest to their reader first.
    """

    values: SSAValue
    scales: SSAValue
    zeros: SSAValue | None
    passed: Sequence[Any]

    @property
    def held(self) -> list[SSAValue]:
        """The constants that it consists of."""
        return [one for one in (self.values, self.scales, self.zeros) if one is not None]


def data_behind(
    value: SSAValue, through: Collection[str], dtypes: Collection[torch.dtype]
) -> Quantised:
    """The quantised data behind an operand, looking through casts and the ops in `through`.

    Raises Declined if there is none, or none that oneDNN takes.
    """
    op, passed = _behind(value, (*through, CAST))
    if op.name not in (DEQUANTISE, DEQUANTISE_BY_TENSORS):
        raise Declined("the data is not dequantised")
    _check_casts(passed)
    values, scale, zero = (op.argument(name) for name in ("input", "scale", "zero_point"))
    check_tensor(values, dtypes, "the data")
    if op.name == DEQUANTISE:
        check_numbers(scale, zero)
    elif any(math.prod(one.type.shape) != 1 for one in (scale, zero)):
        raise Declined("the data has more than one scale or zero point")
    return Quantised(values, scale, zero, passed)


def weight_behind(value: SSAValue, through: Collection[str], graph: GraphOp) -> Int8Weight:
    """The int8 weight behind an operand, looking through casts and the ops in `through`.

    Raises Declined if there is none, or none that oneDNN takes.
    """
    op, passed = _behind(value, (*through, CAST))
    if op.name != _PER_CHANNEL:
        raise Declined("the weight is not dequantised channel by channel")
    _check_casts(passed)
    weight, scales, zeros = (op.argument(name) for name in ("input", "scales", "zero_points"))
    check_tensor(weight, (torch.int8,), "the weight")
    check_tensor(scales, (torch.float32,), "scales of the weight")
    if op.argument("axis") != 0 or tuple(scales.type.shape) != tuple(weight.type.shape[:1]):
        raise Declined("the weight has no scale for each of its outputs")
    check_vector(scales, "scales of the weight")
    if type(weight.owner) is not GetAttrOp:
        raise Declined("the weight is no constant")
    with _disable_current_modes(), torch.no_grad():
        if not math.isfinite(_elements(scales, graph).sum().item()):
            raise Declined("scales of the weight are not finite")
        if zeros is not None and bool(_elements(zeros, graph).any()):
            raise Declined("zero points of the weight are not 0")
    return Int8Weight(weight, scales, zeros, passed)


def check_sums(data: Quantised, weight: Int8Weight) -> None:
    """Raises Declined where sums of products might not fit oneDNN's 32 bits."""
    dims: Any = weight.values.type
    terms = math.prod(dims.shape[1:])
    zero = 0 if data.is_by_tensors else data.zero
    largest = max(255, abs(zero), abs(255 - zero))
    if terms * largest * 128 >= 2**31:
        raise Declined(f"sums of {terms} products may not fit 32 bits")


def check_numbers(scale: Any, zero: Any) -> None:
    """Raises Declined for a scale and zero point that oneDNN does not take."""
    if not isinstance(scale, float) or not isinstance(zero, int):
        raise Declined("the scale and the zero point are not known")
    if not (math.isfinite(scale) and scale > 0):
        raise Declined(f"the scale is {scale}")
    if not -(2**31) <= zero < 2**31:
        raise Declined(f"the zero point is {zero}")


def check_tensor(value: Any, dtypes: Collection[torch.dtype], what: str) -> None:
    """Raises Declined for what is no plain tensor on a CPU, of these dtypes and with elements."""
    type_ = value.type
    if type(type_) is not TensorType or type_.data.layout != "strided" or type_.data.subclass:
        raise Declined(f"{what}: no strided tensor")
    if type_.device.type != "cpu":
        raise Declined(f"{what}: a tensor on {type_.device}")
    if type_.dtype not in dtypes:
        raise Declined(f"{what}: {type_.dtype}")
    if any(size == 0 for size in type_.shape):
        raise Declined(f"{what}: no elements")


def check_bias(bias: Any, columns: Any, facts: Facts) -> None:
    """Raises Declined for a bias that is no vector with an element for each column."""
    if bias is None:
        return
    check_tensor(bias, WIDE, "the bias")
    if not known_equal(bias.type.shape, (columns,), facts):
        raise Declined("the bias is no vector of a row's size")
    check_vector(bias, "elements of the bias")


def known_sizes(sizes: Sequence[Any]) -> list[int] | None:
    """Sizes, for which a weight is packed; None if some are symbols."""
    return list(sizes) if all(isinstance(size, int) for size in sizes) else None


def is_finite(value: SSAValue | None, graph: GraphOp) -> bool:
    """Whether a tensor is a constant without NaN and infinities; an absent bias counts as one."""
    if value is None:
        return True
    try:
        held = _elements(value, graph)
    except Declined:
        return False
    with _disable_current_modes(), torch.no_grad():
        return math.isfinite(held.sum().item())


def _elements(value: SSAValue, graph: GraphOp) -> torch.Tensor:
    held = constant(graph, value.owner) if type(value.owner) is GetAttrOp else None
    if held is None:
        raise Declined("scales or zero points are not known")
    return held


def _behind(value: SSAValue, through: Collection[str]) -> tuple[Any, list[SchemaOp]]:
    """The op that makes a value, and the ops of some names that pass it on."""
    passed: list[Any] = []
    op: Any = value.owner
    while getattr(op, "name", "") in through:
        passed.append(op)
        op = op._operands[0].owner
    if not isinstance(op, SchemaOp):
        raise Declined("an operand is not dequantised")
    return op, passed


def _check_casts(passed: Sequence[Any]) -> None:
    """Raises Declined if values are cast twice: the first cast may round what the second widens."""
    if sum(op.name == CAST for op in passed) > 1:
        raise Declined("dequantised values are cast twice")


__all__ = [
    "CAST",
    "DEQUANTISE",
    "WIDE",
    "Int8Weight",
    "Quantised",
    "check_bias",
    "check_numbers",
    "check_sums",
    "check_tensor",
    "data_behind",
    "is_finite",
    "known_sizes",
    "weight_behind",
]
