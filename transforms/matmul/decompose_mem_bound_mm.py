"""`decompose_mm`, `decompose_bmm`, `decompose_addmm`: products bound by memory as sums of products.

Code generation then has one loop that fuses with what stands around, and no call of a library. Of
16 bits the products are taken and summed up in float32, as the library does it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from xductor.ir import aten, prims
from xductor.transforms import (
    EXACT,
    REASSOCIATES,
    Rewrite,
    Scalar,
    Tensor,
    all_of,
    any_of,
    no,
    one_of,
)
from xductor.transforms.analysis.dtypes import INTEGERS, NARROW_FLOATS, REAL_NUMBERS
from xductor.transforms.matmul.factors import is_nothing
from xductor.transforms.passes.numerics import Declared
from xductor.transforms.rewriting.decisions import Fact

_UNBACKED = "a size is known only when the program runs"


@dataclass(frozen=True)
class _Bounds:
    """The sizes of products that are bound by memory, by device."""

    gpu_first: int
    gpu_others: int
    cpu_first: int
    cpu_others: int
    takes_unknown: bool

    def holds_for_matrices(self, mat1: Tensor, mat2: Tensor, *others: Tensor) -> Any:
        """Whether a product of two matrices is within them."""
        if any(one.is_unbacked for one in (mat1, mat2, *others)):
            return no(_UNBACKED)
        match mat1.device.type:
            case "cuda" | "xpu":
                few = [size < self.gpu_others for size in mat2.shape]
                return self._taken(mat1.shape[0] >= self.gpu_first, *few)
            case "cpu":
                few = [size <= self.cpu_others for size in mat2.shape]
                return self._taken(mat1.shape[0] <= self.cpu_first, *few)
            case other:
                return no(f"whether it pays on {other} is not known")

    def holds_for_batches(self, mat1: Tensor, mat2: Tensor) -> Any:
        """The same of a batch of products: two of the three sizes are small on a GPU."""
        if mat1.is_unbacked or mat2.is_unbacked:
            return no(_UNBACKED)
        match mat1.device.type:
            case "cuda" | "xpu":
                m, k, n = (size < self.gpu_others for size in (*mat1.shape[1:], mat2.shape[2]))
                two = any_of(all_of(m, k), all_of(m, n), all_of(k, n))
                return self._taken(mat1.shape[0] >= self.gpu_first, two)
            case "cpu":
                return self._taken(mat1.shape[0] <= self.cpu_first)
            case other:
                return no(f"whether it pays on {other} is not known")

    def _taken(self, *bounds: Fact) -> Any:
        found = all_of(*bounds)
        return True if found.value is None and self.takes_unknown else found


class _Decomposed(Rewrite, abstract=True):
    """What the three have in common.

    - `min_first_dimension_decomposition`, `max_other_dimension_decomposition`: on a GPU, how many
      rows (or matrices) there are at least, and below what the other sizes are.
    - `cpu_max_first_dimension_decomposition`, `cpu_max_other_dimension_decomposition`: on CPU, how
      many rows (or matrices) and how much of the other sizes there may be.
    - `skip_dynamic_shape_dim_check`: take sizes that are not known to be out of these bounds, too.
    """

    stage = "post_grad"

    def __init__(
        self,
        min_first_dimension_decomposition: int = 10240,
        max_other_dimension_decomposition: int = 32,
        cpu_max_first_dimension_decomposition: int = 1,
        cpu_max_other_dimension_decomposition: int = 2048,
        skip_dynamic_shape_dim_check: bool = False,
    ) -> None:
        self._bounds = _Bounds(
            min_first_dimension_decomposition,
            max_other_dimension_decomposition,
            cpu_max_first_dimension_decomposition,
            cpu_max_other_dimension_decomposition,
            skip_dynamic_shape_dim_check,
        )


class DecomposeMm(_Decomposed):
    """mm as a sum of products."""

    inductor = "decompose_mem_bound_mm.py:decompose_mm"
    counter = "decompose_mm"
    numerics: ClassVar[Declared] = {
        **dict.fromkeys(INTEGERS, EXACT),
        **dict.fromkeys((torch.float32, torch.float64, *NARROW_FLOATS), REASSOCIATES),
    }

    def pattern(self, mat1: Tensor, mat2: Tensor) -> Any:
        return aten.mm(mat1, mat2)

    def pays(self, mat1: Tensor, mat2: Tensor) -> Any:
        return self._bounds.holds_for_matrices(mat1, mat2)

    def replacement(self, mat1: Tensor, mat2: Tensor) -> Any:
        return _narrowed(_product(mat1, mat2), mat1.dtype)

    def instances(self) -> Iterator[dict[str, Any]]:
        """Operands that fit, which seldom come of themselves."""
        for dtype in REAL_NUMBERS:
            for m, k, n in ((1, 33, 5), (4, 7, 3), (1, 1, 1), (3, 0, 2), (1, 500, 3)):
                given = [_random(*sizes, dtype=dtype) for sizes in ((m, k), (k, n))]
                yield dict(zip(("mat1", "mat2"), given, strict=True))


class DecomposeBmm(_Decomposed):
    """bmm as a sum of products."""

    inductor = "decompose_mem_bound_mm.py:decompose_bmm"
    counter = "decompose_bmm"
    numerics = DecomposeMm.numerics

    def pattern(self, mat1: Tensor, mat2: Tensor) -> Any:
        return aten.bmm(mat1, mat2)

    def pays(self, mat1: Tensor, mat2: Tensor) -> Any:
        return self._bounds.holds_for_batches(mat1, mat2)

    def replacement(self, mat1: Tensor, mat2: Tensor) -> Any:
        return _narrowed(_product(mat1, mat2), mat1.dtype)

    def instances(self) -> Iterator[dict[str, Any]]:
        """Operands that fit, which seldom come of themselves."""
        for dtype in REAL_NUMBERS:
            for b, m, k, n in ((1, 2, 33, 5), (3, 4, 7, 3), (1, 1, 1, 1), (2, 3, 0, 2)):
                given = [_random(*sizes, dtype=dtype) for sizes in ((b, m, k), (b, k, n))]
                yield dict(zip(("mat1", "mat2"), given, strict=True))


class DecomposeAddmm(_Decomposed):
    """addmm as a sum of products and what is added."""

    inductor = "decompose_mem_bound_mm.py:decompose_addmm"
    counter = "decompose_addmm"
    numerics = DecomposeMm.numerics

    def pattern(self, input: Tensor, mat1: Tensor, mat2: Tensor) -> Any:
        return aten.addmm(input, mat1, mat2)

    def pays(self, input: Tensor, mat1: Tensor, mat2: Tensor) -> Any:
        return self._bounds.holds_for_matrices(mat1, mat2, input)

    def replacement(self, input: Tensor, mat1: Tensor, mat2: Tensor) -> Any:
        return _narrowed(aten.add(_product(mat1, mat2), _widened(input)), mat1.dtype)

    def instances(self) -> Iterator[dict[str, Any]]:
        """Operands that fit, which seldom come of themselves."""
        return _addmms()


class DecomposeAddmmWithFactors(_Decomposed):
    """The same with a factor for each."""

    name = "decompose_addmm"
    inductor = "decompose_mem_bound_mm.py:decompose_addmm"
    counter = "decompose_addmm"
    numerics = DecomposeMm.numerics

    def pattern(
        self, input: Tensor, mat1: Tensor, mat2: Tensor, beta: Scalar, alpha: Scalar
    ) -> Any:
        return aten.addmm(input, mat1, mat2, beta=beta, alpha=alpha)

    def where(self, beta: Scalar, alpha: Scalar) -> Any:
        if is_nothing(alpha) or is_nothing(beta):
            return no("addmm does not read what counts for nothing, and so loses its NaN")
        return True

    def pays(self, input: Tensor, mat1: Tensor, mat2: Tensor) -> Any:
        return self._bounds.holds_for_matrices(mat1, mat2, input)

    def replacement(
        self, input: Tensor, mat1: Tensor, mat2: Tensor, beta: Scalar, alpha: Scalar
    ) -> Any:
        product = _times(_product(mat1, mat2), alpha)
        return _narrowed(aten.add(product, _widened(input), alpha=beta), mat1.dtype)

    def instances(self) -> Iterator[dict[str, Any]]:
        """Operands that fit, which seldom come of themselves."""
        for beta, alpha in ((3, 1), (1, -2)):
            for given in _addmms():
                yield {**given, "beta": beta, "alpha": alpha}


class DecomposeAddmmOfNothing(_Decomposed):
    """The same where nothing is added: what would be is not read."""

    name = "decompose_addmm"
    inductor = "decompose_mem_bound_mm.py:decompose_addmm"
    counter = "decompose_addmm"
    numerics = DecomposeMm.numerics

    def pattern(self, input: Tensor, mat1: Tensor, mat2: Tensor, alpha: Scalar) -> Any:
        return one_of(
            aten.addmm(input, mat1, mat2, beta=0, alpha=alpha),
            aten.addmm(input, mat1, mat2, beta=0.0, alpha=alpha),
        )

    def where(self, alpha: Scalar) -> Any:
        if is_nothing(alpha):
            return no("addmm does not read what counts for nothing, and so loses its NaN")
        return True

    def pays(self, mat1: Tensor, mat2: Tensor) -> Any:
        return self._bounds.holds_for_matrices(mat1, mat2)

    def replacement(self, mat1: Tensor, mat2: Tensor, alpha: Scalar) -> Any:
        return _narrowed(_times(_product(mat1, mat2), alpha), mat1.dtype)

    def instances(self) -> Iterator[dict[str, Any]]:
        """Operands that fit, which seldom come of themselves."""
        for given in _addmms():
            yield {**given, "alpha": -1}


DECOMPOSE_ADDMM = (DecomposeAddmm, DecomposeAddmmWithFactors, DecomposeAddmmOfNothing)


def _product(mat1: Tensor, mat2: Tensor) -> Any:
    """The product in a dtype that the sum is kept in."""
    rank = mat1.ndim
    left = aten.unsqueeze(_widened(mat1), rank)
    right = aten.unsqueeze(_widened(mat2), rank - 2)
    # Integers wrap around in their own dtype; without one they would be summed up as int64.
    dtype = None if mat1.dtype.is_floating_point else mat1.dtype
    return aten.sum(aten.mul(left, right), [rank - 1], dtype=dtype)


def _times(product: Any, alpha: Any) -> Any:
    return product if type(alpha) is int and alpha == 1 else aten.mul(product, alpha)


def _widened(x: Tensor) -> Any:
    return prims.convert_element_type(x, torch.float32) if x.dtype in NARROW_FLOATS else x


def _narrowed(x: Any, dtype: torch.dtype) -> Any:
    return x if x.dtype == dtype else prims.convert_element_type(x, dtype)


def _addmms() -> Iterator[dict[str, Any]]:
    for dtype in REAL_NUMBERS:
        for sizes in ((), (1,), (5,), (1, 5), (4, 1), (4, 5)):
            given = [_random(*one, dtype=dtype) for one in (sizes, (4, 33), (33, 5))]
            yield dict(zip(("input", "mat1", "mat2"), given, strict=True))


def _random(*sizes: int, dtype: torch.dtype) -> torch.Tensor:
    made = torch.randn(sizes, generator=torch.Generator().manual_seed(0))
    return (made if dtype.is_floating_point else made * 9).to(dtype)


__all__ = [
    "DECOMPOSE_ADDMM",
    "DecomposeAddmm",
    "DecomposeAddmmOfNothing",
    "DecomposeAddmmWithFactors",
    "DecomposeBmm",
    "DecomposeMm",
]
