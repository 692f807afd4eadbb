"""Graphs for the passes over products with narrow weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

import torch

from tests.specimens.freezing_specimens import READERS, held
from xductor.backend.pass_validation.specimen import Specimen
from xductor.transforms import REASSOCIATES, ROUNDS_LESS_OFTEN
from xductor.transforms.quantized.concat_linear_woq_int4 import ConcatLinearWoqInt4
from xductor.transforms.quantized.int8_woq_fusion_pattern import Int8WoqFusionPattern

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


__all__ = ["int4_products", "int8_products"]
