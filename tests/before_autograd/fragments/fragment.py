"""Fragments of models, as text, each with the pass before autograd that has something to do there.

A fragment is an expression, or lines that end with a `return`, over the inputs of its entry.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor


@dataclass(frozen=True)
class Fragment:
    """One way to write the pattern of a pass.

    - `ours`: how often our pass is applied; `stock`: Inductor's count, see `runs.stock_count`; None
      where Inductor raises.
    """

    text: str
    ours: int = 1
    stock: int | None = 0

    def source(self, names: Sequence[str]) -> str:
        """The text as a function of these names."""
        text = textwrap.dedent(self.text).strip()
        body = text if "return " in text else f"return {text}"
        return f"def model({', '.join(names)}):\n{textwrap.indent(body, '    ')}\n"

    def function(self, names: Sequence[str]) -> Callable[..., Any]:
        space: dict[str, Any] = {"torch": torch, "F": F, "aten": torch.ops.aten, "Tensor": Tensor}
        exec(compile(self.source(names), "<fragment>", "exec"), space)  # noqa: S102  (our own text)
        return space["model"]


@dataclass(frozen=True)
class Entry:
    """A pass with the ways to write its pattern; the first is the one that the page shows.

    - `sizes`: of each input. Inputs require gradients, unless `asks` is false.
    - `options`: Inductor's, for the pass.
    - `gains`, `does_not_pay`: what the page says about it.
    - `exported`: the graph is pre-dispatch ATen. `alone`: the pass runs alone, on any device.
    - `numerics`: the least that admits it; `tolerance`: how far results and gradients may be off.
    - `title`: the row, where another pass covers it.
    """

    name: str
    sizes: Mapping[str, tuple[int, ...]]
    fragments: Sequence[Fragment]
    gains: str
    does_not_pay: str
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    exported: bool = False
    alone: bool = False
    asks: bool = True
    numerics: str = "default"
    title: str = ""
    tolerance: float = 0.0

    @property
    def shown(self) -> str:
        """The name that the page has for it: that of the row."""
        return self.title or self.name

    def inputs(self) -> list[Tensor]:
        """Numbers that differ, a few of them negative."""
        generator = torch.Generator().manual_seed(0)
        found = [torch.randn(one, generator=generator) for one in self.sizes.values()]
        scaled = [one / max(1.0, math.sqrt(one.shape[-1] if one.dim() else 1)) for one in found]
        return [one.requires_grad_(self.asks) for one in scaled]


__all__ = ["Entry", "Fragment"]
