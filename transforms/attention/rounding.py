"""Follows the numbers of a mask to the softmax: casts and scales may round them or overflow.

A path lists the steps that a sum goes through after a mask, in order: each step multiplies by a
number and rounds to a dtype.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from xductor.transforms.attention.known import rounded


@dataclass(frozen=True)
class Step:
    """A multiplication with a result of `dtype`."""

    factor: float
    dtype: torch.dtype


Path = tuple[Step, ...]

#: The least difference of scores that must survive when a number is added to all of them.
_SEEN = 2.0**-3


def before(step: Step, path: Path) -> Path:
    """The path with a step before it, unless the step has no further effect."""
    if path and step.factor == 1 and path[0] == step:
        return path
    return (step, *path)


def factor_of(path: Path) -> float:
    """The product of the factors of a path."""
    return math.prod(step.factor for step in path)


def arrived(value: float, path: Path) -> float:
    """The number at the end of a path; infinite if it overflows a dtype on the way."""
    return [value, *_values(value, path)][-1]


def gap(value: float, path: Path) -> float:
    """The least difference of scores that survives the addition of a number and a path.

    It is given in the scale of the scores at the start of the path.
    """
    widest, factor = 0.0, 1.0
    for step, there in zip(path, _values(value, path), strict=True):
        factor *= abs(step.factor)
        if there:
            exponent = math.frexp(there)[1] - 1
            widest = max(widest, math.ldexp(torch.finfo(step.dtype).eps, exponent) / factor)
    return widest


def blurs(value: float, path: Path) -> bool:
    """Whether a number added to all scores rounds away more of them than half precision would.

    If not, the softmax does not depend on the number.
    """
    return not math.isfinite(arrived(value, path)) or gap(value, path) > _SEEN


def may_overflow(dtype: torch.dtype, path: Path) -> bool:
    """Whether a number of a dtype may become infinite on a path."""
    if not dtype.is_floating_point:
        return True
    highest, factor = torch.finfo(dtype).max, 1.0
    for step in path:
        factor *= abs(step.factor)
        if factor > 1 or torch.finfo(step.dtype).max < highest:
            return True
    return False


def overflow_of(dtype: torch.dtype) -> float:
    """The smallest number that a dtype rounds to infinity."""
    limits = torch.finfo(dtype)
    return limits.max + math.ldexp(limits.eps, math.frexp(limits.max)[1] - 2)


def holds(dtype: torch.dtype, other: torch.dtype) -> bool:
    """Whether a floating-point type represents all numbers of another one."""
    if other.itemsize < 2:
        return dtype.itemsize >= 2 or dtype is other
    return dtype.itemsize >= 2 and torch.promote_types(dtype, other) is dtype


def _values(value: float, path: Path) -> Iterator[float]:
    for step in path:
        value = rounded(value * step.factor, step.dtype) if value else 0.0
        yield value


__all__ = [
    "Path",
    "Step",
    "arrived",
    "before",
    "blurs",
    "factor_of",
    "gap",
    "holds",
    "may_overflow",
    "overflow_of",
]
