"""How much padding aligns the operands of a matmul for tensor cores, and whether it pays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import torch

from xductor.ir import aten
from xductor.transforms import Tensor, no
from xductor.transforms.rewriting.handles import Dim

#: Sizes are rounded up to a multiple of this many elements: 16 bytes of a row.
ALIGNMENT = {torch.float16: 8, torch.bfloat16: 8, torch.float32: 4}

#: Whether padding a matmul pays: `(aten name, mat1, mat2, bias or None)`.
Decision = Callable[[str, Tensor, Tensor, Tensor | None], bool]


def _whatever_is_not_aligned(name: str, mat1: Tensor, mat2: Tensor, bias: Tensor | None) -> bool:
    """The default decision: pad every matmul that is not aligned."""
    return True


_decision: ContextVar[Decision] = ContextVar(
    "xductor_pad_mm_decision", default=_whatever_is_not_aligned
)


@contextmanager
def deciding_padding(decision: Decision) -> Iterator[None]:
    """Let `decision` decide within the block whether a matmul is padded."""
    token = _decision.set(decision)
    try:
        yield
    finally:
        _decision.reset(token)


class Padding(NamedTuple):
    """How many elements to add to the sizes `m`, `k`, `n` of a product; None for nothing."""

    m: Dim | None
    k: Dim | None
    n: Dim | None

    @classmethod
    def of(cls, mat1: Tensor, mat2: Tensor) -> Padding:
        rows, inner = mat1.shape[-2:]
        columns = missing(mat2.shape[-1], mat2.dtype)
        return cls(missing(rows, mat1.dtype), missing(inner, mat1.dtype), columns)

    def pad_mat1(self, mat1: Tensor) -> Any:
        return _padded(mat1, self.k, self.m)

    def pad_mat2(self, mat2: Tensor) -> Any:
        return _padded(mat2, self.n, self.k)

    def pad_bias(self, bias: Tensor) -> Any:
        """The bias of an `addmm`, padded except along dims in which it is broadcast."""
        right = self.n if bias.ndim and bias.shape[-1] != 1 else None
        below = self.m if bias.ndim == 2 and bias.shape[0] != 1 else None
        return _padded(bias, right, below)

    def cut(self, product: Any, batched: bool) -> Any:
        """The part of a padded product that the original product computes."""
        for dim, added in ((0, self.m), (1, self.n)):
            if added is not None:
                product = aten.slice(product, dim + batched, 0, 0 - added)
        return product


def _padded(matrix: Any, right: Dim | None, below: Dim | None) -> Any:
    """A tensor with zeros added at the end of its last dim and, if it has rows, below them."""
    if right is None and below is None:
        return matrix
    along_rows = [] if matrix.ndim == 1 else [0, 0 if below is None else below]
    return aten.constant_pad_nd(matrix, [0, 0 if right is None else right, *along_rows])


def missing(size: Dim, dtype: torch.dtype) -> Dim | None:
    """The number of elements up to the next aligned size; None if there is nothing to add.

    Symbolic sizes are not padded. Neither is a size of 1, because Inductor squeezes that dim away.
    """
    alignment = ALIGNMENT.get(dtype, 1)
    if not size.is_static or size == 1 or size.is_multiple_of(alignment):
        return None
    return (size + (alignment - 1)) // alignment * alignment - size


def pays(name: str, mat1: Tensor, mat2: Tensor, bias: Tensor | None = None) -> Any:
    """Whether there is something to pad, and padding pays."""
    operands = (mat1, mat2) if bias is None else (mat1, mat2, bias)
    if any(one.dtype not in ALIGNMENT for one in (mat1, mat2)):
        return no("its dtype has no alignment")
    if any(not any(size.is_static for size in one.shape) for one in operands):
        return no("an operand has no static size")
    if any(size.is_static and size == 0 for one in (mat1, mat2) for size in one.shape):
        return no("it is empty")
    if all(one is None for one in Padding.of(mat1, mat2)):
        return no("its sizes are aligned")
    return _decision.get()(name, mat1, mat2, bias) or no("padding does not pay")


__all__ = ["ALIGNMENT", "Decision", "Padding", "deciding_padding", "missing", "pays"]
