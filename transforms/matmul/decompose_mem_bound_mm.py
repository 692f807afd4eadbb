"""`decompose_mm`, `decompose_bmm`, `decompose_addmm`: memory-bound products become mul and sum.

Inductor then generates one loop that fuses with the ops around it, instead of calling a library.
For 16-bit floats the terms are computed and summed in float32, as the library does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from xductor.ir import aten
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
from xductor.transforms.editing.widening import narrowed, widened
from xductor.transforms.matmul.factors import is_nothing
from xductor.transforms.passes.numerics import Declared
from xductor.transforms.rewriting.decisions import Fact

_UNBACKED = "a size is known only when the program runs"


@dataclass(frozen=True)
class _Bounds:
    """The sizes for which a product counts as memory-bound, on GPU and on CPU."""

    gpu_first: int
    gpu_others: int
    cpu_first: int
    cpu_others: int
    takes_unknown: bool

    def holds_for_matrices(self, mat1: Tensor, mat2: Tensor, *others: Tensor) -> Any:
        """Whether the sizes of a product of two matrices are within the bounds."""
        if any(one.is_unbacked for one in (mat1, mat2, *others)):
            return no(_UNBACKED)
        mat1, mat2 = mat1.at_any_size, mat2.at_any_size
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
        """Whether the sizes of a batched product are within the bounds.

        On a GPU two of the three sizes of the matrices must be small.
        """
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
    """Base of the rewrites here, with their options.

    - `min_first_dimension_decomposition`, `max_other_dimension_decomposition`: on a GPU, the least
      number of rows (of matrices, if batched), and the exclusive limit of the other sizes.
    - `cpu_max_first_dimension_decomposition`, `cpu_max_other_dimension_decomposition`: on CPU, the
      largest number of rows (of matrices, if batched), and the largest other sizes.
    - `skip_dynamic_shape_dim_check`: also accept sizes that are not known to violate these bounds.
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
    """`mm(a, b)` becomes `sum(a[:, :, None] * b[None], 1)`."""

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
        return narrowed(sum_of_products(mat1, mat2), mat1.dtype)

    def instances(self) -> Iterator[dict[str, Any]]:
        """Operands that meet the conditions, which random ones rarely do."""
        for dtype in REAL_NUMBERS:
            for m, k, n in ((1, 33, 5), (4, 7, 3), (1, 1, 1), (3, 0, 2), (1, 500, 3)):
                given = [_random(*sizes, dtype=dtype) for sizes in ((m, k), (k, n))]
                yield dict(zip(("mat1", "mat2"), given, strict=True))


class DecomposeBmm(_Decomposed):
    """`bmm(a, b)` becomes `sum(a[:, :, :, None] * b[:, None], 2)`."""

    inductor = "decompose_mem_bound_mm.py:decompose_bmm"
    counter = "decompose_bmm"
    numerics = DecomposeMm.numerics

    def pattern(self, mat1: Tensor, mat2: Tensor) -> Any:
        return aten.bmm(mat1, mat2)

    def pays(self, mat1: Tensor, mat2: Tensor) -> Any:
        return self._bounds.holds_for_batches(mat1, mat2)

    def replacement(self, mat1: Tensor, mat2: Tensor) -> Any:
        return narrowed(sum_of_products(mat1, mat2), mat1.dtype)

    def instances(self) -> Iterator[dict[str, Any]]:
        """Operands that meet the conditions, which random ones rarely do."""
        for dtype in REAL_NUMBERS:
            for b, m, k, n in ((1, 2, 33, 5), (3, 4, 7, 3), (1, 1, 1, 1), (2, 3, 0, 2)):
                given = [_random(*sizes, dtype=dtype) for sizes in ((b, m, k), (b, k, n))]
                yield dict(zip(("mat1", "mat2"), given, strict=True))


class DecomposeAddmm(_Decomposed):
    """`addmm(c, a, b)` becomes `sum(a[:, :, None] * b[None], 1) + c`."""

    inductor = "decompose_mem_bound_mm.py:decompose_addmm"
    counter = "decompose_addmm"
    numerics = DecomposeMm.numerics

    def pattern(self, input: Tensor, mat1: Tensor, mat2: Tensor) -> Any:
        return aten.addmm(input, mat1, mat2)

    def pays(self, input: Tensor, mat1: Tensor, mat2: Tensor) -> Any:
        return self._bounds.holds_for_matrices(mat1, mat2, input)

    def replacement(self, input: Tensor, mat1: Tensor, mat2: Tensor) -> Any:
        return narrowed(aten.add(sum_of_products(mat1, mat2), widened(input)), mat1.dtype)

    def instances(self) -> Iterator[dict[str, Any]]:
        """Operands that meet the conditions, which random ones rarely do."""
        return _addmms()


class DecomposeAddmmWithFactors(_Decomposed):
    """`addmm` with `alpha` and `beta` becomes `alpha * sum(a[:, :, None] * b[None], 1) + beta * c`.

    A factor of 0 is refused, because addmm skips what it multiplies and so loses its NaN.
    """

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
            return no("with a factor of 0 addmm loses the NaN of what it multiplies")
        return True

    def pays(self, input: Tensor, mat1: Tensor, mat2: Tensor) -> Any:
        return self._bounds.holds_for_matrices(mat1, mat2, input)

    def replacement(
        self, input: Tensor, mat1: Tensor, mat2: Tensor, beta: Scalar, alpha: Scalar
    ) -> Any:
        product = _times(sum_of_products(mat1, mat2), alpha)
        return narrowed(aten.add(product, widened(input), alpha=beta), mat1.dtype)

    def instances(self) -> Iterator[dict[str, Any]]:
        """Operands that meet the conditions, which random ones rarely do."""
        for beta, alpha in ((3, 1), (1, -2)):
            for given in _addmms():
                yield {**given, "beta": beta, "alpha": alpha}


class DecomposeAddmmOfNothing(_Decomposed):
    """`addmm` with `beta=0` becomes `alpha * sum(a[:, :, None] * b[None], 1)`; `c` is not read."""

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
            return no("with a factor of 0 addmm loses the NaN of what it multiplies")
        return True

    def pays(self, mat1: Tensor, mat2: Tensor) -> Any:
        return self._bounds.holds_for_matrices(mat1, mat2)

    def replacement(self, mat1: Tensor, mat2: Tensor, alpha: Scalar) -> Any:
        return narrowed(_times(sum_of_products(mat1, mat2), alpha), mat1.dtype)

    def instances(self) -> Iterator[dict[str, Any]]:
        """Operands that meet the conditions, which random ones rarely do."""
        for given in _addmms():
            yield {**given, "alpha": -1}


DECOMPOSE_ADDMM = (DecomposeAddmm, DecomposeAddmmWithFactors, DecomposeAddmmOfNothing)


def sum_of_products(mat1: Any, mat2: Any) -> Any:
    """The sum of products, in float32 if the operands are 16-bit floats."""
    rank = mat1.ndim
    left = aten.unsqueeze(widened(mat1), rank)
    right = aten.unsqueeze(widened(mat2), rank - 2)
    # Without a dtype, sum would widen integers to int64 instead of wrapping around.
    dtype = None if mat1.dtype.is_floating_point else mat1.dtype
    return aten.sum(aten.mul(left, right), [rank - 1], dtype=dtype)


def _times(product: Any, alpha: Any) -> Any:
    return product if type(alpha) is int and alpha == 1 else aten.mul(product, alpha)


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
    "sum_of_products",
]
