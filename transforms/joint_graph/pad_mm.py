"""`pad_mm`, `pad_bmm`, `pad_addmm`: operands padded to sizes that tensor cores take whole.

What is added is zero on both sides of the contraction, and cut off elsewhere. Whether it pays is
:mod:`padding`'s question, and whoever asks it measures.
"""

from __future__ import annotations

from typing import Any

import torch

from xductor.ir import aten
from xductor.transforms.joint_graph.padding import Padding, pays
from xductor.transforms.numerics import REASSOCIATES
from xductor.transforms.rewriting.handles import Scalar, Tensor
from xductor.transforms.rewriting.rewrite import Rewrite


def _dense(product: Any) -> Any:
    return aten.clone(product, memory_format=torch.contiguous_format)


class PadMm(Rewrite):
    """An mm of padded operands, cut to size, where nobody sees that its rows are further apart."""

    stage = "joint"
    inductor = "pad_mm.py:mm_pattern"
    numerics = REASSOCIATES
    devices = ("cuda", "xpu")

    def pattern(self, mat1: Tensor, mat2: Tensor) -> Any:
        return aten.mm(mat1, mat2)

    def where(self, mat1: Tensor, mat2: Tensor) -> Any:
        return pays("mm", mat1, mat2)

    def replacement(self, mat1: Tensor, mat2: Tensor) -> Any:
        padding = Padding.of(mat1, mat2)
        product = aten.mm(padding.pad_mat1(mat1), padding.pad_mat2(mat2))
        return padding.cut(product, batched=False)


class PadMmDense(PadMm):
    """The same where rows must be next to each other: a copy, which code generation fuses."""

    name = "pad_mm"

    def replacement(self, mat1: Tensor, mat2: Tensor) -> Any:
        return _dense(PadMm.replacement(self, mat1, mat2))


class PadBmm(Rewrite):
    """As `PadMm`, of a batch of matrices."""

    stage = "joint"
    inductor = "pad_mm.py:bmm_pattern"
    numerics = REASSOCIATES
    devices = ("cuda", "xpu")

    def pattern(self, mat1: Tensor, mat2: Tensor) -> Any:
        return aten.bmm(mat1, mat2)

    def where(self, mat1: Tensor, mat2: Tensor) -> Any:
        return pays("bmm", mat1, mat2)

    def replacement(self, mat1: Tensor, mat2: Tensor) -> Any:
        padding = Padding.of(mat1, mat2)
        product = aten.bmm(padding.pad_mat1(mat1), padding.pad_mat2(mat2))
        return padding.cut(product, batched=True)


class PadBmmDense(PadBmm):
    """As `PadMmDense`, of a batch of matrices."""

    name = "pad_bmm"

    def replacement(self, mat1: Tensor, mat2: Tensor) -> Any:
        return _dense(PadBmm.replacement(self, mat1, mat2))


class PadAddmm(Rewrite):
    """As `PadMm`, with something added, which is padded unless it is broadcast."""

    stage = "joint"
    inductor = "pad_mm.py:addmm_pattern"
    numerics = REASSOCIATES
    devices = ("cuda", "xpu")

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
        return padding.cut(product, batched=False)


class PadAddmmDense(PadAddmm):
    """As `PadMmDense`, with something added."""

    name = "pad_addmm"

    def replacement(
        self, input: Tensor, mat1: Tensor, mat2: Tensor, beta: Scalar, alpha: Scalar
    ) -> Any:
        return _dense(PadAddmm.replacement(self, input, mat1, mat2, beta, alpha))


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
