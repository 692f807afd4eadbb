"""`concat_linear_int8_woq`: a product with several widened int8 weights side by side, scaled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import torch

from xductor.ir import aten, ops
from xductor.transforms import ROUNDS_LESS_OFTEN, Rewrite, Tensor, bind, each, one_of
from xductor.transforms.passes.numerics import Declared
from xductor.transforms.quantized.woq_lowerings import check_product, widened


class ConcatLinearInt8Woq(Rewrite):
    """`mm(x, cat(widened int8 weights)) * scales` reads the weights as int8.

    The weights, `[n, k]` each, are joined as they are; where the module holds them, that is done at
    compile time.
    """

    name = "concat_linear_int8_woq"
    stage = "post_grad"
    inductor = "quantization.py:_register_concat_linear_int8_woq_lowering.woq_int8"
    counter = "woq_matcher_count"
    numerics: ClassVar[Declared] = {torch.bfloat16: ROUNDS_LESS_OFTEN}

    def pattern(
        self, out: Tensor, x: Tensor, weights: list[Tensor], scales: Tensor, sizes: Any
    ) -> Any:
        product = aten.mm(x, aten.cat(each(weights, widened), 1))
        return bind(out, aten.mul(one_of(product, aten.reshape(product, sizes)), scales))

    def where(self, out: Tensor, x: Tensor, weights: list[Tensor], scales: Tensor) -> Any:
        return check_product(out, x, weights, scales)

    def replacement(self, x: Tensor, weights: list[Tensor], scales: Tensor, sizes: Any) -> Any:
        scaled = ops.xductor.weight_int8pack_mm(x, aten.cat(weights, 0), scales)
        return scaled if sizes is None else aten.reshape(scaled, sizes)

    def instances(self) -> Iterator[dict[str, Any]]:
        chance = torch.Generator().manual_seed(0)
        for rows, sizes in ((6, [2, 3]), (1, [1, 1]), (3, [3])):
            for columns in ((3, 5, 8), (1, 1), (16, 16, 16), (7, 2, 4, 1)):
                for inner in (32, 64, 96, 160):
                    weights = [
                        torch.randint(-128, 128, (n, inner), dtype=torch.int8, generator=chance)
                        for n in columns
                    ]
                    yield {
                        "x": torch.randn(rows, inner, generator=chance).bfloat16(),
                        "weights": weights,
                        "scales": torch.rand(sum(columns), generator=chance).bfloat16(),
                        "sizes": [*sizes, sum(columns)],
                    }


__all__ = ["ConcatLinearInt8Woq"]
