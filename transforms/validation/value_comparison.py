"""Whether two tensors agree, given what a rewrite declares that it may change.

`exact` compares bits, where all NaN count as one value. The other numerics allow an error relative
to a `scale`: the size of the terms whose sum an element is, which the caller estimates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from xductor.transforms.passes.numerics import Numerics


@dataclass(frozen=True)
class Budget:
    """How much rounding may differ.

    - `numerics`: what the rewrite declares.
    - `terms`: how many terms an element may be the sum of.
    - `narrowest`: the floating dtype with the largest eps in both fragments.
    """

    numerics: Numerics
    terms: int = 1
    narrowest: torch.dtype | None = None

    def relative(self, dtype: torch.dtype) -> float:
        """The error allowed, relative to the scale of an element."""
        own = torch.finfo(dtype).eps
        narrow = own if self.narrowest is None else max(own, torch.finfo(self.narrowest).eps)
        if self.numerics == "reassociates":
            # The sum of n terms in any order errs by at most (n - 1) eps of the sum of their sizes.
            return 2 * (self.terms + 1) * narrow
        if self.numerics in _FEWER_ROUNDINGS:
            return 4 * narrow + 2 * (self.terms + 1) * own
        return max(narrow**0.5, 1e-3)


@dataclass(frozen=True)
class Mismatch:
    """The first difference of two results: the index, and what was expected and found there."""

    what: str
    index: tuple[int, ...] | None = None
    expected: Any = None
    found: Any = None
    count: int = 0

    def __str__(self) -> str:
        if self.index is None:
            return self.what
        return (
            f"{self.what} at {list(self.index)}: expected {self.expected}, found {self.found}"
            + (f" ({self.count} elements differ)" if self.count > 1 else "")
        )


def compare(
    expected: Any, found: Any, budget: Budget, scale: torch.Tensor | None = None
) -> Mismatch | None:
    """The first difference of two values that the budget does not allow, or None.

    Dtypes, sizes and devices are always compared; strides are not.
    """
    if not isinstance(expected, torch.Tensor) or not isinstance(found, torch.Tensor):
        same = type(expected) is type(found) and (expected == found or expected != expected)
        return None if same else Mismatch(f"expected {expected!r}, found {found!r}")
    for what in ("dtype", "shape", "device"):
        a, b = getattr(expected, what), getattr(found, what)
        if a != b:
            return Mismatch(f"expected {what} {_plain(a)}, found {_plain(b)}")
    for bit in ("is_conj", "is_neg"):
        if getattr(expected, bit)() != getattr(found, bit)():
            return Mismatch(f"{bit}() is {getattr(found, bit)()}")
    a, b = _real(expected), _real(found)
    bad = _differing(a, b, budget, scale)
    if expected.is_complex():  # NaN in one part makes the whole number NaN
        bad &= ~(a.isnan().any(-1, keepdim=True) & b.isnan().any(-1, keepdim=True))
    if not bool(bad.any()):
        return None
    first = tuple(bad.nonzero()[0].tolist())
    where = first[: expected.dim()]  # a complex number is a pair
    count = int(bad.sum())
    what = "values differ"
    return Mismatch(what, where, _element(expected, where), _element(found, where), count)


def _plain(item: Any) -> Any:
    return list(item) if isinstance(item, torch.Size) else item


def _element(tensor: torch.Tensor, index: tuple[int, ...]) -> Any:
    return tensor.detach()[index].item()


def _real(tensor: torch.Tensor) -> torch.Tensor:
    """The numbers on the CPU, without conjugate or negative bit; complex ones as pairs."""
    plain = tensor.detach().resolve_conj().resolve_neg()
    return torch.view_as_real(plain).cpu() if plain.is_complex() else plain.cpu()


def _differing(
    a: torch.Tensor, b: torch.Tensor, budget: Budget, scale: torch.Tensor | None
) -> torch.Tensor:
    if not a.dtype.is_floating_point:
        return a != b
    if budget.numerics == "exact":
        return _different_bits(a, b)
    wide_a, wide_b = a.to(torch.float64), b.to(torch.float64)
    both_nan = wide_a.isnan() & wide_b.isnan()
    if budget.numerics == "exact up to the sign of zero":
        return (wide_a != wide_b) & ~both_nan
    size = torch.maximum(wide_a.abs(), wide_b.abs())
    if scale is not None:
        size = torch.maximum(size, _fitting(scale, wide_a).nan_to_num(0.0, 0.0, 0.0))
    finite = wide_a.isfinite() & wide_b.isfinite()
    allowed = budget.relative(a.dtype) * size + torch.finfo(a.dtype).tiny
    apart = finite & ((wide_a - wide_b).abs() > allowed)
    special = ~finite & (wide_a != wide_b) & ~both_nan
    if budget.numerics == "approximate":
        special &= wide_a.isfinite()  # what is finite in eager may not become NaN or infinite
    elif budget.numerics in _FEWER_ROUNDINGS and budget.narrowest is not None:
        # An overflow in the narrower dtype is such a rounding.
        large = torch.finfo(budget.narrowest).max * (1 - 2 * torch.finfo(budget.narrowest).eps)
        special &= ~(wide_a.isinf() & (wide_b.abs() >= large))
    return apart | special


_FEWER_ROUNDINGS = ("drops a rounding", "rounds less often")


def _fitting(scale: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """The scale of each element; the largest of all if the shapes differ."""
    if scale.shape == like.shape:
        return scale
    largest = scale.nan_to_num(0.0, 0.0, 0.0).amax() if scale.numel() else like.new_zeros(())
    return largest.expand(like.shape)


_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def _different_bits(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    bits = _BITS[a.dtype.itemsize]
    differ = a.contiguous().view(bits) != b.contiguous().view(bits)
    if a.dtype == getattr(torch, "float4_e2m1fn_x2", None):
        return differ
    return differ & ~(_is_nan(a) & _is_nan(b))


def _is_nan(tensor: torch.Tensor) -> torch.Tensor:
    wide = tensor if tensor.dtype.itemsize > 1 else tensor.to(torch.float32)
    return wide.isnan()


__all__ = ["Budget", "Mismatch", "compare"]
