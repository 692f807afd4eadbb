"""`einsum_to_pointwise_pass`: a row-wise einsum becomes a mul and a sum."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from xductor.ir import aten
from xductor.transforms import REASSOCIATES, Rewrite, Tensor, no
from xductor.transforms.matching.patterns import bind

_SUMS = frozenset(("pyfn._operator.add", "method.add", "pyfn.torch.add"))


class EinsumToPointwisePass(Rewrite):
    """`einsum("bni,bnio->bno", x, w)` becomes `sum(mul(unsqueeze(x, -1), w), -2)`.

    The letters may be others. It pays if something is added to the result, because the sum then
    fuses with the add.
    """

    name = "einsum_to_pointwise_pass"
    stage = "pre_grad"
    inductor = "split_cat.py:replace_einsum_to_pointwise"
    numerics = REASSOCIATES
    counter = "einsum_to_pointwise_pass"

    def pattern(self, equation: str, x: Tensor, weights: Tensor, out: Tensor) -> Any:
        return bind(out, aten.einsum(equation, [x, weights]))

    def where(self, equation: str) -> Any:
        return is_product_by_row(equation) or no(f"{equation!r} is another product")

    def pays(self, out: Tensor) -> Any:
        """Whether an add reads the result, with which the sum can fuse."""
        return any(user.name in _SUMS for user in out.users)

    def instances(self) -> Iterator[dict[str, Any]]:
        for dtype in (torch.float32, torch.float64, torch.bfloat16):
            for batch, rows, inner, outer in (
                (2, 3, 4, 5),
                (1, 1, 1, 1),
                (3, 2, 8, 1),
                (4, 1, 2, 3),
            ):
                x = torch.randn(batch, rows, inner).to(dtype)
                for equation in ("bni,bnio->bno", "abc, abcd -> abd"):
                    weights = torch.randn(batch, rows, inner, outer).to(dtype)
                    yield {"equation": equation, "x": x, "weights": weights}

    def replacement(self, x: Tensor, weights: Tensor) -> Any:
        return aten.sum(aten.mul(aten.unsqueeze(x, -1), weights), [-2])


def is_product_by_row(equation: str) -> bool:
    """Whether an equation is `bni,bnio->bno`, up to the choice of letters."""
    left, arrow, result = equation.replace(" ", "").partition("->")
    x, _, weights = left.partition(",")
    if not arrow or len(x) != 3 or len(weights) != 4 or len(set(weights)) != 4:
        return False
    return weights[:3] == x and result == weights[:2] + weights[3]


__all__ = ["EinsumToPointwisePass", "is_product_by_row"]
