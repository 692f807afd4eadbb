"""`thin_products`: products with vectors that fuse with what is around them.

A library's kernel reads its factors from memory. If a matrix was gathered for each row, as the
weights of a token's experts are, the copies are many times as large as the matrices. As a sum, the
product reads the matrices where they lie.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import torch

from xductor.ir import aten
from xductor.transforms import REASSOCIATES, ROUNDS_LESS_OFTEN, Rewrite, Tensor
from xductor.transforms.analysis.dtypes import NARROW_FLOATS
from xductor.transforms.editing.widening import narrowed
from xductor.transforms.matmul.decompose_mem_bound_mm import sum_of_products
from xductor.transforms.passes.numerics import Declared

_FLOATS = (torch.float32, torch.float64, *NARROW_FLOATS)


class _Thin(Rewrite, abstract=True):
    """Base of the rewrites here: library kernels of CPUs are as fast as generated loops."""

    stage = "joint"
    devices = ("cuda", "xpu")
    numerics: ClassVar[Declared] = {
        **dict.fromkeys((torch.float32, torch.float64), REASSOCIATES),
        **dict.fromkeys(NARROW_FLOATS, ROUNDS_LESS_OFTEN),
    }


class OuterProducts(_Thin):
    """`bmm` of columns and rows is their broadcast product."""

    name = "thin_products"

    def pattern(self, mat1: Tensor, mat2: Tensor) -> Any:
        return aten.bmm(mat1, mat2)

    def where(self, mat1: Tensor) -> Any:
        return mat1.shape[2] == 1

    def replacement(self, mat1: Tensor, mat2: Tensor) -> Any:
        return aten.mul(mat1, mat2)

    def instances(self) -> Iterator[dict[str, Any]]:
        """Columns and rows."""
        return _bmms((3, 4, 1, 2), (1, 1, 1, 1), (2, 0, 1, 3), (2, 5, 1, 1), (1, 2, 1, 7))


class GatheredMatrices(_Thin):
    """`bmm` of matrices that were gathered and of columns is a sum of products."""

    name = "thin_products"

    def pattern(self, x: Tensor, indices: Any, mat2: Tensor) -> Any:
        gathered = aten.index(x, indices)
        return aten.bmm(gathered, mat2), gathered

    def where(self, x: Tensor, mat2: Tensor) -> Any:
        return mat2.shape[2] == 1

    def replacement(self, x: Tensor, indices: Any, mat2: Tensor) -> Any:
        gathered = aten.index(x, indices)
        return narrowed(sum_of_products(gathered, mat2), x.dtype), gathered

    def instances(self) -> Iterator[dict[str, Any]]:
        """A matrix for each column."""
        return _gathered(transposed=False)


class GatheredTransposedMatrices(_Thin):
    """The same with matrices that were transposed behind the gather."""

    name = "thin_products"

    def pattern(self, x: Tensor, indices: Any, mat2: Tensor) -> Any:
        gathered = aten.index(x, indices)
        return aten.bmm(aten.permute(gathered, [0, 2, 1]), mat2), gathered

    def where(self, x: Tensor, mat2: Tensor) -> Any:
        return mat2.shape[2] == 1

    def replacement(self, x: Tensor, indices: Any, mat2: Tensor) -> Any:
        gathered = aten.index(x, indices)
        turned = aten.permute(gathered, [0, 2, 1])
        return narrowed(sum_of_products(turned, mat2), x.dtype), gathered

    def instances(self) -> Iterator[dict[str, Any]]:
        """A matrix for each column."""
        return _gathered(transposed=True)


def _bmms(*sizes: tuple[int, int, int, int]) -> Iterator[dict[str, Any]]:
    generator = torch.Generator().manual_seed(0)
    for dtype in _FLOATS:
        for b, m, k, n in sizes:
            mat1, mat2 = (
                torch.randn(one, generator=generator).to(dtype) for one in ((b, m, k), (b, k, n))
            )
            yield {"mat1": mat1, "mat2": mat2}


def _gathered(*, transposed: bool) -> Iterator[dict[str, Any]]:
    generator = torch.Generator().manual_seed(0)
    sizes = ((3, 8, 4, 5), (1, 2, 1, 1), (4, 3, 1, 6), (2, 5, 7, 1), (2, 1, 3, 0), (5, 9, 2, 33))
    for dtype in _FLOATS:
        for experts, tokens, m, k in sizes:
            x = torch.randn(experts, m, k, generator=generator).to(dtype)
            index = torch.randint(-experts, experts, (tokens,), generator=generator)
            mat2 = torch.randn(tokens, m if transposed else k, 1, generator=generator).to(dtype)
            for place in (index, index.to(torch.int32)):
                yield {"x": x, "indices": [place], "mat2": mat2}


THIN_PRODUCTS = (OuterProducts, GatheredMatrices, GatheredTransposedMatrices)

__all__ = [
    "THIN_PRODUCTS",
    "GatheredMatrices",
    "GatheredTransposedMatrices",
    "OuterProducts",
]
