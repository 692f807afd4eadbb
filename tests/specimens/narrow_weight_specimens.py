"""Graphs for the passes over products with narrow weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

import torch

# Defines the operators `quantized_decomposed`.
from torch.ao.quantization.fx import _decomposed as _decomposed

from tests.specimens.freezing_specimens import READERS, held
from xductor.backend.pass_validation.specimen import Specimen
from xductor.transforms import EXACT, REASSOCIATES, ROUNDS_LESS_OFTEN
from xductor.transforms.quantized.concat_linear_woq_int4 import ConcatLinearWoqInt4
from xductor.transforms.quantized.int8_woq_fusion_pattern import Int8WoqFusionPattern
from xductor.transforms.quantized.quantization_parameters import QuantizationParameters

_ROWS = 6


def _wide(weight: Any) -> Any:
    return torch.ops.prims.convert_element_type.default(weight, torch.bfloat16)


FORMS: Mapping[str, Callable[..., Any]] = {
    "widened first": lambda x, w, s: torch.mm(x, _wide(w).permute(1, 0)) * s,
    "turned first": lambda x, w, s: s * torch.mm(x, _wide(w.permute(1, 0))),
}


def int8_products() -> Iterator[Specimen]:
    """For `int8_woq_fusion_pattern`."""
    chance = torch.Generator().manual_seed(0)
    for form, reader, number, inner in product(FORMS, READERS, (2, 3), (32, 64)):
        widths = [2 + 2 * (place % 3) for place in range(number)]
        shapes = [(width, inner) for width in widths]
        weights = [torch.randint(-8, 8, one, dtype=torch.int8, generator=chance) for one in shapes]
        scales = [torch.rand(width, generator=chance).bfloat16() for width in widths]
        read, multiply = READERS[reader], FORMS[form]

        def program(
            x: Any, *given: Any, read: Any = read, multiply: Any = multiply, number: int = number
        ) -> Any:
            pairs = zip(given[:number], given[number:], strict=True)
            return tuple(read(multiply(x, weight, scale)) for weight, scale in pairs)

        x = torch.ones(_ROWS, inner, dtype=torch.bfloat16)
        graph = held(program, [*weights, *scales], x)
        made = Int8WoqFusionPattern(enable_concat_linear=True)
        yield Specimen(f"{form}, {reader}, {number}, {inner}", graph, made, ROUNDS_LESS_OFTEN)


def int4_products() -> Iterator[Specimen]:
    """For `concat_linear_woq_int4`."""
    chance = torch.Generator().manual_seed(0)
    multiply = torch.ops.aten._weight_int4pack_mm_for_cpu
    pack = torch.ops.aten._convert_weight_to_int4pack_for_cpu
    dtypes = (torch.bfloat16, torch.float32)
    for reader, number, inner, dtype in product(READERS, (2, 3), (64, 128), dtypes):
        constants = []
        for width in (64, 128, 64)[:number]:
            weight = torch.randint(0, 16, (width, inner), dtype=torch.int32, generator=chance)
            scales = torch.rand(inner // 32, width, 2, generator=chance).to(dtype)
            constants += [pack(weight, 1), scales]

        def program(x: Any, *given: Any, read: Any = READERS[reader]) -> Any:
            pairs = zip(given[::2], given[1::2], strict=True)
            return tuple(read(multiply(x, weight, 32, scale)) for weight, scale in pairs)

        graph = held(program, constants, torch.ones(_ROWS, inner, dtype=dtype))
        made = ConcatLinearWoqInt4(enable_concat_linear=True)
        yield Specimen(f"{reader}, {number}, {inner}, {dtype}", graph, made, REASSOCIATES)


def quantization_parameters() -> Iterator[Specimen]:
    """For `quantization_parameters`: numbers of tensors, and zero points of channels."""
    ops, made = torch.ops.quantized_decomposed, QuantizationParameters()
    bounds, channel_bounds = (0, 255, torch.uint8), (-128, 127, torch.int8)
    for zero, scale, sizes in product((0, 3, 100, 255, 300), (0.01, 0.05, 0.7, 3.0), ((), (1,))):

        def numbers(x: Any, scale: Any, zero: Any) -> Any:
            narrow = ops.quantize_per_tensor.tensor(x, scale, zero, *bounds)
            return (ops.dequantize_per_tensor.tensor(narrow, scale, zero, *bounds),)

        constants = [torch.full(sizes, scale), torch.full(sizes, zero)]
        graph = held(numbers, constants, torch.ones(3, 4))
        yield Specimen(f"{zero}, {scale}, {sizes}", graph, made, EXACT)
    for axis, shape, dtype in product((0, 1), ((3, 4), (2, 3, 2)), (torch.int32, torch.int64)):

        def channels(x: Any, weight: Any, scales: Any, zeros: Any, axis: int = axis) -> Any:
            wide = ops.dequantize_per_channel(weight, scales, zeros, axis, *channel_bounds)
            return (wide * x.sum(),)

        count = shape[axis]
        weight = torch.arange(torch.Size(shape).numel()).view(shape).to(torch.int8)
        constants = [weight, torch.linspace(0.5, 2, count), torch.arange(count).to(dtype)]
        graph = held(channels, constants, torch.ones(2))
        yield Specimen(f"channels {axis} of {shape}, {dtype}", graph, made, EXACT)


__all__ = ["int4_products", "int8_products", "quantization_parameters"]
