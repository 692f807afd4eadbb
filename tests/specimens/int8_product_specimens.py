"""Graphs for `smooth_quant_linear`: products of int8, scaled by rows and columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

import torch

from tests.specimens.freezing_specimens import held
from xductor.backend.pass_validation.specimen import Specimen
from xductor.transforms import REASSOCIATES, ROUNDS_LESS_OFTEN
from xductor.transforms.onednn.smooth_quant_packing import SmoothQuantLinear

#: The order in which a product is multiplied by scales of rows and of columns.
ORDERS: Mapping[str, Callable[[Any, Any, Any], Any]] = {
    "rows first": lambda y, rows, columns: y * rows * columns,
    "columns first": lambda y, rows, columns: columns * y * rows,
    "scales first": lambda y, rows, columns: y * (rows * columns),
}

#: The sizes of the scales of six rows and five columns.
SCALES: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "both": ((6, 1), (5,)),
    "one for all rows": ((1,), (5,)),
    "one number": ((), (1, 5)),
    "one for all columns": ((6, 1), (1,)),
}


def smooth_quantised() -> Iterator[Specimen]:
    """For `smooth_quant_linear`."""
    chance = torch.Generator().manual_seed(0)
    dtypes = {torch.float32: REASSOCIATES, torch.bfloat16: ROUNDS_LESS_OFTEN}
    shapes = product(ORDERS, SCALES, ((6,), (2, 3)), (True, False), dtypes)
    for order, scales, lead, has_bias, dtype in shapes:
        weight = torch.randint(-128, 128, (8, 5), dtype=torch.int8, generator=chance)
        rows, columns = (torch.rand(one, generator=chance).to(dtype) for one in SCALES[scales])
        bias = torch.randn(5, generator=chance).to(dtype)

        def program(x: Any, *kept: Any, given: Any = (order, lead, has_bias, dtype)) -> Any:
            weight, rows, columns, bias = kept
            order, lead, has_bias, dtype = given
            y = torch._int_mm(x.reshape(6, 8), weight)
            y = torch.ops.prims.convert_element_type.default(y, dtype)
            y = ORDERS[order](y, rows, columns)
            y = y if len(lead) == 1 else torch.ops.aten.reshape.default(y, [*lead, 5])
            return (y + bias if has_bias else y,)

        x = torch.ones(*lead, 8, dtype=torch.int8)
        graph = held(program, [weight, rows, columns, bias], x)
        title = f"{order}, {scales}, {lead}, bias {has_bias}, {dtype}"
        yield Specimen(title, graph, SmoothQuantLinear(), dtypes[dtype])


__all__ = ["ORDERS", "SCALES", "smooth_quantised"]
