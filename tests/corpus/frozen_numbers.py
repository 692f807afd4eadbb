"""How far the numbers of frozen models may be from what eager gives."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils import _pytree as pytree


@dataclass(frozen=True)
class Tolerance:
    """How far a result may be from the reference: `times` as far as another result, and `floor`.

    Distances are the greatest difference in parts of the greatest element.

    - `float32`: from eager in double precision, as compared with eager's own distance. A batch norm
      that is folded rounds each weight once more, and sums run in another order.
    - `bfloat16`: from eager in float32 with the same narrow weights, likewise. What is fused rounds
      less often, but somewhere else.
    - `quantised`: from eager, as compared with stock's distance. Eager computes products in float32
      and rounds to integers; the kernels add integers. Where the two fall on both sides of a half,
      a step of the scale is between them, and later layers carry it on; `floor` is for one step.
    """

    times: float
    floor: float


TOLERANCES = {
    "float32": Tolerance(4.0, 1e-6),
    "bfloat16": Tolerance(1.5, 2e-3),
    "quantised": Tolerance(1.5, 1 / 255),
}


@dataclass(frozen=True)
class Distances:
    """From the reference; eager's is 0 where eager is the reference."""

    eager: float
    stock: float
    ours: float

    def are_near(self, kind: str) -> bool:
        """Whether ours is within the tolerance of such a model."""
        tolerance = TOLERANCES[kind]
        other = self.stock if kind == "quantised" else self.eager
        return self.ours <= tolerance.times * other + tolerance.floor


def distance(found: Tensor, wanted: Tensor) -> float:
    """The greatest difference in parts of the greatest element; infinite where one alone is NaN."""
    difference = (found.double() - wanted.double()).abs().nan_to_num(float("inf"))
    return float(difference.max() / wanted.double().abs().max())


def reference(kind: str, model: nn.Module, args: Any, kwargs: Any) -> Tensor:
    """What the distances are taken from."""
    if kind == "quantised":
        return model(*args, **kwargs)
    wide = {"float32": torch.float64, "bfloat16": torch.float32}[kind]
    args, kwargs = pytree.tree_map_only(
        Tensor, lambda t: t.to(wide) if t.is_floating_point() else t, (args, kwargs)
    )
    return copy.deepcopy(model).to(wide)(*args, **kwargs)


__all__ = ["TOLERANCES", "Distances", "Tolerance", "distance", "reference"]
