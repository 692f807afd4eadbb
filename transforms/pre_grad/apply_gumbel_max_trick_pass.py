"""`apply_gumbel_max_trick_pass`: sampling by a softmax and noise, without the softmax."""

from __future__ import annotations

from typing import Any

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
        noise = aten.exponential_(empty, 1.0)
        return aten.argmax(aten.div.Tensor(aten.softmax.int(x, dim), noise), row, keepdim)

    def where(self, x: Tensor, empty: Tensor, dim: int, row: int) -> Any:
        return all_of(dim % x.ndim == row % x.ndim, x.dtype == empty.dtype)

    def replacement(self, x: Tensor, empty: Tensor, row: int, keepdim: bool) -> Any:
        return aten.argmax(aten.sub(x, aten.log(aten.exponential_(empty, 1.0))), row, keepdim)


__all__ = ["ApplyGumbelMaxTrickPass"]
