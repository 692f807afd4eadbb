"""Graphs for `fuse_attention`: the functions that Inductor's own patterns are traced from.

Each is traced without dropout, as Inductor's patterns for inference are, since the CPU kernel has
none. Half of the graphs ask for gradients.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch

from xductor.backend.pass_validation.specimen import Specimen, traced
from xductor.transforms.pre_grad.fuse_attention import FuseAttention


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


__all__ = ["attention", "stock_patterns"]
