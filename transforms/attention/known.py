"""What can be known about the elements of a mask: a function of position, or two numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import torch

from xductor.ir.dialect.types import Dim
from xductor.transforms.attention.predicates import (
    ALWAYS,
    NEVER,
    Affine,
    Condition,
    relabelled,
)


@dataclass(frozen=True)
class Choice:
    """A tensor that is `yes` where the condition holds, and `no` elsewhere."""

    condition: Condition
    yes: float
    no: float


Known = Affine | Choice | Condition


def number(value: float) -> Choice:
    """A tensor with the same number everywhere."""
    return Choice(ALWAYS, value, value)


def settled(known: Known, dtype: torch.dtype, shape: Sequence[Dim]) -> Known | None:
    """The element after rounding to a dtype, without the indices of dims of size one."""
    zero = {dim: Affine(0) for dim, size in enumerate(shape) if size == 1}
    known = substituted(known, zero) if zero else known
    if dtype is torch.bool:
        return truth(known)
    if isinstance(known, Condition):
        known = Choice(known, 1.0, 0.0)
    if isinstance(known, Affine):
        if dtype.is_floating_point and not known.terms and isinstance(known.constant, int):
            return number(rounded(float(known.constant), dtype))
        return known if not known.terms or dtype in _COUNTING else None
    if dtype.is_floating_point:
        return Choice(known.condition, rounded(known.yes, dtype), rounded(known.no, dtype))
    if known.yes == known.no and float(known.yes).is_integer():
        return Affine(int(known.yes))
    return known


#: Dtypes in which positions are exact.
_COUNTING = frozenset((torch.int32, torch.int64, torch.float32, torch.float64))


def rounded(value: float, dtype: torch.dtype) -> float:
    return _rounded(float(value).hex(), dtype)


@cache
def _rounded(digits: str, dtype: torch.dtype) -> float:
    # The cache key is the digits, since 0.0 == -0.0.
    return torch.tensor(float.fromhex(digits), dtype=torch.float64).to(dtype).item()


def substituted(known: Known, dims: Mapping[int, Affine]) -> Known:
    """`known` with expressions substituted for indices."""
    if isinstance(known, Choice):
        return Choice(known.condition.at(dims), known.yes, known.no)
    return known.at(dims)


def renumbered(known: Known, dims: Mapping[int, int]) -> Known:
    if isinstance(known, Choice):
        return Choice(relabelled(known.condition, dims), known.yes, known.no)
    if isinstance(known, Affine):
        return known.at({old: Affine(0, ((new, 1),)) for old, new in dims.items()})
    return relabelled(known, dims)


def truth(known: Known) -> Condition | None:
    """The condition that an element is not zero."""
    if isinstance(known, Condition):
        return known
    if isinstance(known, Choice):
        return chosen(known, lambda value: value != 0)
    if not known.terms and isinstance(known.constant, int):
        return ALWAYS if known.constant else NEVER
    return None


def chosen(known: Choice, test: Callable[[float], bool]) -> Condition:
    """The condition that an element passes a test."""
    yes, no = test(known.yes), test(known.no)
    if yes and no:
        return ALWAYS
    if not yes and not no:
        return NEVER
    return known.condition if yes else known.condition.negated()


def as_choice(known: Known | None) -> Choice | None:
    """A tensor of at most two different numbers as a `Choice`, or None."""
    if isinstance(known, Choice) or known is None:
        return known
    if isinstance(known, Condition):
        if known in (ALWAYS, NEVER):
            return number(1.0 if known == ALWAYS else 0.0)
        return Choice(known, 1.0, 0.0)
    if not known.terms and isinstance(known.constant, int):
        return number(float(known.constant))
    return None


__all__ = [
    "Choice",
    "Known",
    "as_choice",
    "chosen",
    "number",
    "renumbered",
    "rounded",
    "substituted",
    "truth",
]
