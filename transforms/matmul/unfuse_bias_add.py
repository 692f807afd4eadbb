"""`unfuse_bias_add_to_pointwise`: the add of an addmm, where it fuses with what reads it."""

from __future__ import annotations

from typing import Any, ClassVar

import torch

from xductor.ir import aten
from xductor.transforms import APPROXIMATE, REASSOCIATES, Rewrite, Tensor, bind, no
from xductor.transforms.matmul.epilogues import UNFUSED_ON, all_pointwise
from xductor.transforms.passes.numerics import Declared


class UnfuseBiasAddToPointwise(Rewrite):
    """addmm without factors as mm and add.

    Factors stay: a product times 0 is not read, and which operand is scaled decides what
    overflows. Of 16 bits the product would be rounded before it is added to.
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
