"""`pointless_convert`: two casts in a row become one."""

from __future__ import annotations

from typing import Any

import torch

from xductor.ir import prims
from xductor.transforms import DROPS_ROUNDING, EXACT, Rewrite, Tensor, no

_FLOATS = frozenset((torch.float16, torch.bfloat16, torch.float32, torch.float64))


class PointlessConvert(Rewrite):
    """`convert(convert(x, middle), last)` becomes `convert(x, last)`, if no value changes.

    `middle` must hold all values of `x`, and all three dtypes must be floating. If `middle` is
    narrower than `last`, both casts stay: the narrow tensor is cheaper to store.
    """

    stage = "joint"
    inductor = "joint_graph.py:pointless_convert"
    numerics = EXACT

    def pattern(self, x: Tensor, middle: torch.dtype, last: torch.dtype) -> Any:
        return prims.convert_element_type(prims.convert_element_type(x, middle), last)

    def where(self, x: Tensor, middle: torch.dtype, last: torch.dtype) -> Any:
        if not {x.dtype, middle, last} <= _FLOATS:
            return no("not all three are floating dtypes")
        if middle.itemsize < last.itemsize:
            return no("the dtype in the middle is narrower than the last one")
        return is_lossless(x.dtype, middle) or no(f"{middle} has not all values of {x.dtype}")

    def replacement(self, x: Tensor, last: torch.dtype) -> Any:
        return prims.convert_element_type(x, last)


class RoundingConvert(PointlessConvert):
    """`convert(convert(x, middle), last)` becomes `convert(x, last)`, even if `middle` rounds.

    Inductor does this too. It does not apply with `emulate_precision_casts`, which keeps the
    roundings of eager mode.
    """

    name = "pointless_convert"
    numerics = DROPS_ROUNDING

    def __init__(self, emulate_precision_casts: bool = False) -> None:
        self.emulate_precision_casts = emulate_precision_casts

    def where(self, x: Tensor, middle: torch.dtype, last: torch.dtype) -> Any:
        if self.emulate_precision_casts:
            return no("emulate_precision_casts keeps every rounding")
        floats = {x.dtype, middle, last} <= _FLOATS
        return floats and middle.itemsize >= last.itemsize


REWRITES = (PointlessConvert, RoundingConvert)


def is_lossless(source: torch.dtype, target: torch.dtype) -> bool:
    """Whether every value of one floating dtype is a value of the other."""
    if source is target:
        return True
    a, b = torch.finfo(source), torch.finfo(target)
    return b.eps <= a.eps and b.max >= a.max and b.smallest_normal <= a.smallest_normal


__all__ = ["REWRITES", "PointlessConvert", "RoundingConvert", "is_lossless"]
