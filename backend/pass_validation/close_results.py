"""Whether results that are rounded otherwise are still close, by what float64 gives."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from xdsl.dialects.builtin import ModuleOp

from xductor.ir import entry_graph
from xductor.transforms import Numerics
from xductor.transforms.rewriting.contracts import Violation
from xductor.transforms.validation.fragment_runs import Trial, inputs_of, run_fragment

_TRIALS = 16


def close_results(before: ModuleOp, after: ModuleOp, numerics: Numerics) -> int:
    """Check that results and gradients are within the tolerances of `torch.testing`, on finite
    inputs, with scores that are divided by 1 to 8.

    For large scores, spelled-out attention errs by more than that: then the error against float64
    may be at most four times as large as before. Raises Violation if it is larger.
    """
    for seed in range(_TRIALS):
        expected, found = (_results(one, before, seed) for one in (before, after))
        for place, (old, new) in enumerate(zip(expected, found, strict=True)):
            try:
                torch.testing.assert_close(new, old)
            except AssertionError as error:
                problem = str(error)
                if isinstance(old, torch.Tensor):
                    exact = _results(before, before, seed, wide=True)[place]
                    problem = _further(old, new, exact)
                if problem:
                    raise Violation(f"result {place}, seed {seed}: {problem}") from error
    return _TRIALS


def _results(module: ModuleOp, like: ModuleOp, seed: int, *, wide: bool = False) -> list[Any]:
    """Results and gradients of a module on the inputs of another, in float64 if `wide`."""
    inputs = inputs_of(entry_graph(like), Trial(seed, {}, 0.0), tame=True)
    for item in inputs:
        if not item.dim() and item.is_floating_point():
            item.mul_(7).add_(1)  # a number to divide by, from [0, 1) to [1, 8)
    with AllWide() if wide else nullcontext():
        given = [_wide(one) for one in inputs] if wide else inputs
        ran = run_fragment(module, given, seed, any_dtype=wide)
    return [*ran.outputs, *ran.gradients]


class AllWide(TorchDispatchMode):
    """Casts to float dtypes, and float tensors that are made, are float64."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        named = {name: _wide_dtype(item) for name, item in (kwargs or {}).items()}
        return func(*map(_wide_dtype, args), **named)


def _wide_dtype(item: Any) -> Any:
    return torch.float64 if isinstance(item, torch.dtype) and item.is_floating_point else item


def _wide(item: Any) -> Any:
    if not isinstance(item, torch.Tensor) or not item.is_floating_point():
        return item
    return item.detach().double().requires_grad_(item.requires_grad)


def _further(old: torch.Tensor, new: torch.Tensor, exact: torch.Tensor) -> str:
    """A message if the new result is further from the exact one than it may be; "" if not."""
    if (old.dtype, old.shape) != (new.dtype, new.shape):
        return f"{old.dtype}{list(old.shape)} became {new.dtype}{list(new.shape)}"
    errors = [float((one.double() - exact).abs().max()) for one in (old, new)]
    slack = torch.finfo(old.dtype).eps * float(exact.abs().max())
    if errors[1] <= 4 * errors[0] + slack:
        return ""
    return f"errs by {errors[1]:.2g}, as it was spelled by {errors[0]:.2g}"


__all__ = ["AllWide", "close_results"]
