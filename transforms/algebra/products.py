"""Products of matrices of which only a part is read, or that cost less in another order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import torch

from xductor.ir import aten, prims
from xductor.transforms import Rewrite, Tensor, all_of, maybe, no, one_of
from xductor.transforms.algebra.numerics import OTHER_TERMS, SAME_TERMS


def _is_summed(size: Any) -> Any:
    """Whether there is something to sum: a factor in front of a sum of nothing is lost with it.

    In `(a @ b).sum(1)` an infinity of `a` is not read if `b` has no columns; in `a @ b.sum(1)` it
    is, times zero.
    """
    return size >= 1


def _diagonal_matrix(v: Any, n: Any, m: Any) -> Any:
    """The pattern of `torch.diag(v)` and `torch.diag_embed(v)`, as Inductor decomposes them."""
    on_diagonal = aten.eq(_count_to(n), aten.unsqueeze(_count_to(m), -1))
    row = maybe(aten.permute)(aten.unsqueeze(v, 0), [0, 1])
    kind: Any = {"dtype": ..., "layout": ..., "device": ..., "pin_memory": ...}
    nothing = one_of(aten.scalar_tensor(0, **kind), aten.full([], 0, **kind))
    return aten.where(maybe(aten.view.default)(on_diagonal, [m, n]), row, nothing)


def _is_diagonal(v: Tensor, b: Tensor, n: Any, m: Any) -> Any:
    """Whether the vector `v` fills the diagonal of a square matrix of the dtype of `b`."""
    if v.ndim != 1 or v.dtype != b.dtype:
        return no("what is on the diagonal is no vector")
    return all_of(v.shape[0] == n, v.shape[0] == m)


def _count_to(size: Any) -> Any:
    return prims.iota(size, start=0, step=1, dtype=torch.int64, device=..., requires_grad=...)


_SIZES = ((3, 4), (1, 5), (4, 1), (0, 3), (2, 0), (5, 5), (2, 2), (1, 1), (6, 2), (2, 7))


def _diagonals(sizes: Any) -> Iterator[dict[str, Any]]:
    for one in _random({"v": (n,), "b": sizes(n, other)} for n, other in _SIZES):
        yield {**one, "n": len(one["v"]), "m": len(one["v"])}


def _random(sizes: Iterable[dict[str, tuple[int, ...]]]) -> Iterator[dict[str, Any]]:
    """Random tensors of these sizes, by the names of variables, in float32 and float64."""
    for one in sizes:
        for dtype in (torch.float32, torch.float64):
            yield {name: torch.rand(size, dtype=dtype) for name, size in one.items()}


class DiagonalOfProduct(Rewrite):
    """The diagonal of `a @ b` is the row sums of `a * b.T`: `n` times fewer multiplications.

    For `a` of sizes `[n, k]` and `b` of `[k, n]`; the diagonal is copied, or summed to a trace.
    """

    name = "diagonal_of_product"
    stage = "joint"
    numerics = SAME_TERMS

    def pattern(self, a: Tensor, b: Tensor) -> Any:
        return aten.clone(aten.diagonal(aten.mm(a, b)), memory_format=torch.contiguous_format)

    def where(self, a: Tensor, b: Tensor) -> Any:
        return a.shape[0] == b.shape[1]

    def replacement(self, a: Tensor, b: Tensor) -> Any:
        return aten.sum(aten.mul(a, aten.permute(b, [1, 0])), [1])


class SumOfProduct(Rewrite):
    """The sum of all elements of `a @ b` is the dot product of the sums of `a` and of `b`."""

    name = "sum_of_product"
    stage = "joint"
    numerics = OTHER_TERMS

    def pattern(self, a: Tensor, b: Tensor) -> Any:
        return aten.sum(aten.mm(a, b))

    def where(self, a: Tensor, b: Tensor) -> Any:
        return _is_summed(a.shape[0]) & _is_summed(b.shape[1])

    def replacement(self, a: Tensor, b: Tensor) -> Any:
        return aten.sum(aten.mul(aten.sum(a, [0]), aten.sum(b, [1])))


class RowSumsOfProduct(Rewrite):
    """`(a @ b).sum(1)` is `a` times the row sums of `b`."""

    name = "sum_of_product"
    stage = "joint"
    numerics = OTHER_TERMS

    def pattern(self, a: Tensor, b: Tensor, dim: int) -> Any:
        return aten.sum(aten.mm(a, b), [dim])

    def where(self, b: Tensor, dim: int) -> Any:
        return _is_summed(b.shape[1]) if dim % 2 else no("the other dim is summed")

    def replacement(self, a: Tensor, b: Tensor) -> Any:
        return aten.sum(aten.mul(a, aten.sum(b, [1])), [1])


class ColumnSumsOfProduct(Rewrite):
    """`(a @ b).sum(0)` is the column sums of `a` times `b`."""

    name = "sum_of_product"
    stage = "joint"
    numerics = OTHER_TERMS

    def pattern(self, a: Tensor, b: Tensor, dim: int) -> Any:
        return aten.sum(aten.mm(a, b), [dim])

    def where(self, a: Tensor, dim: int) -> Any:
        return no("the other dim is summed") if dim % 2 else _is_summed(a.shape[0])

    def replacement(self, a: Tensor, b: Tensor) -> Any:
        return aten.squeeze(aten.mm(aten.sum(a, [0], True), b), 0)


class MeanOfProduct(Rewrite):
    """`(a @ b).mean(1)` is `a` times the row means of `b`."""

    name = "sum_of_product"
    stage = "joint"
    numerics = OTHER_TERMS

    def pattern(self, a: Tensor, b: Tensor, dim: int) -> Any:
        return aten.mean(aten.mm(a, b), [dim])

    def where(self, b: Tensor, dim: int) -> Any:
        if dim % 2 == 0:
            return no("the other dim is summed")
        return _is_summed(b.shape[0]) & _is_summed(b.shape[1])

    def replacement(self, a: Tensor, b: Tensor) -> Any:
        return aten.sum(aten.mul(a, aten.mean(b, [1])), [1])


def _from_left(a: Any, b: Any, c: Any) -> Any:
    return aten.mm(aten.mm(a, b), c)


def _from_right(a: Any, b: Any, c: Any) -> Any:
    return aten.mm(a, aten.mm(b, c))


def _multiplications(a: Tensor, c: Tensor) -> tuple[Any, Any]:
    """How many multiplications `(a @ b) @ c` takes, and `a @ (b @ c)`: `b` has sizes of both."""
    (m, k), (n, p) = a.shape, c.shape
    return m * k * n + m * n * p, k * n * p + m * k * p


class _Reassociated(Rewrite, abstract=True):
    """A product of three matrices, multiplied in the order that takes fewer multiplications.

    - `sizes`: sizes `m, k, n, p` of `[m, k] @ [k, n] @ [n, p]` for which it pays.
    """

    stage = "joint"
    numerics = OTHER_TERMS
    sizes: ClassVar[tuple[tuple[int, int, int, int], ...]]

    def where(self, b: Tensor) -> Any:
        return _is_summed(b.shape[0]) & _is_summed(b.shape[1])

    def instances(self) -> Iterator[dict[str, Any]]:
        """Operands for which it pays, which random ones rarely are."""
        return _random({"a": (m, k), "b": (k, n), "c": (n, p)} for m, k, n, p in self.sizes)


class ProductOfProduct(_Reassociated):
    """`(a @ b) @ c` is `a @ (b @ c)`, if that takes fewer multiplications."""

    name = "reassociate_product"
    sizes = ((8, 4, 6, 1), (5, 5, 5, 2), (6, 2, 3, 2), (3, 4, 7, 1))

    def pattern(self, a: Tensor, b: Tensor, c: Tensor) -> Any:
        return _from_left(a, b, c)

    def pays(self, a: Tensor, c: Tensor) -> Any:
        from_left, from_right = _multiplications(a, c)
        if from_right < from_left:
            return True
        return no("the product is as cheap from the left")

    def replacement(self, a: Tensor, b: Tensor, c: Tensor) -> Any:
        return _from_right(a, b, c)


class ProductWithProduct(_Reassociated):
    """`a @ (b @ c)` is `(a @ b) @ c`, if that takes fewer multiplications."""

    name = "reassociate_product"
    sizes = ((1, 6, 4, 8), (2, 5, 5, 5), (2, 3, 2, 6), (1, 7, 4, 3))

    def pattern(self, a: Tensor, b: Tensor, c: Tensor) -> Any:
        return _from_right(a, b, c)

    def pays(self, a: Tensor, c: Tensor) -> Any:
        from_left, from_right = _multiplications(a, c)
        if from_left < from_right:
            return True
        return no("the product is as cheap from the right")

    def replacement(self, a: Tensor, b: Tensor, c: Tensor) -> Any:
        return _from_left(a, b, c)


class VectorOfProduct(Rewrite):
    """`(a @ b) @ v`, which Inductor writes as a sum, is `a` times the vector `b @ v`."""

    name = "reassociate_product"
    stage = "joint"
    numerics = OTHER_TERMS

    def pattern(self, a: Tensor, b: Tensor, v: Tensor) -> Any:
        return aten.sum(aten.mul(aten.mm(a, b), v), [1])

    def where(self, a: Tensor, b: Tensor, v: Tensor) -> Any:
        if v.dtype != a.dtype:
            return no("the vector is of another dtype")
        if v.ndim != 1:
            return no("the product is not multiplied by a vector")
        return all_of(v.shape[0] == b.shape[1], _is_summed(b.shape[0]), _is_summed(b.shape[1]))

    def replacement(self, a: Tensor, b: Tensor, v: Tensor) -> Any:
        return aten.sum(aten.mul(a, aten.sum(aten.mul(b, v), [1])), [1])

    def instances(self) -> Iterator[dict[str, Any]]:
        """Vectors as long as the product is wide, which random ones rarely are."""
        chosen = ((8, 4, 6), (1, 5, 3), (5, 1, 1), (0, 3, 2), (3, 3, 3))
        return _random({"a": (m, k), "b": (k, n), "v": (n,)} for m, k, n in chosen)


class ProductOfOuter(Rewrite):
    """`(u[:, None] * v) @ b` is `u[:, None] * (v @ b)`: an outer product is never made."""

    name = "product_of_outer"
    stage = "joint"
    numerics = OTHER_TERMS

    def pattern(self, u: Tensor, v: Tensor, b: Tensor) -> Any:
        return aten.mm(aten.mul(u, v), b)

    def where(self, u: Tensor, v: Tensor, b: Tensor) -> Any:
        if u.ndim != 2 or v.ndim != 1 or u.dtype != v.dtype:
            return no("what is multiplied is no column and row")
        return (u.shape[1] == 1) & (v.shape[0] == b.shape[0]) & _is_summed(b.shape[0])

    def replacement(self, u: Tensor, v: Tensor, b: Tensor) -> Any:
        return aten.mul(u, aten.mm(aten.unsqueeze(v, 0), b))

    def instances(self) -> Iterator[dict[str, Any]]:
        """A column, a row and a matrix that fit, which random ones rarely do."""
        chosen = ((3, 4, 5), (1, 5, 3), (5, 1, 1), (0, 3, 2), (3, 3, 0))
        return _random({"u": (m, 1), "v": (k,), "b": (k, n)} for m, k, n in chosen)


class ProductOfDiagonal(Rewrite):
    """`diag(v) @ b` is `v[:, None] * b`: no product at all."""

    name = "product_of_diagonal"
    stage = "joint"
    numerics = OTHER_TERMS

    def pattern(self, v: Tensor, b: Tensor, n: int, m: int) -> Any:
        return aten.mm(_diagonal_matrix(v, n, m), b)

    def where(self, v: Tensor, b: Tensor, n: int, m: int) -> Any:
        return _is_diagonal(v, b, n, m)

    def replacement(self, v: Tensor, b: Tensor) -> Any:
        return aten.mul(aten.unsqueeze(v, 1), b)

    def instances(self) -> Iterator[dict[str, Any]]:
        return _diagonals(lambda n, other: (n, other))


class ProductWithDiagonal(Rewrite):
    """`a @ diag(v)` is `a * v`: no product at all."""

    name = "product_of_diagonal"
    stage = "joint"
    numerics = OTHER_TERMS

    def pattern(self, b: Tensor, v: Tensor, n: int, m: int) -> Any:
        return aten.mm(b, _diagonal_matrix(v, n, m))

    def where(self, v: Tensor, b: Tensor, n: int, m: int) -> Any:
        return _is_diagonal(v, b, n, m)

    def replacement(self, b: Tensor, v: Tensor) -> Any:
        return aten.mul(b, v)

    def instances(self) -> Iterator[dict[str, Any]]:
        return _diagonals(lambda n, other: (other, n))


class ProductOfTransposed(Rewrite):
    """`(b.T @ a.T).T` is `a @ b`, and is contiguous where the former is not."""

    name = "product_of_transposed"
    stage = "joint"
    numerics = SAME_TERMS

    def pattern(self, a: Tensor, b: Tensor) -> Any:
        product = aten.mm(aten.permute(b, [1, 0]), aten.permute(a, [1, 0]))
        return aten.clone(aten.permute(product, [1, 0]), memory_format=torch.contiguous_format)

    def replacement(self, a: Tensor, b: Tensor) -> Any:
        return aten.mm(a, b)


class SumOfProductsWithOneLeft(Rewrite):
    """`a @ b + a @ c` is `a @ (b + c)`: one product for two."""

    name = "factor_out_product"
    stage = "joint"
    numerics = OTHER_TERMS

    def pattern(self, a: Tensor, b: Tensor, c: Tensor) -> Any:
        return aten.add(aten.mm(a, b), aten.mm(a, c))

    def where(self, b: Tensor, c: Tensor) -> Any:
        return b.same_shape(c)

    def replacement(self, a: Tensor, b: Tensor, c: Tensor) -> Any:
        return aten.mm(a, aten.add(b, c))


class SumOfProductsWithOneRight(Rewrite):
    """`a @ c + b @ c` is `(a + b) @ c`: one product for two."""

    name = "factor_out_product"
    stage = "joint"
    numerics = OTHER_TERMS

    def pattern(self, a: Tensor, b: Tensor, c: Tensor) -> Any:
        return aten.add(aten.mm(a, c), aten.mm(b, c))

    def where(self, a: Tensor, b: Tensor) -> Any:
        return a.same_shape(b)

    def replacement(self, a: Tensor, b: Tensor, c: Tensor) -> Any:
        return aten.mm(aten.add(a, b), c)


SUM_OF_PRODUCT = (SumOfProduct, RowSumsOfProduct, ColumnSumsOfProduct, MeanOfProduct)
REASSOCIATE_PRODUCT = (ProductOfProduct, ProductWithProduct, VectorOfProduct)
PRODUCT_OF_DIAGONAL = (ProductOfDiagonal, ProductWithDiagonal)
FACTOR_OUT_PRODUCT = (SumOfProductsWithOneLeft, SumOfProductsWithOneRight)

__all__ = [
    "FACTOR_OUT_PRODUCT",
    "PRODUCT_OF_DIAGONAL",
    "REASSOCIATE_PRODUCT",
    "SUM_OF_PRODUCT",
    "DiagonalOfProduct",
    "ProductOfOuter",
    "ProductOfTransposed",
]
