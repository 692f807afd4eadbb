"""`pad_mm`, `pad_bmm`, `pad_addmm`: pad the operands of a matmul to aligned sizes.

Tensor cores work best on aligned sizes. The padding of the contracted dim is zero in both operands
and adds nothing to the sums; the padding of the other dims is sliced off the result. :mod:`padding`
decides whether this pays, normally by a measurement.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch

from xductor.ir import aten
from xductor.transforms import REASSOCIATES, Rewrite, Scalar, Tensor
from xductor.transforms.padding.padding import Padding, pays


class _Padded(Rewrite, abstract=True):
    """Base of the rewrites here: a product of padded operands, sliced to the original size.

    - `dense`: whether to copy the slice to make it contiguous; code generation fuses the copy.
    """

    stage = "joint"
    numerics = REASSOCIATES
    devices = ("cuda", "xpu")
    dense: ClassVar[bool] = False

    def result(self, padding: Padding, product: Any, *, batched: bool = False) -> Any:
        found = padding.cut(product, batched)
        return aten.clone(found, memory_format=torch.contiguous_format) if self.dense else found


class PadMm(_Padded):
    """`mm(a, b)` becomes a slice of a padded mm, if no user notices the wider strides."""

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
    """`mm(a, b)` becomes a contiguous copy of a slice of a padded mm."""

    name = "pad_mm"
    dense = True


class PadBmm(_Padded):
    """`bmm(a, b)` becomes a slice of a padded bmm, if no user notices the wider strides."""

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
    """`bmm(a, b)` becomes a contiguous copy of a slice of a padded bmm."""

    name = "pad_bmm"
    dense = True


class PadAddmm(_Padded):
    """`addmm(c, a, b)` becomes a slice of a padded addmm, if no user notices the wider strides.

    `c` is padded too, except along dims in which it is broadcast.
    """

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
    """`addmm(c, a, b)` becomes a contiguous copy of a slice of a padded addmm.

    `c` is padded too, except along dims in which it is broadcast.
    """

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
