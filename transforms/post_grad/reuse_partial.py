"""`reuse_partial`: computes a full reduction from a partial one of the same tensor."""

from __future__ import annotations

from typing import Any, ClassVar

import torch

from xductor.ir import aten
from xductor.transforms import EXACT, REASSOCIATES, Rewrite, Tensor, no, one_of
from xductor.transforms.passes.numerics import Declared

#: With fewer elements than this, reading the tensor twice costs nothing.
_SMALL = 4096


class _ReusePartial(Rewrite, abstract=True):
    """Base of the rewrites here. They pay for tensors that are not small."""

    stage = "post_grad"
    inductor = "post_grad.py:reuse_partial"
    counter = "partial_reduction_reuse"
    numerics: ClassVar[Declared] = {
        **dict.fromkeys(
            (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool), EXACT
        ),
        # Whether 0.0 or -0.0 counts as the extreme depends on the order.
        **dict.fromkeys(
            (torch.float16, torch.bfloat16, torch.float32, torch.float64), REASSOCIATES
        ),
    }

    def pays(self, input: Tensor) -> Any:
        return input.at_any_size.numel() >= _SMALL or no(f"fewer than {_SMALL} elements")


class ReusePartialMax(_ReusePartial):
    """`amax(x)` becomes `amax(amax(x, dim))`, if the graph computes `amax(x, dim)` too."""

    name = "reuse_partial"

    def pattern(self, input: Tensor, dim: list[int], keepdim: bool) -> Any:
        return (
            aten.amax(input, dim, keepdim),
            one_of(aten.max(input), aten.amax(input), aten.amax(input, [], False)),
        )

    def replacement(self, input: Tensor, dim: list[int], keepdim: bool) -> Any:
        partial = aten.amax(input, dim, keepdim)
        return partial, aten.amax(partial)


class ReusePartialMin(_ReusePartial):
    """`amin(x)` becomes `amin(amin(x, dim))`, if the graph computes `amin(x, dim)` too."""

    name = "reuse_partial"

    def pattern(self, input: Tensor, dim: list[int], keepdim: bool) -> Any:
        return (
            aten.amin(input, dim, keepdim),
            one_of(aten.min(input), aten.amin(input), aten.amin(input, [], False)),
        )

    def replacement(self, input: Tensor, dim: list[int], keepdim: bool) -> Any:
        partial = aten.amin(input, dim, keepdim)
        return partial, aten.amin(partial)


REUSE_PARTIAL = (ReusePartialMax, ReusePartialMin)

__all__ = ["REUSE_PARTIAL", "ReusePartialMax", "ReusePartialMin"]
