"""Graphs for `linear_dynamic_fp16`: products with weights that are rounded to float16."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

import torch

# Defines the operators `quantized_decomposed`.
from torch.ao.quantization.fx import _decomposed as _decomposed

from tests.specimens.freezing_specimens import held
from xductor.backend.pass_validation.specimen import Specimen
from xductor.transforms import APPROXIMATE, REASSOCIATES
from xductor.transforms.onednn.fp16_linear_packing import LinearDynamicFp16

aten = torch.ops.aten


def rounded(weight: Any) -> Any:
    """`[k, n]` of a weight `[n, k]`, rounded to float16."""
    convert = torch.ops.quantized_decomposed.convert_element_type.no_fuse
    return aten.permute.default(convert(convert(weight, torch.float16), torch.float32), [1, 0])


def _batched(x: Any, weight: Any) -> Any:
    columns = rounded(weight)
    matrices = aten.expand.default(columns, [x.shape[0], *columns.shape])
    return torch.bmm(aten.expand.default(x, x.shape), matrices)


#: Products with a weight and a bias, of data of the sizes given.
PRODUCTS: Mapping[str, tuple[Callable[[Any, Any, Any], Any], tuple[int, ...]]] = {
    "mm": (lambda x, w, b: torch.mm(x, rounded(w)), (6, 8)),
    "addmm": (lambda x, w, b: torch.addmm(b, x, rounded(w)), (6, 8)),
    "reshaped": (
        lambda x, w, b: aten.reshape.default(
            torch.addmm(b, aten.reshape.default(x, [6, 8]), rounded(w)), [2, 3, w.shape[0]]
        ),
        (2, 3, 8),
    ),
    "bmm": (lambda x, w, b: _batched(x, w), (2, 3, 8)),
    "bmm with a bias": (lambda x, w, b: b + _batched(x, w), (2, 3, 8)),
}


def rounded_products() -> Iterator[Specimen]:
    """For `linear_dynamic_fp16`."""
    chance = torch.Generator().manual_seed(0)
    for what, relu, columns in product(PRODUCTS, (False, True), (1, 3, 5, 16)):
        function, sizes = PRODUCTS[what]
        weight, bias = (torch.randn(one, generator=chance) for one in ((columns, 8), (columns,)))

        def program(x: Any, *kept: Any, given: Any = (function, relu)) -> Any:
            made = given[0](x, *kept)
            return (torch.relu(made) if given[1] else made,)

        graph = held(program, [weight, bias], torch.ones(sizes))
        one = LinearDynamicFp16(policy="fast" if relu else "default")
        numerics = APPROXIMATE if relu else REASSOCIATES
        yield Specimen(f"{what}, {columns} columns, relu {relu}", graph, one, numerics)


__all__ = ["PRODUCTS", "rounded", "rounded_products"]
