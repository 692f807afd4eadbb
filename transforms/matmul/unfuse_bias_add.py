"""`unfuse_bias_add_to_pointwise`: splits the add off an addmm if it fuses with its readers."""

from __future__ import annotations

from typing import Any, ClassVar

import torch

from xductor.ir import aten
from xductor.transforms import APPROXIMATE, REASSOCIATES, Rewrite, Tensor, bind, no
from xductor.transforms.matmul.epilogues import UNFUSED_ON, all_pointwise
from xductor.transforms.passes.numerics import Declared


class UnfuseBiasAddToPointwise(Rewrite):
    """`addmm(c, a, b)` becomes `c + mm(a, b)`, if all readers of the result are pointwise.

    An addmm with factors stays: it does not read what it multiplies by 0, and overflow depends on
    which operand is scaled. In 16 bits the product is rounded before the addition.
    """

    stage = "post_grad"
    inductor = "post_grad.py:unfuse_bias_add_to_pointwise"
    devices = UNFUSED_ON
    numerics: ClassVar[Declared] = {
        **dict.fromkeys((torch.float32, torch.float64), REASSOCIATES),
        **dict.fromkeys((torch.float16, torch.bfloat16), APPROXIMATE),
    }

    def pattern(self, input: Tensor, mat1: Tensor, mat2: Tensor, out: Tensor) -> Any:
        return bind(out, aten.addmm(input, mat1, mat2))

    def pays(self, out: Tensor) -> Any:
        return all_pointwise(out.users) or no("the sum is read by what is not pointwise")

    def replacement(self, input: Tensor, mat1: Tensor, mat2: Tensor) -> Any:
        return aten.add(input, aten.mm(mat1, mat2))


__all__ = ["UnfuseBiasAddToPointwise"]
