"""How far the results of two runs are apart, value by value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from xductor.backend.cli.value_summaries import named_leaves, value_hash


@dataclass(frozen=True)
class Difference:
    """Two values with the same place in the results.

    - `problem`: why they cannot be compared (different shape or dtype, NaN against a number).
    - `absolute`, `relative`: the largest difference of two finite elements.
    - `bits`: whether all bits agree; `close`: whether the tolerance allows the differences.
    """

    name: str
    problem: str = ""
    absolute: float = 0.0
    relative: float = 0.0
    bits: bool = True
    close: bool = True

    @property
    def differs(self) -> bool:
        return bool(self.problem) or not self.bits

    def __str__(self) -> str:
        if self.problem:
            return f"{self.name}: {self.problem}"
        if self.bits:
            return f"{self.name}: the same, bit by bit"
        return f"{self.name}: max difference {self.absolute:.3g}, relative {self.relative:.3g}"


def compare(left: Any, right: Any, *, rtol: float = 0.0, atol: float = 0.0) -> list[Difference]:
    """The difference of each value of two nestings. NaN equals NaN; 0.0 and -0.0 differ in bits.

    Without tolerances, `close` means that all elements are equal.
    """
    ours, theirs = dict(named_leaves(left, "")), dict(named_leaves(right, ""))
    found: list[Difference] = []
    for name in dict.fromkeys([*ours, *theirs]):
        label = _label(name)
        if name not in ours or name not in theirs:
            side = "left" if name in ours else "right"
            found.append(Difference(label, f"only on the {side}"))
        else:
            found.append(_compare(label, ours[name], theirs[name], rtol, atol))
    return found


def _label(name: str) -> str:
    """`['result'][0]` as `result[0]`."""
    return name.replace("['", "", 1).replace("']", "", 1)


def _compare(name: str, ours: Any, theirs: Any, rtol: float, atol: float) -> Difference:
    if not isinstance(ours, torch.Tensor) or not isinstance(theirs, torch.Tensor):
        same = type(ours) is type(theirs) and (ours == theirs or ours != ours)
        return Difference(name, "" if same else f"{ours!r} -> {theirs!r}")
    for what in ("dtype", "shape", "device"):
        a, b = getattr(ours, what), getattr(theirs, what)
        if a != b:
            return Difference(name, f"{what} {a} -> {b}")
    if value_hash(ours) == value_hash(theirs):
        return Difference(name)
    return _measure(name, _wide(ours), _wide(theirs), rtol, atol)


def _wide(value: torch.Tensor) -> torch.Tensor:
    plain = value.detach().cpu()
    if plain.dtype.is_complex:
        return torch.view_as_real(plain.resolve_conj().to(torch.complex128))
    return plain.to(torch.float64)


def _measure(
    name: str, ours: torch.Tensor, theirs: torch.Tensor, rtol: float, atol: float
) -> Difference:
    nans = ours.isnan() != theirs.isnan()
    if nans.any():
        return Difference(name, f"{int(nans.sum())} elements are NaN on one side only", close=False)
    both = ours.isfinite() & theirs.isfinite()
    infinite = ~both & ~ours.isnan() & (ours != theirs)
    if infinite.any():
        problem = f"{int(infinite.sum())} elements are infinite on one side only"
        return Difference(name, problem, close=False)
    a, b = ours[both], theirs[both]
    gap = (a - b).abs()
    if not gap.numel():
        return Difference(name, bits=False)
    relative = gap / torch.maximum(a.abs(), b.abs()).clamp_min(torch.finfo(torch.float64).tiny)
    close = bool((gap <= atol + rtol * a.abs()).all())
    return Difference(
        name,
        absolute=gap.max().item(),
        relative=relative.max().item(),
        bits=False,
        close=close,
    )
