"""`apply_gumbel_max_trick_pass`: removes the softmax from sampling with exponential noise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from xductor.ir import aten
from xductor.transforms import APPROXIMATE, Rewrite, Tensor, all_of, bind, no, one_of, shared

#: Calls that read no element.
_FOR_ITS_SIZES = "empty_like"


class ApplyGumbelMaxTrickPass(Rewrite):
    """`argmax(softmax(x) / e)` becomes `argmax(x - log(e))`, for exponential noise `e`.

    The logarithm preserves order, and softmax divides a row by one number, so over the reals the
    argmax is the same. In floats, a row with a NaN gives 0 here and the place of the NaN there, and
    probabilities that round to zero are all equal.
    """

    name = "apply_gumbel_max_trick_pass"
    stage = "pre_grad"
    inductor = "apply_gumbel_max_trick.py:apply_gumbel_max_trick"
    numerics = APPROXIMATE
    counter = "apply_gumbel_max_trick"

    def pattern(
        self, x: Tensor, p: Tensor, empty: Tensor, dim: int, row: int, keepdim: bool
    ) -> Any:
        probabilities = one_of(aten.softmax.int(x, dim), shared(aten.softmax.int(x, dim)))
        noise = aten.exponential_(empty, 1.0)
        return aten.argmax(aten.div.Tensor(bind(p, probabilities), noise), row, keepdim)

    def where(self, x: Tensor, empty: Tensor, dim: int, row: int) -> Any:
        return all_of(dim % x.ndim == row % x.ndim, x.dtype == empty.dtype)

    def pays(self, p: Tensor) -> Any:
        """Whether nothing else reads the probabilities, but for their sizes."""
        others = [user.name for user in p.users if not user.name.endswith(_FOR_ITS_SIZES)]
        return len(others) == 1 or no(f"the probabilities are read by {others}")

    def replacement(self, x: Tensor, empty: Tensor, row: int, keepdim: bool) -> Any:
        return aten.argmax(aten.sub(x, aten.log(aten.exponential_(empty, 1.0))), row, keepdim)

    def instances(self) -> Iterator[dict[str, Any]]:
        """Operands that meet the conditions, which random ones rarely do."""
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
