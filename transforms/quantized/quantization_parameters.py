"""`quantization_parameters`: known scales and zero points become numbers where they are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from xductor.ir import Facts, GetAttrOp, GraphOp, aten, ops, prims
from xductor.ir.text.resources import constant
from xductor.transforms.matching.matcher import Match
from xductor.transforms.passes.numerics import EXACT
from xductor.transforms.rewriting.contracts import Declined
from xductor.transforms.rewriting.driver import Procedure
from xductor.transforms.rewriting.handles import handle
from xductor.transforms.rewriting.procedural_pass import REFUSALS, ProceduralPass

_QUANTISE = "quantized_decomposed.quantize_per_tensor.tensor"
_DEQUANTISE = "quantized_decomposed.dequantize_per_tensor.tensor"
_PER_CHANNEL = "quantized_decomposed.dequantize_per_channel.default"


@dataclass(frozen=True)
class QuantizationParameters(ProceduralPass):
    """Scales and zero points that the module holds become numbers; zero points of channels that are
    not 0 are subtracted in ops of their own.

    Inductor's entries for oneDNN want numbers, and take the zero points of a weight for 0.
    """

    name = "quantization_parameters"
    stage = "post_grad"
    numerics = EXACT
    roots = frozenset((_QUANTISE, _DEQUANTISE, _PER_CHANNEL))

    def replace_at(self, ops: Sequence[Any], procedure: Procedure) -> int:
        return sum(self._replace(op, procedure) for op in ops)

    def _replace(self, op: Any, procedure: Procedure) -> bool:
        state = procedure.state
        try:
            build = _spelled_out if op.name == _PER_CHANNEL else _with_numbers
            made = build(op, state.graph, state.facts)
            procedure.replace(Match.of(op, [op], list(op.results), op._operands), made)
        except REFUSALS as refusal:
            procedure.refuse(op, refusal)
            return False
        return True


def _with_numbers(op: Any, graph: GraphOp, facts: Facts) -> Any:
    """The call with numbers in the place of two tensors of one element."""
    scale, zero = (_number(op.argument(name), graph) for name in ("scale", "zero_point"))
    x = handle(op.argument("input"), facts)
    bounds = [op.argument(name) for name in ("quant_min", "quant_max", "dtype")]
    quantised = ops.quantized_decomposed
    if op.name == _QUANTISE:
        return lambda: quantised.quantize_per_tensor.default(x, float(scale), int(zero), *bounds)
    given = {"out_dtype": op.argument("out_dtype")}
    return lambda: quantised.dequantize_per_tensor.default(
        x, float(scale), int(zero), *bounds, **given
    )


def _spelled_out(op: Any, graph: GraphOp, facts: Facts) -> Any:
    """`(x - zero_points) * scales` for each channel. Raises Declined if all zero points are 0."""
    zeros = op.argument("zero_points")
    if zeros is None:
        raise Declined("without zero points")
    held = _elements(zeros, graph)
    with _disable_current_modes(), torch.no_grad():
        if not bool(held.any()):
            raise Declined("all zero points are 0")
    x, scales, zeros = (handle(one, facts) for one in (op.argument("input"), *_vectors(op)))
    sizes = [1] * x.ndim
    sizes[op.argument("axis")] = -1
    dtype: Any = op.results[0].type.dtype

    def build() -> Any:
        made = aten.mul(aten.sub(x, aten.reshape(zeros, sizes)), aten.reshape(scales, sizes))
        return made if made.dtype is dtype else prims.convert_element_type(made, dtype)

    return build


def _vectors(op: Any) -> list[Any]:
    """Scales and zero points, of one number for each channel. Raises Declined for others."""
    found = [op.argument("scales"), op.argument("zero_points")]
    count = op.argument("input").type.shape[op.argument("axis")]
    for one in found:
        if tuple(one.type.shape) not in ((count,), (1,)):
            raise Declined(f"{list(one.type.shape)} numbers for {count} channels")
    return found


def _number(value: Any, graph: GraphOp) -> int | float:
    held = _elements(value, graph)
    if held.numel() != 1:
        raise Declined(f"{held.numel()} numbers for one tensor")
    with _disable_current_modes(), torch.no_grad():
        return held.item()


def _elements(value: Any, graph: GraphOp) -> torch.Tensor:
    held = constant(graph, value.owner) if type(value.owner) is GetAttrOp else None
    if held is None:
        raise Declined("the numbers are not known")
    return held


__all__ = ["QuantizationParameters"]
