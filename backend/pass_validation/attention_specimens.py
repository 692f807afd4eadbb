"""Graphs for `fuse_attention`: the functions that Inductor's own patterns are traced from.

Each is traced without dropout, as Inductor's patterns for inference are, since the CPU kernel has
none. Half of the graphs ask for gradients.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from xdsl.dialects.builtin import ModuleOp

from xductor.backend.pass_validation.specimen import Specimen, traced
from xductor.ir import entry_graph
from xductor.transforms import Numerics
from xductor.transforms.pre_grad.fuse_attention import FuseAttention
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


def stock_patterns() -> Iterator[tuple[str, Callable[..., Any], tuple[Any, ...], bool]]:
    """Inductor's patterns: name, function, example inputs, whether in half precision."""
    from torch._inductor.fx_passes import fuse_attention

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, entry in fuse_attention._get_sfdp_patterns(torch.device("cpu")):
            if "inference" in name:
                function = entry["search_fn"]
                known = inspect.signature(function).parameters
                given = entry.get("scalar_workaround") or {}
                fixed = {key: item for key, item in given.items() if key in known}
                yield name, _called(function, fixed), entry["example_inputs"], "half" in name


def _called(function: Callable[..., Any], fixed: dict[str, Any]) -> Callable[..., Any]:
    return lambda *inputs: function(*inputs, **fixed)


def attention(number: int | None = None) -> Iterator[Specimen]:
    """The graphs of one of Inductor's patterns, or of all, with and without gradients."""
    one = FuseAttention()
    for name, function, examples, _ in stock_patterns():
        found = re.search(r"pattern_(\d+)", name)
        assert found is not None
        if number is not None and int(found[1]) != number:
            continue
        for gradients in (False, True):
            inputs = [_input(item, gradients) for item in examples]
            module = traced(function, *inputs, stage="pre_grad")
            if module is not None:
                title = f"{name}, {'training' if gradients else 'inference'}"
                yield Specimen(title, module, one)


def _input(example: torch.Tensor, gradients: bool) -> torch.Tensor:
    """A tensor of small sizes in the layout of Inductor's example."""
    sizes = [{1024: 4, 128: 8}.get(size, size) for size in example.shape]
    if example.dim() == 4 and sizes == list(example.shape):
        made = torch.empty_strided(sizes, example.stride(), dtype=example.dtype)
    else:
        made = torch.empty(sizes, dtype=example.dtype)
    with torch.no_grad():
        made.copy_(torch.ones(sizes))
    return made.requires_grad_(gradients and example.requires_grad)


__all__ = ["AllWide", "attention", "close_results", "stock_patterns"]
