"""`pad_mm`, `pad_bmm`, `pad_addmm`: operands padded to sizes that tensor cores take whole.

What is added is zero on both sides of the contraction, and cut off elsewhere. Whether it pays is
:mod:`padding`'s question, and whoever asks it measures.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch

from xductor.ir import aten
from xductor.transforms import REASSOCIATES, Rewrite, Scalar, Tensor
from xductor.transforms.padding.padding import Padding, pays


class _Padded(Rewrite, abstract=True):
    """A product of padded operands, cut to size.

    - `dense`: whether the rows are next to each other: a copy, which code generation fuses.
    """

    stage = "joint"
    numerics = REASSOCIATES
    devices = ("cuda", "xpu")
    dense: ClassVar[bool] = False

    def result(self, padding: Padding, product: Any, *, batched: bool = False) -> Any:
        found = padding.cut(product, batched)
        return aten.clone(found, memory_format=torch.contiguous_format) if self.dense else found


class PadMm(_Padded):
    """Of an mm, where nobody sees that its rows are further apart."""

    inductor = "pad_mm.py:mm_pattern"

    def pattern(self, mat1: Tensor, mat2: Tensor) -> Any:
        return aten.mm(mat1, mat2)

    def where(self, mat1: Tensor, mat2: Tensor) -> Any:
        return pays("mm", mat1, mat2)

    def replacement(self, mat1: Tensor, mat2: Tensor) -> Any:
        padding = Padding.of(mat1, mat2)
        product = aten.mm(padding.pad_mat1(mat1), padding.pad_mat2(mat2))
        return self.result(padding, product)


class PadMmDense(PadMm):
    """The same where somebody does."""

    name = "pad_mm"
    dense = True


class PadBmm(_Padded):
    """As `PadMm`, of a batch of matrices."""

    inductor = "pad_mm.py:bmm_pattern"

    def pattern(self, mat1: Tensor, mat2: Tensor) -> Any:
        return aten.bmm(mat1, mat2)

    def where(self, mat1: Tensor, mat2: Tensor) -> Any:
        return pays("bmm", mat1, mat2)

    def replacement(self, mat1: Tensor, mat2: Tensor) -> Any:
        padding = Padding.of(mat1, mat2)
        product = aten.bmm(padding.pad_mat1(mat1), padding.pad_mat2(mat2))
        return self.result(padding, product, batched=True)


class PadBmmDense(PadBmm):
    """As `PadMmDense`, of a batch of matrices."""

    name = "pad_bmm"
    dense = True


class PadAddmm(_Padded):
    """As `PadMm`, with something added, which is padded unless it is broadcast."""

    inductor = "pad_mm.py:addmm_pattern"

    def pattern(
        self, input: Tensor, mat1: Tensor, mat2: Tensor, beta: Scalar, alpha: Scalar
    ) -> Any:
        return aten.addmm(input, mat1, mat2, beta=beta, alpha=alpha)

    def where(self, input: Tensor, mat1: Tensor, mat2: Tensor) -> Any:
        return pays("addmm", mat1, mat2, input)

    def replacement(
        self, input: Tensor, mat1: Tensor, mat2: Tensor, beta: Scalar, alpha: Scalar
    ) -> Any:
        padding = Padding.of(mat1, mat2)
        mats = padding.pad_mat1(mat1), padding.pad_mat2(mat2)
        product = aten.addmm(padding.pad_bias(input), *mats, beta=beta, alpha=alpha)
        return self.result(padding, product)


class PadAddmmDense(PadAddmm):
    """As `PadMmDense`, with something added."""

    name = "pad_addmm"
    dense = True


PAD_MM = (PadMm, PadMmDense)
PAD_BMM = (PadBmm, PadBmmDense)
PAD_ADDMM = (PadAddmm, PadAddmmDense)

__all__ = [
    "PAD_ADDMM",
    "PAD_BMM",
    "PAD_MM",
    "PadAddmm",
    "PadAddmmDense",
    "PadBmm",
    "PadBmmDense",
    "PadMm",
    "PadMmDense",
]
