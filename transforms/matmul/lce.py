"""Linear compressed embeddings: a linear over the middle dim of `[B, N, D]` becomes a matmul.

The weight becomes the left operand, so that neither the input nor the result is transposed. The
passes named after Triton do the same: autotuning of matmul tries Triton kernels too.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, ClassVar

import torch

from xductor.ir import aten
from xductor.transforms import Rewrite, Tensor, no
from xductor.transforms.matching.spellings import PERMUTE_OR_TRANSPOSE
from xductor.transforms.matmul.permute_fusions import BIAS_ADDED_AFTER, REAL_SUMS
from xductor.transforms.passes.numerics import Declared


def _compressed(x: Any, weight: Any, dims: tuple[Any, Any, Any, Any], *bias: Any) -> Any:
    """The pattern of a linear between two exchanges of dims, however they are written."""
    before, after = dims[:2], dims[2:]
    return aten.transpose.int(aten.linear(aten.transpose.int(x, *before), weight, *bias), *after)


def _fits(ranks: tuple[int, ...], dims: tuple[int, int, int, int]) -> Any:
    if ranks != (3, 2, 1)[: len(ranks)]:
        return no("the operands are not those of a linear layer over a batch")
    if {dims[0] % 3, dims[1] % 3} == {dims[2] % 3, dims[3] % 3} == {1, 2}:
        return True
    return no("dims other than the last two are exchanged")


class _Lce(Rewrite, abstract=True):
    """Base of the rewrites here."""

    stage = "pre_grad"
    through = (PERMUTE_OR_TRANSPOSE,)

    def instances(self) -> Iterator[dict[str, Any]]:
        """Operands that meet the conditions, which random ones rarely do.

        The results have one row or one column: one with more of both that is returned must keep the
        strides of a transpose.
        """
        sizes = (2, 3, 1, 5), (1, 4, 1, 2), (3, 4, 4, 1), (2, 5, 3, 1), (4, 2, 1, 1), (2, 1, 1, 4)
        exchanges = (1, 2, -1, -2), (2, 1, 1, 2), (-2, -1, 2, 1), (-1, 1, -2, 2)
        for number, (dims, shape) in enumerate(product(exchanges, sizes)):
            batch, rows, columns, outer = shape
            count = number % 3 + 1
            for dtype in (torch.float32, torch.float64):
                x = torch.rand(batch, rows, columns, dtype=dtype)
                yield {
                    "x": x,
                    "xs": [x] * count,
                    "weight": torch.rand(outer, rows, dtype=dtype),
                    "dim": 1 if number % 2 else -2,
                    "wide": torch.rand(outer, rows * count, dtype=dtype),
                    "bias": torch.rand(outer, dtype=dtype),
                    **dict(zip(("a", "b", "c", "d"), dims, strict=True)),
                }


class _Plain(_Lce, abstract=True):
    """`linear(x.mT, w).mT` becomes `w @ x`."""

    numerics: ClassVar[Declared] = REAL_SUMS

    def pattern(self, x: Tensor, weight: Tensor, a: int, b: int, c: int, d: int) -> Any:
        return _compressed(x, weight, (a, b, c, d))

    def where(self, x: Tensor, weight: Tensor, a: int, b: int, c: int, d: int) -> Any:
        return _fits((x.ndim, weight.ndim), (a, b, c, d))

    def replacement(self, x: Tensor, weight: Tensor) -> Any:
        return aten.matmul(weight, x)


class _Biased(_Lce, abstract=True):
    """`linear(x.mT, w, b).mT` becomes `w @ x + b[:, None]`."""

    numerics: ClassVar[Declared] = BIAS_ADDED_AFTER

    def pattern(
        self, x: Tensor, weight: Tensor, bias: Tensor, a: int, b: int, c: int, d: int
    ) -> Any:
        return _compressed(x, weight, (a, b, c, d), bias)

    def where(self, x: Tensor, weight: Tensor, bias: Tensor, a: int, b: int, c: int, d: int) -> Any:
        return _fits((x.ndim, weight.ndim, bias.ndim), (a, b, c, d))

    def replacement(self, x: Tensor, weight: Tensor, bias: Tensor) -> Any:
        return aten.add(aten.matmul(weight, x), aten.unsqueeze(bias, -1))


class UseTritonLceReplaceSimpleLce(_Plain):
    """`linear(x.mT, w).mT` becomes `w @ x`."""

    name = "use_triton_lce_replace_simple_LCE"
    inductor = "pre_grad.py:use_triton_lce_replace_simple_LCE"


class UseTritonLceReplaceNormalLce(_Biased):
    """`linear(x.mT, w, b).mT` becomes `w @ x + b[:, None]`."""

    name = "use_triton_lce_replace_normal_LCE"
    inductor = "pre_grad.py:use_triton_lce_replace_normal_LCE"


class UseMatmulLceReplaceSimpleLce(_Plain):
    """`linear(x.mT, w).mT` becomes `w @ x`, as the part of the pass for linears without a bias."""

    name = "use_matmul_lce_replace_normal_LCE"
    inductor = "pre_grad.py:use_matmul_lce_replace_normal_LCE"


class UseMatmulLceReplaceNormalLce(_Biased):
    """`linear(x.mT, w, b).mT` becomes `w @ x + b[:, None]`."""

    name = "use_matmul_lce_replace_normal_LCE"
    inductor = "pre_grad.py:use_matmul_lce_replace_normal_LCE"


def _along_rows(dim: int) -> Any:
    return dim % 3 == 1 or no("the embeddings lie along another dim")


class FirstLce(_Lce):
    """`linear(cat(xs, 1).mT, w).mT` becomes `w @ cat(xs, 1)`."""

    name = "use_matmul_fuse_lce_replace_first_LCE"
    inductor = "pre_grad.py:use_matmul_fuse_lce_replace_first_LCE"
    numerics: ClassVar[Declared] = REAL_SUMS

    def pattern(
        self, xs: list[Tensor], dim: int, wide: Tensor, a: int, b: int, c: int, d: int
    ) -> Any:
        return _compressed(aten.cat(xs, dim), wide, (a, b, c, d))

    def where(
        self, xs: list[Tensor], dim: int, wide: Tensor, a: int, b: int, c: int, d: int
    ) -> Any:
        return _fits((xs[0].ndim, wide.ndim), (a, b, c, d)) and _along_rows(dim)

    def replacement(self, xs: list[Tensor], wide: Tensor) -> Any:
        return aten.matmul(wide, aten.cat(xs, 1))


class BiasedFirstLce(_Lce):
    """`linear(cat(xs, 1).mT, w, b).mT` becomes `w @ cat(xs, 1) + b[:, None]`."""

    name = "use_matmul_fuse_lce_replace_first_LCE"
    inductor = "pre_grad.py:use_matmul_fuse_lce_replace_first_LCE"
    numerics: ClassVar[Declared] = BIAS_ADDED_AFTER

    def pattern(
        self, xs: list[Tensor], dim: int, wide: Tensor, bias: Tensor, a: int, b: int, c: int, d: int
    ) -> Any:
        return _compressed(aten.cat(xs, dim), wide, (a, b, c, d), bias)

    def where(
        self, xs: list[Tensor], dim: int, wide: Tensor, bias: Tensor, a: int, b: int, c: int, d: int
    ) -> Any:
        return _fits((xs[0].ndim, wide.ndim, bias.ndim), (a, b, c, d)) and _along_rows(dim)

    def replacement(self, xs: list[Tensor], wide: Tensor, bias: Tensor) -> Any:
        return aten.add(aten.matmul(wide, aten.cat(xs, 1)), aten.unsqueeze(bias, -1))


MATMUL_LCE = (UseMatmulLceReplaceSimpleLce, UseMatmulLceReplaceNormalLce)
FIRST_LCE = (FirstLce, BiasedFirstLce)

__all__ = [
    "FIRST_LCE",
    "MATMUL_LCE",
    "UseTritonLceReplaceNormalLce",
    "UseTritonLceReplaceSimpleLce",
]
