"""`pointless_cumsum_replacement`: the cumsum of a constant becomes its multiples."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torch

from xductor.ir import aten, prims
from xductor.transforms import EXACT, ROUNDS_LESS_OFTEN, Rewrite, Scalar, Tensor, bind, no, shared
from xductor.transforms.passes.numerics import Declared

#: The dtype in which 16-bit sums, and so these multiples, are computed.
_WIDE = {torch.float16: torch.float32, torch.bfloat16: torch.float32}


class PointlessCumsum(Rewrite):
    """`cumsum(full(size, value), dim)` becomes `value * [1, 2, 3, ...]`, each rounded once.

    The dtype is that of the cumsum, which is int64 for integers and bools.
    """

    name = "pointless_cumsum_replacement"
    stage = "post_grad"
    inductor = "post_grad.py:pointless_cumsum_replacement"
    numerics: ClassVar[Declared] = {
        **dict.fromkeys((torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8), EXACT),
        **dict.fromkeys((*_WIDE, torch.float32, torch.float64), ROUNDS_LESS_OFTEN),
    }

    def pattern(self, size: list[int], value: Scalar, dim: int, full: Tensor, out: Tensor) -> Any:
        constant = shared(aten.full(size, value, dtype=..., layout=..., device=..., pin_memory=...))
        return bind(out, aten.cumsum(bind(full, constant), dim, dtype=...))

    def where(self, value: Any) -> Any:
        if value == 0 and math.copysign(1.0, value) < 0:
            return no("a running sum of -0.0 begins at 0.0")
        return True

    def replacement(self, full: Tensor, dim: int, out: Tensor) -> Any:
        wide = _WIDE.get(out.dtype, out.dtype)
        constant = _converted(full, wide)
        if not out.ndim:
            return _converted(constant, out.dtype)
        sizes: list[Any] = [1] * out.ndim
        sizes[dim] = out.shape[dim]
        numbers = prims.iota(
            out.shape[dim],
            start=1,
            step=1,
            dtype=torch.int64,
            device=out.device,
            requires_grad=False,
        )
        multiples = aten.mul(constant, aten.view(_converted(numbers, wide), sizes))
        return _converted(multiples, out.dtype)


def _converted(x: Any, dtype: Any) -> Any:
    return x if x.dtype == dtype else prims.convert_element_type(x, dtype)


__all__ = ["PointlessCumsum"]
