"""`onednn_linear`: products of weights that change between calls, by oneDNN where it is faster.

On a CPU `aten.mm` of float32 is MKL's. MKL uses vectors of 256 bits on processors that are not
Intel's; oneDNN uses all 512. `aten.addmm` of bfloat16 is oneDNN's, but ATen first copies the bias
into each row of the result, where oneDNN's linear adds it to the sums.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any, ClassVar

import torch
from torch.fx import Graph, Node

from xductor.ir import aten, ops
from xductor.transforms import REASSOCIATES, Rewrite, Tensor, all_of, any_of, known, no
from xductor.transforms.onednn import operators as operators  # registers the operators
from xductor.transforms.passes.numerics import Declared

#: As many products of two numbers take oneDNN less time than MKL, its calls included.
_LEAST_FLOAT32 = 1 << 21
#: The same where oneDNN's linear first copies the data into rows without gaps.
_LEAST_COPIED = 1 << 23
_LEAST_COLUMNS_COPIED = 128
#: Below this many rows oneDNN reads a weight that lies in columns slowly.
_LEAST_ROWS = 4
#: Larger ones of bfloat16 are oneDNN's in ATen too, which takes numbers below 2**-126 for zeros.
_ATEN_BFLOAT16 = 1 << 12
_LEAST_COLUMNS_BFLOAT16 = 16
#: Products and weights that take so long that a copied bias makes no difference.
_MOST_BFLOAT16 = 1 << 26
_LARGEST_WEIGHT_BFLOAT16 = 1 << 20


class _OneDnnLinear(Rewrite, abstract=True):
    """Base of the rewrites here, with their options.

    - `mkl_is_narrow`: whether products of float32 are MKL's, in vectors half as wide as oneDNN's.
    - `copies_bias`: whether `addmm` of bfloat16 is oneDNN's product, to which a copied bias is
      added; measured on processors without AMX.
    """

    stage = "post_grad"
    devices = ("cpu",)

    def __init__(self, mkl_is_narrow: bool = True, copies_bias: bool = True) -> None:
        self._mkl_is_narrow = mkl_is_narrow
        self._copies_bias = copies_bias

    def _is_right(self, mat1: Tensor, mat2: Tensor) -> Any:
        """oneDNN has no sums of nothing, and reads weights without gaps, in rows or in columns."""
        in_columns = all_of(mat2.stride[0] == 1, mat2.stride[1] == mat2.shape[0])
        return all_of(mat1.shape[1] > 0, any_of(mat2.is_contiguous(), in_columns))

    def _pays(self, mat1: Tensor, mat2: Tensor) -> Any:
        sizes = (*mat1.shape, mat2.shape[1])
        # oneDNN prepares each product of new sizes for a millisecond, more than many calls gain.
        if not all(size.is_static for size in sizes):
            return no("the sizes of the product are not known while compiling")
        rows, inner, columns = (size.__index__() for size in sizes)
        if mat2.is_constant:
            return no("a weight that the graph holds is packed")
        if mat1.dtype == torch.bfloat16:
            return self._pays_in_bfloat16(rows, inner, columns, mat1)
        return self._pays_in_float32(rows, inner, columns, mat1, mat2)

    def _pays_in_bfloat16(self, rows: int, inner: int, columns: int, mat1: Tensor) -> Any:
        if not self._copies_bias:
            return no("ATen is not known to be slower than oneDNN here")
        if not known(mat1.is_contiguous()):
            return no("the data would be copied")
        weight = inner * columns
        if rows * weight > _MOST_BFLOAT16 or weight > _LARGEST_WEIGHT_BFLOAT16:
            return no("the product is so large that the bias makes no difference")
        return columns >= _LEAST_COLUMNS_BFLOAT16

    def _pays_in_float32(
        self, rows: int, inner: int, columns: int, mat1: Tensor, mat2: Tensor
    ) -> Any:
        if not self._mkl_is_narrow:
            return no("MKL is not known to be slower than oneDNN here")
        products = rows * inner * columns
        if rows < _LEAST_ROWS and known(mat2.is_contiguous()):
            return no("few rows, and a weight that lies in columns")
        if known(mat1.is_contiguous()):
            return products >= _LEAST_FLOAT32
        if products < _LEAST_COPIED or columns < _LEAST_COLUMNS_COPIED:
            return no("the data would be copied for a small product")
        return True


class OneDnnLinearOfMm(_OneDnnLinear):
    """`mm(x, w)` is a linear without a bias. In bfloat16 ATen calls the same kernel."""

    name = "onednn_linear"
    numerics: ClassVar[Declared] = {torch.float32: REASSOCIATES}

    def pattern(self, mat1: Tensor, mat2: Tensor) -> Any:
        return aten.mm(mat1, mat2)

    def where(self, mat1: Tensor, mat2: Tensor) -> Any:
        return self._is_right(mat1, mat2)

    def pays(self, mat1: Tensor, mat2: Tensor) -> Any:
        return self._pays(mat1, mat2)

    def replacement(self, mat1: Tensor, mat2: Tensor) -> Any:
        return ops.xductor.onednn_mm.default(mat1, mat2, None)

    def instances(self) -> Iterator[dict[str, Any]]:
        """Factors that lie in rows or in columns."""
        for mat1, mat2, _ in _factors(torch.float32):
            yield {"mat1": mat1, "mat2": mat2}


class OneDnnLinearOfAddmm(_OneDnnLinear):
    """`addmm(bias, x, w)` with a bias for each column is a linear."""

    name = "onednn_linear"
    numerics: ClassVar[Declared] = dict.fromkeys((torch.float32, torch.bfloat16), REASSOCIATES)

    def pattern(self, input: Tensor, mat1: Tensor, mat2: Tensor) -> Any:
        return aten.addmm(input, mat1, mat2)

    def where(self, input: Tensor, mat1: Tensor, mat2: Tensor) -> Any:
        if input.ndim != 1 or not input.same_dtype(mat2):
            return no("what is added is no vector of the weight's dtype")
        if mat1.dtype == torch.bfloat16:
            products = mat1.shape[0] * mat1.shape[1] * mat2.shape[1]
            if not known(products > _ATEN_BFLOAT16):
                return no("so small a product may be no oneDNN's in ATen")
        is_bias = all_of(input.shape[0] == mat2.shape[1], input.is_contiguous())
        return all_of(is_bias, self._is_right(mat1, mat2))

    def pays(self, input: Tensor, mat1: Tensor, mat2: Tensor) -> Any:
        return self._pays(mat1, mat2)

    def replacement(self, input: Tensor, mat1: Tensor, mat2: Tensor) -> Any:
        return ops.xductor.onednn_mm.default(mat1, mat2, input)

    def instances(self) -> Iterator[dict[str, Any]]:
        """Factors that lie in rows or in columns."""
        for dtype in (torch.float32, torch.bfloat16):
            for mat1, mat2, bias in _factors(dtype):
                yield {"input": bias, "mat1": mat1, "mat2": mat2}


def _factors(dtype: torch.dtype) -> Iterator[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    generator = torch.Generator().manual_seed(0)

    def random(*sizes: int) -> torch.Tensor:
        return torch.randn(sizes, generator=generator).to(dtype)

    for m, k, n in ((4, 33, 5), (1, 7, 1), (3, 1, 8), (17, 16, 16), (1, 300, 40), (90, 50, 1)):
        if dtype is torch.bfloat16 and m * k * n <= _ATEN_BFLOAT16:
            continue
        for mat1 in (random(m, k), random(k, m).t()):
            for mat2 in (random(k, n), random(n, k).t()):
                yield mat1, mat2, random(n)


def has_large_products(graph: Graph, mkl_is_narrow: bool, copies_bias: bool) -> bool:
    """Whether a product of an FX graph is large enough, as far as can be told without lowering.

    True promises nothing; False promises that no rewrite here pays.
    """
    return any(
        _may_pay(node.meta.get("val"), _data_of(node), mkl_is_narrow, copies_bias)
        for target in _DATA
        for node in graph.find_nodes(op="call_function", target=target, sort=False)
    )


#: Where products of an FX graph have their first factor, and by which name.
_DATA = {torch.ops.aten.mm.default: (0, "self"), torch.ops.aten.addmm.default: (1, "mat1")}


def _data_of(node: Node) -> Any:
    place, name = _DATA[node.target]  # type: ignore[index]
    mat1 = node.args[place] if place < len(node.args) else node.kwargs.get(name)
    return mat1.meta.get("val") if isinstance(mat1, Node) else None


def _may_pay(value: Any, data: Any, mkl_is_narrow: bool, copies_bias: bool) -> bool:
    if not isinstance(value, torch.Tensor) or not isinstance(data, torch.Tensor):
        return True
    sizes = (*value.shape, data.shape[1])
    if value.device.type != "cpu" or any(isinstance(size, torch.SymInt) for size in sizes):
        return False
    if value.dtype == torch.bfloat16:
        return copies_bias and _ATEN_BFLOAT16 < prod(sizes) <= _MOST_BFLOAT16
    return mkl_is_narrow and value.dtype == torch.float32 and prod(sizes) >= _LEAST_FLOAT32


ONEDNN_LINEAR = (OneDnnLinearOfMm, OneDnnLinearOfAddmm)

__all__ = ["ONEDNN_LINEAR", "OneDnnLinearOfAddmm", "OneDnnLinearOfMm", "has_large_products"]
