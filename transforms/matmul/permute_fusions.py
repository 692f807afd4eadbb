"""`linear_permute_fusion` and its like: let a matmul read transposed operands as they are.

A linear copies a transposed input, and its transposed result is copied for its readers. A matmul
with transposed operands copies neither.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import torch

from xductor.ir import aten
from xductor.transforms import (
    APPROXIMATE,
    EXACT,
    REASSOCIATES,
    Rewrite,
    Tensor,
    no,
    one_of,
    shared,
)
from xductor.transforms.matching.spellings import PERMUTE_OR_TRANSPOSE
from xductor.transforms.passes.numerics import Declared

#: Complex dtypes are left out: when kernels sum in another order, infinities give other NaN.
REAL_SUMS: Declared = dict.fromkeys(
    (torch.float32, torch.float64, torch.float16, torch.bfloat16), REASSOCIATES
)

#: In 16 bits the product is rounded before the bias is added, which a linear does not do.
BIAS_ADDED_AFTER: Declared = {
    torch.float32: REASSOCIATES,
    torch.float64: REASSOCIATES,
    torch.float16: APPROXIMATE,
    torch.bfloat16: APPROXIMATE,
}


def exchanged(x: Any, dims: Any, dim0: Any, dim1: Any) -> Any:
    """The pattern of `x` with two dims swapped, by an op that may have other users."""
    return one_of(shared(aten.permute(x, dims)), shared(aten.transpose.int(x, dim0, dim1)))


def is_exchange(x: Tensor, dims: Sequence[int]) -> bool:
    """Whether `dims` permutes a batch of matrices by swapping its last two dims."""
    swapped = [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2]
    return x.ndim > 2 and [dim % x.ndim for dim in dims] == swapped


class _PermuteFusion(Rewrite, abstract=True):
    """Base of the rewrites here. Inductor does not run them on CPU."""

    stage = "pre_grad"
    devices = ("cuda", "xpu", "mps", "hpu", "mtia")


def _fits(
    x: Tensor, weight: Tensor, dims: list[int] | None, dim0: int | None, dim1: int | None
) -> Any:
    if weight.ndim != 2:
        return no("the weight is a vector")
    if dims is None and dim0 is not None and dim1 is not None:
        dims = list(range(x.ndim))
        dims[dim0], dims[dim1] = dims[dim1], dims[dim0]
    if dims is None or not is_exchange(x, dims):
        return no("dims other than the last two of a batch are exchanged")
    return True


class _LinearFusion(_PermuteFusion, abstract=True):
    through = (PERMUTE_OR_TRANSPOSE,)
    biased: ClassVar[bool] = False

    def instances(self) -> Iterator[dict[str, Any]]:
        """Operands that meet the conditions, which random ones rarely do.

        Most results have one column: one with more that is returned must keep the strides of a
        permute.
        """
        for dtype in (torch.float32, torch.float64):
            for batch in ((2,), (1,), (2, 3), (0,)):
                for rows, inner, outer in ((1, 4, 1), (4, 1, 1), (2, 3, 1), (5, 2, 1), (3, 4, 5)):
                    last = (inner, rows) if self.name == "permute_linear_fusion" else (rows, inner)
                    given = {
                        "x": torch.rand(*batch, *last, dtype=dtype),
                        "weight": torch.rand(outer, inner, dtype=dtype),
                        "dims": [*range(len(batch)), len(batch) + 1, len(batch)],
                        "dim0": -1,
                        "dim1": -2,
                    }
                    yield given | {"bias": torch.rand(outer, dtype=dtype)} if self.biased else given


class _PlainLinearFusion(_LinearFusion, abstract=True):
    numerics: ClassVar[Declared] = REAL_SUMS

    def where(
        self,
        x: Tensor,
        weight: Tensor,
        dims: list[int] | None,
        dim0: int | None,
        dim1: int | None,
    ) -> Any:
        return _fits(x, weight, dims, dim0, dim1)


class _BiasedLinearFusion(_LinearFusion, abstract=True):
    biased: ClassVar[bool] = True
    numerics: ClassVar[Declared] = BIAS_ADDED_AFTER

    def where(
        self,
        x: Tensor,
        weight: Tensor,
        bias: Tensor,
        dims: list[int] | None,
        dim0: int | None,
        dim1: int | None,
    ) -> Any:
        if bias.ndim != 1:
            return no("the bias is no vector")
        return _fits(x, weight, dims, dim0, dim1)


class LinearPermuteFusion(_PlainLinearFusion):
    """`linear(x, w).mT` becomes `w @ x.mT`, for `x` with a batch."""

    name = "linear_permute_fusion"
    inductor = "pre_grad.py:linear_permute_fusion"

    def pattern(self, x: Tensor, weight: Tensor, dims: list[int], dim0: int, dim1: int) -> Any:
        product = aten.linear(x, weight)
        return one_of(aten.permute(product, dims), aten.transpose.int(product, dim0, dim1))

    def replacement(self, x: Tensor, weight: Tensor) -> Any:
        return aten.matmul(weight, aten.transpose.int(x, -1, -2))


class BiasedLinearPermuteFusion(_BiasedLinearFusion):
    """`linear(x, w, b).mT` becomes `w @ x.mT + b[:, None]`, for `x` with a batch."""

    name = "linear_permute_fusion"
    inductor = "pre_grad.py:linear_permute_fusion"

    def pattern(
        self, x: Tensor, weight: Tensor, bias: Tensor, dims: list[int], dim0: int, dim1: int
    ) -> Any:
        product = aten.linear(x, weight, bias)
        return one_of(aten.permute(product, dims), aten.transpose.int(product, dim0, dim1))

    def replacement(self, x: Tensor, weight: Tensor, bias: Tensor) -> Any:
        product = aten.matmul(weight, aten.transpose.int(x, -1, -2))
        return aten.add(product, aten.unsqueeze(bias, -1))


class PermuteLinearFusion(_PlainLinearFusion):
    """`linear(x.mT, w)` becomes `x.mT @ w.T`, for `x` with a batch; `x` is not copied."""

    name = "permute_linear_fusion"
    inductor = "pre_grad.py:permute_linear_fusion"

    def pattern(self, x: Tensor, weight: Tensor, dims: list[int], dim0: int, dim1: int) -> Any:
        return aten.linear(exchanged(x, dims, dim0, dim1), weight)

    def replacement(self, x: Tensor, weight: Tensor) -> Any:
        return aten.matmul(aten.transpose.int(x, -1, -2), aten.t(weight))


class BiasedPermuteLinearFusion(_BiasedLinearFusion):
    """`linear(x.mT, w, b)` becomes `x.mT @ w.T + b`, for `x` with a batch; `x` is not copied."""

    name = "permute_linear_fusion"
    inductor = "pre_grad.py:permute_linear_fusion"

    def pattern(
        self, x: Tensor, weight: Tensor, bias: Tensor, dims: list[int], dim0: int, dim1: int
    ) -> Any:
        return aten.linear(exchanged(x, dims, dim0, dim1), weight, bias)

    def replacement(self, x: Tensor, weight: Tensor, bias: Tensor) -> Any:
        return aten.add(aten.matmul(aten.transpose.int(x, -1, -2), aten.t(weight)), bias)


class PermuteMatmulFusion(_PermuteFusion):
    """Permutes of matmul operands that swap the last two dims become transposes.

    Later stages pass a transposed operand to the kernel without a copy.
    """

    name = "permute_matmul_fusion"
    inductor = "pre_grad.py:permute_matmul_fusion"
    numerics = EXACT

    def pattern(self, a: Tensor, b: Tensor, left: list[int], right: list[int]) -> Any:
        permuted_a, permuted_b = shared(aten.permute(a, left)), shared(aten.permute(b, right))
        return one_of(
            *[
                product(*operands)
                for operands in ((permuted_a, permuted_b), (permuted_a, b), (a, permuted_b))
                for product in (aten.matmul, aten.bmm)
            ]
        )

    def where(self, a: Tensor, b: Tensor, left: list[int] | None, right: list[int] | None) -> Any:
        for x, dims in ((a, left), (b, right)):
            if dims is not None and not is_exchange(x, dims):
                return no("dims other than the last two of a batch are exchanged")
        return True

    def replacement(
        self, a: Tensor, b: Tensor, left: list[int] | None, right: list[int] | None
    ) -> Any:
        return aten.matmul(
            a if left is None else aten.transpose.int(a, -1, -2),
            b if right is None else aten.transpose.int(b, -1, -2),
        )


LINEAR_PERMUTE_FUSION = (LinearPermuteFusion, BiasedLinearPermuteFusion)
PERMUTE_LINEAR_FUSION = (PermuteLinearFusion, BiasedPermuteLinearFusion)

__all__ = ["LINEAR_PERMUTE_FUSION", "PERMUTE_LINEAR_FUSION", "PermuteMatmulFusion"]
