"""Linear compressed embeddings: a linear over the middle dim of `[B, N, D]` becomes a matmul.

The weight becomes the left operand, so that neither the input nor the result is transposed. The
passes named after Triton do the same: autotuning of matmul tries Triton kernels too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import torch

from xductor.ir import aten
from xductor.transforms import Rewrite, Tensor, no, one_of
from xductor.transforms.matmul.permute_fusions import BIAS_ADDED_AFTER, REAL_SUMS
from xductor.transforms.passes.numerics import Declared


def _transposed(x: Any) -> Any:
    """The pattern of a transposed batch of matrices, in its usual spellings."""
    return one_of(
        aten.permute(x, [0, 2, 1]),
        aten.transpose.int(x, 1, 2),
        aten.transpose.int(x, 2, 1),
        aten.transpose.int(x, -1, -2),
    )


class _Lce(Rewrite, abstract=True):
    """Base of the rewrites here."""

    stage = "pre_grad"

    def instances(self) -> Iterator[dict[str, Any]]:
        """Operands that meet the conditions, which random ones rarely do."""
        for dtype in (torch.float32, torch.float64):
            for batch, rows, columns, outer in ((2, 3, 4, 5), (1, 1, 4, 2), (3, 4, 1, 1)):
                for count in (1, 2, 3):
                    x = torch.rand(batch, rows, columns, dtype=dtype)
                    yield {
                        "x": x,
                        "xs": [x] * count,
                        "weight": torch.rand(outer, rows, dtype=dtype),
                        "wide": torch.rand(outer, rows * count, dtype=dtype),
                        "bias": torch.rand(outer, dtype=dtype),
                    }


class _Plain(_Lce, abstract=True):
    """`linear(x.mT, w).mT` becomes `w @ x`."""

    numerics: ClassVar[Declared] = REAL_SUMS

    def pattern(self, x: Tensor, weight: Tensor) -> Any:
        return _transposed(aten.linear(_transposed(x), weight))

    def where(self, x: Tensor, weight: Tensor) -> Any:
        return (x.ndim == 3 and weight.ndim == 2) or no(
            "the operands are not those of a linear layer over a batch"
        )

    def replacement(self, x: Tensor, weight: Tensor) -> Any:
        return aten.matmul(weight, x)


class _Biased(_Lce, abstract=True):
    """`linear(x.mT, w, b).mT` becomes `w @ x + b[:, None]`."""

    numerics: ClassVar[Declared] = BIAS_ADDED_AFTER

    def pattern(self, x: Tensor, weight: Tensor, bias: Tensor) -> Any:
        return _transposed(aten.linear(_transposed(x), weight, bias))

    def where(self, x: Tensor, weight: Tensor, bias: Tensor) -> Any:
        ranks = x.ndim, weight.ndim, bias.ndim
        return ranks == (3, 2, 1) or no("the operands are not those of a linear layer over a batch")

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


def _turned(x: Any) -> Any:
    return one_of(aten.permute(x, [0, 2, 1]), aten.transpose.int(x, 1, 2))


class FirstLce(_Lce):
    """`linear(cat(xs, 1).mT, w).mT` becomes `w @ cat(xs, 1)`."""

    name = "use_matmul_fuse_lce_replace_first_LCE"
    inductor = "pre_grad.py:use_matmul_fuse_lce_replace_first_LCE"
    numerics: ClassVar[Declared] = REAL_SUMS

    def pattern(self, xs: list[Tensor], wide: Tensor) -> Any:
        return _turned(aten.linear(_turned(aten.cat(xs, 1)), wide))

    def where(self, xs: list[Tensor], wide: Tensor) -> Any:
        return (xs[0].ndim == 3 and wide.ndim == 2) or no(
            "the operands are not those of a linear layer over a batch"
        )

    def replacement(self, xs: list[Tensor], wide: Tensor) -> Any:
        return aten.matmul(wide, aten.cat(xs, 1))


class BiasedFirstLce(_Lce):
    """`linear(cat(xs, 1).mT, w, b).mT` becomes `w @ cat(xs, 1) + b[:, None]`."""

    name = "use_matmul_fuse_lce_replace_first_LCE"
    inductor = "pre_grad.py:use_matmul_fuse_lce_replace_first_LCE"
    numerics: ClassVar[Declared] = BIAS_ADDED_AFTER

    def pattern(self, xs: list[Tensor], wide: Tensor, bias: Tensor) -> Any:
        return _turned(aten.linear(_turned(aten.cat(xs, 1)), wide, bias))

    def where(self, xs: list[Tensor], wide: Tensor, bias: Tensor) -> Any:
        ranks = xs[0].ndim, wide.ndim, bias.ndim
        return ranks == (3, 2, 1) or no("the operands are not those of a linear layer over a batch")

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
