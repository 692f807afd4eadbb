"""The activations that oneDNN computes with a convolution or linear, as ATen spells them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import torch

from xductor.ir import aten, prims
from xductor.transforms.matching.patterns import Call, Var, children
from xductor.transforms.matching.tracing import trace
from xductor.transforms.passes.numerics import APPROXIMATE, REASSOCIATES, Numerics

#: Computed in float32 and rounded, where the graph says so.
NARROW = (torch.bfloat16, torch.float16)


@dataclass(frozen=True)
class Activation:
    """A function of each element of a result.

    - `name`, `algorithm`: what oneDNN calls it.
    - `spelled`: the function in ATen, of the result and the numbers.
    - `numbers`: the names of its numbers.
    - `takes`: whether oneDNN computes it with these numbers.
    - `numerics`: what may differ in float32. Three of oneDNN's functions give a number for NaN.
    - `has_casts`: whether Inductor computes it in float32 between casts, in narrow dtypes.
    """

    name: str
    spelled: Callable[..., Any]
    algorithm: str = ""
    numbers: tuple[str, ...] = ()
    takes: Callable[..., bool] = lambda: True
    numerics: Numerics = REASSOCIATES
    has_casts: bool = True

    @cached_property
    def spellings(self) -> tuple[Spelling, ...]:
        """The activation as it is, and between casts from and to a narrow dtype."""
        dtypes = (None, *NARROW) if self.has_casts else (None,)
        return tuple([Spelling(self, dtype) for dtype in dtypes])


class Spelling:
    """A pattern of an activation of the variable `y`.

    - `dtype`: the narrow dtype of `y`, from and to which the pattern casts; None without casts.
    - `outputs`: the pattern.
    - `ends`: the names of the ops that may make its result.
    """

    def __init__(self, activation: Activation, dtype: torch.dtype | None) -> None:
        self.activation = activation
        self.dtype = dtype
        names = ("y", *activation.numbers)
        variables = (Var("y", "tensor"), *[Var(name, "scalar") for name in names[1:]])
        self.outputs = trace(self._pattern, variables)
        self.ends = frozenset(head.cls.name for head in self.outputs[0].heads)

    def _pattern(self, y: Any, *numbers: Any) -> Any:
        if self.dtype is None:
            return self.activation.spelled(y, *numbers)
        wide = prims.convert_element_type(y, torch.float32)
        return prims.convert_element_type(self.activation.spelled(wide, *numbers), self.dtype)


def _gelu(y: Any) -> Any:
    erf = aten.erf(aten.mul(y, 0.7071067811865476))
    return aten.mul(aten.mul(y, 0.5), aten.add(erf, 1))


def _gelu_tanh(y: Any) -> Any:
    cube = aten.mul(aten.mul(y, y), y)
    inner = aten.mul(aten.add(y, aten.mul(cube, 0.044715)), 0.7978845608028654)
    return aten.mul(aten.mul(y, 0.5), aten.add(aten.tanh(inner), 1))


def _relu6_of_3_more(y: Any) -> Any:
    return aten.clamp_max(aten.clamp_min(aten.add(y, 3), 0), 6)


def _silu(y: Any) -> Any:
    return aten.div(y, aten.add(aten.exp(aten.neg(y)), 1))


def _leaky_relu(y: Any, slope: Any) -> Any:
    return aten.where(aten.gt(y, 0), y, aten.mul(y, slope))


def _hardtanh(y: Any, low: Any, high: Any) -> Any:
    return aten.clamp_max(aten.clamp_min(y, low), high)


def _is_slope(slope: Any) -> bool:
    """With 0, oneDNN computes a relu, which is otherwise at NaN and -inf."""
    return _is_float32(slope) and slope != 0


def _are_bounds(low: Any, high: Any) -> bool:
    return _is_float32(low) and _is_float32(high) and low <= high


def _is_float32(number: Any) -> bool:
    """Whether oneDNN takes a number: it has float32, and refuses what overflows."""
    if type(number) not in (int, float):
        return False
    largest = torch.finfo(torch.float32).max
    return math.isinf(number) or abs(number) <= largest


#: In Inductor's order.
ACTIVATIONS: tuple[Activation, ...] = (
    Activation("gelu", _gelu_tanh, "tanh"),
    Activation("gelu", _gelu, "none"),
    Activation("hardswish", lambda y: aten.div(aten.mul(y, _relu6_of_3_more(y)), 6)),
    Activation("hardsigmoid", lambda y: aten.div(_relu6_of_3_more(y), 6), numerics=APPROXIMATE),
    Activation("swish", _silu),
    Activation("relu", lambda y: aten.relu(y), numerics=APPROXIMATE, has_casts=False),
    Activation("sigmoid", lambda y: aten.sigmoid(y), has_casts=False),
    Activation("tanh", lambda y: aten.tanh(y), has_casts=False),
    Activation("leaky_relu", _leaky_relu, numbers=("slope",), takes=_is_slope),
    Activation(
        "hardtanh", _hardtanh, numbers=("low", "high"), takes=_are_bounds, numerics=APPROXIMATE
    ),
)


@cache
def spellings_at(name: str) -> Sequence[Spelling]:
    """The patterns whose result an op of this name may make."""
    return [one for each in ACTIVATIONS for one in each.spellings if name in one.ends]


@cache
def names() -> frozenset[str]:
    """The names of all ops in the patterns."""
    found: set[str] = set()
    pending: list[Any] = [
        out for each in ACTIVATIONS for one in each.spellings for out in one.outputs
    ]
    while pending:
        one = pending.pop()
        if isinstance(one, Call):
            found.update(head.cls.name for head in one.heads)
        pending.extend(children(one))
    return frozenset(found)


__all__ = ["ACTIVATIONS", "NARROW", "Activation", "Spelling", "names", "spellings_at"]
