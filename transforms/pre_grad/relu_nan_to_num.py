"""`relu_nan_to_num`: puts relu and nan_to_num into a canonical order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import torch

from xductor.ir import aten
from xductor.transforms import EXACT, Rewrite, Tensor, no


class ReluNanToNum(Rewrite):
    """`relu(nan_to_num(x))` becomes `nan_to_num(relu(x))`, so that autograd saves only one tensor.

    The numbers for NaN and infinity must not be negative, so that relu would not change them,
    and the number for -infinity must be negative, so that relu removes it. Replacing NaN by 0
    before any relu would change results, so there is no such rewrite.
    """

    stage = "pre_grad"
    inductor = "pre_grad.py:relu_nan_to_num"
    numerics = EXACT

    def pattern(self, x: Tensor, nan: Any, posinf: Any, neginf: Any) -> Any:
        return aten.relu(aten.nan_to_num(x, nan, posinf, neginf))

    def where(self, nan: Any, posinf: Any, neginf: Any) -> Any:
        if not all(one is None or one >= 0 for one in (nan, posinf)):
            return no("relu makes 0 of what stands for NaN or infinity")
        # A number nearer to 0 may round to -0.0 in 16 bits, which relu keeps.
        return neginf is None or neginf <= -1 or no("relu may keep what stands for -infinity")

    def replacement(self, x: Tensor, nan: Any, posinf: Any) -> Any:
        return aten.nan_to_num(aten.relu(x), nan, posinf)

    def instances(self) -> Iterator[dict[str, Any]]:
        special = [float(one) for one in ("nan", "inf", "-inf", "-0.0")]
        numbers = torch.tensor([1.0, -1.0, 0.0, *special])
        for dtype, nan, posinf, neginf in product(
            (torch.float32, torch.float64, torch.bfloat16, torch.float16),
            (None, 0.0, 1.5),
            (None, 3.0),
            (None, -2.0),
        ):
            yield {"x": numbers.to(dtype), "nan": nan, "posinf": posinf, "neginf": neginf}


__all__ = ["ReluNanToNum"]
