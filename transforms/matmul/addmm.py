"""`addmm`: fuses a product and an add into one operator."""

from __future__ import annotations

from typing import Any, ClassVar

import torch

from xductor.ir import aten
from xductor.transforms import (
    EXACT,
    REASSOCIATES,
    ROUNDS_LESS_OFTEN,
    Rewrite,
    Scalar,
    Tensor,
    all_of,
    any_of,
    bind,
    no,
    one_of,
)
from xductor.transforms.matmul.epilogues import UNFUSED_ON, all_pointwise
from xductor.transforms.matmul.factors import is_nothing
from xductor.transforms.passes.numerics import Declared


class Addmm(Rewrite):
    """`c + alpha * mm(a, b)` becomes `addmm(c, a, b, alpha=alpha)`; `mm(a, b) + beta * c` likewise.

    A factor of 0 is refused, because addmm skips what it multiplies and so loses its NaN. With
    16-bit floats the product is no longer rounded before the addition.
    """

    stage = "post_grad"
    inductor = "post_grad.py:addmm"
    numerics: ClassVar[Declared] = {
        **dict.fromkeys((torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8), EXACT),
        **dict.fromkeys((torch.float32, torch.float64), REASSOCIATES),
        **dict.fromkeys((torch.float16, torch.bfloat16), ROUNDS_LESS_OFTEN),
    }

    def pattern(
        self,
        input: Tensor,
        mat1: Tensor,
        mat2: Tensor,
        beta: Scalar,
        alpha: Scalar,
        out: Tensor,
    ) -> Any:
        product = aten.mm(mat1, mat2)
        of_product = aten.add(input, product, alpha=alpha)
        of_input = aten.add(product, input, alpha=beta)
        return bind(out, one_of(of_product, of_input))

    def where(
        self, input: Tensor, mat1: Tensor, mat2: Tensor, beta: Scalar | None, alpha: Scalar | None
    ) -> Any:
        if input.dtype != mat1.dtype:
            return no("the sum is of another dtype than the product")
        if input.device != mat1.device:
            return no("what is added is on another device")
        if input.ndim > 2:
            return no("what is added has more dims than the product")
        if is_nothing(beta) or is_nothing(alpha):
            return no("with a factor of 0 addmm loses the NaN of what it multiplies")
        sizes = (mat1.shape[0], mat2.shape[1])[2 - input.ndim :]
        pairs = zip(input.shape, sizes, strict=True)
        return all_of(*[any_of(own == 1, own == size) for own, size in pairs])

    def pays(self, input: Tensor, out: Tensor) -> Any:
        if input.device.type not in UNFUSED_ON or not all_pointwise(out.users):
            return True
        return no("the add fuses with what reads it, which is all pointwise")

    def replacement(
        self,
        input: Tensor,
        mat1: Tensor,
        mat2: Tensor,
        beta: Scalar | None,
        alpha: Scalar | None,
    ) -> Any:
        factors = {"beta": 1 if beta is None else beta, "alpha": 1 if alpha is None else alpha}
        return aten.addmm(input, mat1, mat2, **factors)

    def instances(self) -> Any:
        """Operands that meet the conditions, which random ones rarely do."""
        for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.float64, torch.int64):
            for sizes in ((), (1,), (5,), (1, 5), (4, 1), (4, 5)):
                given = [_random(*shape, dtype=dtype) for shape in (sizes, (4, 33), (33, 5))]
                yield dict(zip(("input", "mat1", "mat2"), given, strict=True))


def _random(*sizes: int, dtype: torch.dtype) -> torch.Tensor:
    made = torch.randn(sizes, generator=torch.Generator().manual_seed(0))
    return (made if dtype.is_floating_point else made * 9).to(dtype)


__all__ = ["Addmm"]
