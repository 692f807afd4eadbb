"""`qcat`: what is only joined between dequantisation and quantisation stays narrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from xductor.ir import aten
from xductor.transforms import EXACT, Rewrite, Tensor, no
from xductor.transforms.quantized.requantised import comes_back, quantize


class QuantizeBeforeCat(Rewrite):
    """`quantize(cat(pieces))` is the cat of the quantised pieces.

    That holds for all numbers, and pays where `qreshape` takes the quantisation of each piece back:
    all were dequantised by the scale, zero point and dtype of the quantisation.
    """

    name = "qcat"
    stage = "post_grad"
    inductor = "quantization.py:_register_quantized_cat_lowering.qcat"
    counter = "qcat_matcher_count"
    numerics = EXACT

    def pattern(
        self,
        pieces: list[Tensor],
        dim: int,
        scale: Any,
        zero: Any,
        low: Any,
        high: Any,
        dtype: Any,
    ) -> Any:
        return quantize(aten.cat(pieces, dim), scale, zero, low, high, dtype)

    def where(self, pieces: list[Tensor]) -> Any:
        alike = all(one.same_dtype(pieces[0]) for one in pieces)
        return alike or no("the pieces are not of one dtype")

    def pays(
        self, pieces: list[Tensor], scale: Any, zero: Any, low: Any, high: Any, dtype: Any
    ) -> Any:
        for one in pieces:
            back = comes_back(one, scale, zero, low, high, dtype)
            if back is not True:
                return back
        return True

    def replacement(
        self,
        pieces: list[Tensor],
        dim: int,
        scale: Any,
        zero: Any,
        low: Any,
        high: Any,
        dtype: Any,
    ) -> Any:
        return aten.cat([quantize(one, scale, zero, low, high, dtype) for one in pieces], dim)

    def instances(self) -> Iterator[dict[str, Any]]:
        chance = torch.Generator().manual_seed(0)
        for lengths in ((3,), (2, 5), (1, 1, 4), (0, 2), (2, 3, 1, 4)):
            for rank, dim in ((1, 0), (2, 1), (3, -2), (4, 1)):
                for dtype in (torch.float32, torch.bfloat16):
                    for scale, zero, target in ((0.1, 3, torch.uint8), (0.25, -7, torch.int8)):
                        sizes = [[2] * rank for _ in lengths]
                        for one, length in zip(sizes, lengths, strict=True):
                            one[dim] = length
                        pieces = [torch.randn(one, generator=chance) * 9 for one in sizes]
                        limits = torch.iinfo(target)
                        yield {
                            "pieces": [piece.to(dtype) for piece in pieces],
                            "dim": dim,
                            "scale": scale,
                            "zero": zero,
                            "low": limits.min,
                            "high": limits.max // 2,
                            "dtype": target,
                        }


__all__ = ["QuantizeBeforeCat"]
