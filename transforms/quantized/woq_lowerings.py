"""`woq_lowerings`: products with int8 weights that are widened and scaled become one operator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import torch

from xductor.ir import aten, ops, prims
from xductor.transforms import ROUNDS_LESS_OFTEN, Rewrite, Tensor, all_of, bind, no, one_of
from xductor.transforms.passes.numerics import Declared
from xductor.transforms.quantized import operators


def widened(weight: Any) -> Any:
    """A weight `[n, k]` in bfloat16, with its rows as columns."""
    return one_of(
        aten.permute(prims.convert_element_type(weight, torch.bfloat16), [1, 0]),
        prims.convert_element_type(aten.permute(weight, [1, 0]), torch.bfloat16),
    )


def check_product(out: Tensor, x: Tensor, weights: list[Tensor], scales: Tensor) -> Any:
    """Whether a kernel multiplies by int8 weights that stand one below the other."""
    if any(one.dtype is not torch.int8 for one in weights):
        return no("the weight is not int8")
    if x.dtype is not torch.bfloat16 or scales.dtype is not torch.bfloat16:
        return no("the product is not of bfloat16")
    devices = {one.device for one in (x, scales, *weights)}
    if x.device.type not in operators.DEVICES or len(devices) > 1:
        return no("the operands are on different devices, or on one without a kernel")
    if scales.ndim != 1 or out.ndim == 0:
        return no("the scales are no vector with a number for each column")
    row = x.shape[-1] * x.element_size()
    columns = sum((one.shape[0] for one in weights[1:]), weights[0].shape[0])
    return all_of(
        scales.shape[0] == columns,
        out.shape[-1] == columns,
        row.is_multiple_of(operators.ALIGNMENT),
    )


class WoqLowerings(Rewrite):
    """`mm(x, widened int8 weight) * scales` reads the weight as int8, reshaped in between or not.

    The kernel sums and scales in float32 and rounds once. Rows whose length is no multiple of 64
    bytes stay, since it reads whole vectors.
    """

    name = "woq_lowerings"
    stage = "post_grad"
    inductor = "quantization.py:_register_woq_lowering.woq_int8"
    counter = "woq_matcher_count"
    numerics: ClassVar[Declared] = {torch.bfloat16: ROUNDS_LESS_OFTEN}

    def pattern(self, out: Tensor, x: Tensor, weight: Tensor, scales: Tensor, sizes: Any) -> Any:
        product = aten.mm(x, widened(weight))
        return bind(out, aten.mul(one_of(product, aten.reshape(product, sizes)), scales))

    def where(self, out: Tensor, x: Tensor, weight: Tensor, scales: Tensor) -> Any:
        return check_product(out, x, [weight], scales)

    def replacement(self, x: Tensor, weight: Tensor, scales: Tensor, sizes: Any) -> Any:
        scaled = ops.xductor.weight_int8pack_mm(x, weight, scales)
        return scaled if sizes is None else aten.reshape(scaled, sizes)

    def instances(self) -> Iterator[dict[str, Any]]:
        for rows, sizes in ((6, [2, 3, -1]), (8, [2, 2, 2, -1]), (1, [1, 1, -1]), (3, [3, -1])):
            for columns in (1, 3, 5, 16):
                for inner in (32, 64, 96, 160):
                    given = _operands(rows, inner, columns)
                    shape = None if sizes is None else [*sizes[:-1], columns]
                    yield {**given, "sizes": shape}


class WoqBatchedLowerings(Rewrite):
    """`bmm(x, widened int8 weight for each matrix) * scales` is one product with int8 weights."""

    name = "woq_lowerings"
    stage = "post_grad"
    inductor = "quantization.py:_register_woq_lowering.woq_int8"
    counter = "woq_matcher_count"
    numerics: ClassVar[Declared] = {torch.bfloat16: ROUNDS_LESS_OFTEN}

    def pattern(
        self,
        out: Tensor,
        x: Tensor,
        weight: Tensor,
        scales: Tensor,
        matrices: Any,
        weights: Any,
    ) -> Any:
        columns = aten.expand(widened(weight), weights)
        product = aten.bmm(one_of(aten.expand(x, matrices), x), columns)
        return bind(out, aten.mul(product, scales))

    def where(self, out: Tensor, x: Tensor, weight: Tensor, scales: Tensor) -> Any:
        if x.ndim != 3 or weight.ndim != 2 or out.ndim != 3:
            return no("the rows are no batch of matrices by one weight")
        alike = all_of(*[one == other for one, other in zip(out.shape[:2], x.shape, strict=False)])
        return all_of(alike, check_product(out, x, [weight], scales))

    def replacement(self, x: Tensor, weight: Tensor, scales: Tensor) -> Any:
        rows = aten.reshape(x, [-1, x.shape[2]])
        scaled = ops.xductor.weight_int8pack_mm(rows, weight, scales)
        return aten.reshape(scaled, [*x.shape[:2], weight.shape[0]])

    def instances(self) -> Iterator[dict[str, Any]]:
        for batch, rows in ((2, 3), (1, 4), (3, 1)):
            for columns in (1, 3, 5, 16):
                for inner in (32, 64, 96, 160):
                    given = _operands(batch * rows, inner, columns)
                    given["x"] = given["x"].reshape(batch, rows, inner)
                    yield {
                        **given,
                        "matrices": [batch, rows, inner],
                        "weights": [batch, inner, columns],
                    }


def _operands(rows: int, inner: int, columns: int) -> dict[str, Any]:
    chance = torch.Generator().manual_seed(rows * inner + columns)
    weight = torch.randint(-128, 128, (columns, inner), dtype=torch.int8, generator=chance)
    return {
        "x": torch.randn(rows, inner, generator=chance).bfloat16(),
        "weight": weight,
        "scales": torch.rand(columns, generator=chance).bfloat16(),
    }


WOQ_LOWERINGS = (WoqLowerings, WoqBatchedLowerings)

__all__ = [
    "WOQ_LOWERINGS",
    "WoqBatchedLowerings",
    "WoqLowerings",
    "check_product",
    "widened",
]
