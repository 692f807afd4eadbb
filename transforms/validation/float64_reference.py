"""Measures how far results are from float64, for a fragment and for what replaces it.

`rounds less often` is a claim about all elements together. A single element may come out further
off than before, by the rounding of the result itself, since two errors sometimes cancel.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map
from xdsl.dialects.builtin import ModuleOp

from xductor.transforms.validation.fragment_runs import run_fragment


class InFloat64(TorchDispatchMode):
    """Ops take their floats as float64, and give float64 where a float dtype is named."""

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        return func(*tree_map(_wide, tuple(args)), **tree_map(_wide, dict(kwargs or {})))


def _wide(item: Any) -> Any:
    if isinstance(item, torch.Tensor):
        return item.double() if item.is_floating_point() else item
    if isinstance(item, torch.dtype) and item.is_floating_point:
        return torch.float64
    return item


def run_in_float64(module: ModuleOp, inputs: list[Any], seed: int) -> list[Any]:
    """The outputs of a fragment run in float64. Raises what its ops raise."""
    with InFloat64():
        return run_fragment(module, inputs, seed).outputs


@dataclass
class Errors:
    """Sums of squared errors against float64, in units in the last place of a result, with counts.

    - `before`, `after`: for what is matched, and for what replaces it.
    """

    before: float = 0.0
    after: float = 0.0
    count: int = 0

    def add(self, other: Errors) -> None:
        """Add the errors of another comparison."""
        self.before += other.before
        self.after += other.after
        self.count += other.count

    def problem(self) -> str | None:
        """Why `after` is further from float64 than `before`; None if it is not.

        A difference that may be due to chance for so many elements is allowed.
        """
        if not self.count:
            return None
        chance = 8 / math.sqrt(self.count) * (self.before + self.count * _OF_ONE_ROUNDING)
        if self.after <= self.before + chance:
            return None
        before, after = (math.sqrt(one / self.count) for one in (self.before, self.after))
        return (
            f"it is further from float64 than what is replaced: {after:.3g} units of the last "
            f"place on average of {self.count} elements, {before:.3g} before"
        )


#: The mean squared error of rounding once to the last place.
_OF_ONE_ROUNDING = 1 / 12


def errors_of(
    wide: Any, expected: Any, found: Any, scale: torch.Tensor | None, terms: int
) -> Errors | str:
    """The errors of an output before and after; a message if one element is too far off.

    - `wide`: the output in float64. `terms`: how many terms an element may be the sum of.
    """
    if not isinstance(expected, torch.Tensor) or not expected.is_floating_point():
        return Errors()
    if not isinstance(wide, torch.Tensor) or wide.shape != expected.shape:
        return "its float64 result has another shape"
    dtype = expected.dtype
    reference, before, after = (
        one.detach().cpu().double().reshape(-1) for one in (wide, expected, found)
    )
    size = reference.abs()
    if scale is not None and scale.shape == expected.shape:
        size = torch.maximum(size, scale.cpu().double().reshape(-1).nan_to_num(0.0, 0.0, 0.0))
    place = size * torch.finfo(dtype).eps + torch.finfo(dtype).tiny
    finite = reference.isfinite() & before.isfinite() & after.isfinite()
    old, new = (((one - reference).abs() / place)[finite] for one in (before, after))
    # Kernels of 16-bit dtypes accumulate in float32.
    inner = torch.finfo(torch.float32 if dtype.itemsize < 4 else dtype).eps
    accumulated = 2 * (terms + 1) * inner / torch.finfo(dtype).eps
    worse = new - old
    if len(worse) and worse.max() > 1 + accumulated:
        return (
            f"an element is {float(new[worse.argmax()]):.3g} units of the last place from float64, "
            f"{float(old[worse.argmax()]):.3g} before"
        )
    return Errors(float(old.square().sum()), float(new.square().sum()), len(old))


__all__ = ["Errors", "InFloat64", "errors_of", "run_in_float64"]
