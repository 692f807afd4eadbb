"""`quant_lift_up`: before autograd, quantisations move above views, next to what they quantise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import torch

from xductor.ir import aten
from xductor.ir.functions.torch_spellings import spelled
from xductor.transforms import EXACT, Rewrite, Tensor, no, one_of
from xductor.transforms.quantized.requantised import quantize

_VIEWS = frozenset(
    spelled(
        ["aten.transpose.int", "aten.permute.default", "aten.view.default", "aten.reshape.default"]
    )
)


def _is_view(value: Any) -> bool:
    return getattr(value.owner, "name", "") in _VIEWS


class _QuantizeBeforeView(Rewrite, abstract=True):
    """`quantize(view(x))` is the view of `quantize(x)`, for views that only move elements.

    A product whose result is quantised at once is one call of oneDNN. It does not pay where
    something else reads the result, or one of the views.

    - `reaches_the_top`: whether `x` is what was viewed first, not a view itself.
    """

    name = "quant_lift_up"
    stage = "pre_grad"
    inductor = "quantization.py:quant_lift_up"
    numerics = EXACT
    reaches_the_top: ClassVar[bool]

    def pattern(
        self,
        x: Tensor,
        which: int,
        first: int,
        second: int,
        dims: list[int],
        sizes: list[int],
        scale: Any,
        zero: Any,
        low: Any,
        high: Any,
        dtype: Any,
    ) -> Any:
        moved = one_of(
            aten.transpose.int(x, first, second),
            aten.permute(x, dims),
            aten.view.default(x, sizes),
            aten.reshape(x, sizes),
            as_=which,
        )
        return quantize(moved, scale, zero, low, high, dtype)

    def pays(self, x: Tensor) -> Any:
        value: Any = x.value
        if _is_view(value) is self.reaches_the_top:
            return no("the other rewrite counts it")
        while len({use.operation for use in value.uses}) == 1:
            if not _is_view(value):
                return True
            value = value.owner.operands[0]
        return no("something else reads what is quantised")

    def replacement(
        self,
        x: Tensor,
        which: int,
        first: int,
        second: int,
        dims: list[int],
        sizes: list[int],
        scale: Any,
        zero: Any,
        low: Any,
        high: Any,
        dtype: Any,
    ) -> Any:
        narrow = quantize(x, scale, zero, low, high, dtype)
        if which == 0:
            return aten.transpose.int(narrow, first, second)
        if which == 1:
            return aten.permute(narrow, dims)
        return aten.view.default(narrow, sizes) if which == 2 else aten.reshape(narrow, sizes)

    def instances(self) -> Iterator[dict[str, Any]]:
        views: tuple[dict[str, Any], ...] = (
            {"which": 0, "first": 0, "second": -1},
            {"which": 1, "dims": [2, 0, 1]},
            {"which": 2, "sizes": [-1, 2]},
            {"which": 3, "sizes": [3, 8]},
        )
        numbers = ((0.1, 3, torch.uint8), (0.25, -7, torch.int8), (2.0, 128, torch.uint8))
        for scale, zero, dtype in numbers:
            limits = torch.iinfo(dtype)
            for wide in (torch.float32, torch.bfloat16, torch.float16):
                for view in views:
                    yield {
                        "x": (torch.randn(2, 3, 4) * 9).to(wide),
                        **view,
                        "scale": scale,
                        "zero": zero,
                        "low": limits.min,
                        "high": limits.max,
                        "dtype": dtype,
                    }


class QuantizeBetweenViews(_QuantizeBeforeView):
    """A quantisation behind two views moves between them."""

    reaches_the_top = False
    name = "quant_lift_up"
    inductor = "quantization.py:quant_lift_up"


class QuantizeAboveViews(_QuantizeBeforeView):
    """A quantisation behind one view, or the last of several, moves above it, which is counted."""

    reaches_the_top = True
    name = "quant_lift_up"
    inductor = "quantization.py:quant_lift_up"
    counter = "quant_lift_up_count"


QUANT_LIFT_UP = (QuantizeBetweenViews, QuantizeAboveViews)

__all__ = ["QUANT_LIFT_UP", "QuantizeAboveViews", "QuantizeBetweenViews"]
