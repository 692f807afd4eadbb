"""`apply_gumbel_max_trick_pass`: sampling by a softmax and noise, without the softmax."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from xductor.ir import aten
from xductor.transforms import APPROXIMATE, Rewrite, Tensor, all_of


class ApplyGumbelMaxTrickPass(Rewrite):
    """`argmax(softmax(x) / e)` as `argmax(x - log(e))`, for noise `e` that is exponential.

    The largest of a row is the same, since the logarithm keeps the order and what a softmax
    divides by is one number for a row. Not the numerics: a row with a NaN has the first element as
    its largest here and the NaN there, and probabilities that round to zero are all alike.
    """

    name = "apply_gumbel_max_trick_pass"
    stage = "pre_grad"
    inductor = "apply_gumbel_max_trick.py:apply_gumbel_max_trick"
    numerics = APPROXIMATE
    counter = "apply_gumbel_max_trick"

    def pattern(self, x: Tensor, empty: Tensor, dim: int, row: int, keepdim: bool) -> Any:
        probabilities = aten.softmax.int(x, dim)
        noise = aten.exponential_(empty, 1.0)
        return aten.argmax(aten.div.Tensor(probabilities, noise), row, keepdim)

    def where(self, x: Tensor, empty: Tensor, dim: int, row: int) -> Any:
        return all_of(dim % x.ndim == row % x.ndim, x.dtype == empty.dtype)

    def replacement(self, x: Tensor, empty: Tensor, row: int, keepdim: bool) -> Any:
        return aten.argmax(aten.sub(x, aten.log(aten.exponential_(empty, 1.0))), row, keepdim)

    def instances(self) -> Iterator[dict[str, Any]]:
        """Logits and memory for the noise that fit, which seldom come by themselves."""
        for dtype in (torch.float32, torch.float64):
            for sizes, dim in (((5,), 0), ((3, 7), -1), ((3, 7), 0), ((2, 3, 5), 1), ((1, 9), 1)):
                for keepdim in (False, True):
                    yield {
                        "x": torch.randn(sizes, dtype=dtype),
                        "empty": torch.zeros(sizes, dtype=dtype),
                        "dim": dim % len(sizes),
                        "row": dim,
                        "keepdim": keepdim,
                    }


__all__ = ["ApplyGumbelMaxTrickPass"]
