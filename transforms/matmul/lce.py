"""Linear compressed embeddings: linears over the middle dim of `[B, N, D]`, as one matmul.

The weight stands on the left, so that neither the input nor the result is transposed. The passes
that are called after Triton do the same: a matmul is tuned over Triton's kernels among others.
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
    """The pattern of a batch of matrices transposed, as it is mostly written."""
    return one_of(
        aten.permute(x, [0, 2, 1]),
        aten.transpose.int(x, 1, 2),
        aten.transpose.int(x, 2, 1),
        aten.transpose.int(x, -1, -2),
    )


class _Lce(Rewrite, abstract=True):
    """A linear over the middle dim, with the transposes around it."""

    stage = "pre_grad"

    def instances(self) -> Iterator[dict[str, Any]]:
        """Embeddings that fit, which seldom come by themselves."""
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
    numerics: ClassVar[Declared] = REAL_SUMS

    def pattern(self, x: Tensor, weight: Tensor) -> Any:
        return _transposed(aten.linear(_transposed(x), weight))

    def where(self, x: Tensor, weight: Tensor) -> Any:
        return (x.ndim == 3 and weight.ndim == 2) or no("it is no linear of matrices")

    def replacement(self, x: Tensor, weight: Tensor) -> Any:
        return aten.matmul(weight, x)


class _Biased(_Lce, abstract=True):
    numerics: ClassVar[Declared] = BIAS_ADDED_AFTER

    def pattern(self, x: Tensor, weight: Tensor, bias: Tensor) -> Any:
        return _transposed(aten.linear(_transposed(x), weight, bias))

    def where(self, x: Tensor, weight: Tensor, bias: Tensor) -> Any:
        ranks = x.ndim, weight.ndim, bias.ndim
        return ranks == (3, 2, 1) or no("it is no linear of matrices")

    def replacement(self, x: Tensor, weight: Tensor, bias: Tensor) -> Any:
        return aten.add(aten.matmul(weight, x), aten.unsqueeze(bias, -1))


class UseTritonLceReplaceSimpleLce(_Plain):
    """A linear over the middle dim without a bias."""

    name = "use_triton_lce_replace_simple_LCE"
    inductor = "pre_grad.py:use_triton_lce_replace_simple_LCE"


class UseTritonLceReplaceNormalLce(_Biased):
    """A linear over the middle dim with a bias."""

    name = "use_triton_lce_replace_normal_LCE"
    inductor = "pre_grad.py:use_triton_lce_replace_normal_LCE"


class UseMatmulLceReplaceSimpleLce(_Plain):
    """A linear over the middle dim without a bias, as part of `use_matmul_lce_...`."""

    name = "use_matmul_lce_replace_normal_LCE"
    inductor = "pre_grad.py:use_matmul_lce_replace_normal_LCE"


class UseMatmulLceReplaceNormalLce(_Biased):
    """A linear over the middle dim with a bias."""

    name = "use_matmul_lce_replace_normal_LCE"
    inductor = "pre_grad.py:use_matmul_lce_replace_normal_LCE"


def _turned(x: Any) -> Any:
    return one_of(aten.permute(x, [0, 2, 1]), aten.transpose.int(x, 1, 2))


class FirstLce(_Lce):
    """A linear over the rows of embeddings that are put together just before it."""

    name = "use_matmul_fuse_lce_replace_first_LCE"
    inductor = "pre_grad.py:use_matmul_fuse_lce_replace_first_LCE"
    numerics: ClassVar[Declared] = REAL_SUMS

    def pattern(self, xs: list[Tensor], wide: Tensor) -> Any:
        return _turned(aten.linear(_turned(aten.cat(xs, 1)), wide))

    def where(self, xs: list[Tensor], wide: Tensor) -> Any:
        return (xs[0].ndim == 3 and wide.ndim == 2) or no("it is no linear of matrices")

    def replacement(self, xs: list[Tensor], wide: Tensor) -> Any:
        return aten.matmul(wide, aten.cat(xs, 1))


class BiasedFirstLce(_Lce):
    """The same with a bias."""

    name = "use_matmul_fuse_lce_replace_first_LCE"
    inductor = "pre_grad.py:use_matmul_fuse_lce_replace_first_LCE"
    numerics: ClassVar[Declared] = BIAS_ADDED_AFTER

    def pattern(self, xs: list[Tensor], wide: Tensor, bias: Tensor) -> Any:
        return _turned(aten.linear(_turned(aten.cat(xs, 1)), wide, bias))

    def where(self, xs: list[Tensor], wide: Tensor, bias: Tensor) -> Any:
        ranks = xs[0].ndim, wide.ndim, bias.ndim
        return ranks == (3, 2, 1) or no("it is no linear of matrices")

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
