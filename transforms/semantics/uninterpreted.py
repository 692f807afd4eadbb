"""Uninterpreted functions, of which a proof knows only that equal bits give equal bits.

Each comes with the PyTorch kernel that evaluates it, for tests and counter-examples. Attributes of
an op are operands too, as float64.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch

from xductor.transforms.semantics.terms import call

Kernel = Callable[..., torch.Tensor]

_aten = torch.ops.aten

#: Functions of two floats; integers become floats.
BINARY: Mapping[str, Kernel] = {
    name: getattr(torch, name)
    for name in ("atan2", "hypot", "copysign", "nextafter", "logaddexp", "logaddexp2", "xlogy")
}

#: Functions of one float; integers become floats.
UNARY: Mapping[str, Kernel] = {
    "i0": torch.i0,
    "sinc": torch.sinc,
}

#: Functions of one float, which refuse integers.
FLOAT_UNARY: Mapping[str, Kernel] = {
    "mish": torch.nn.functional.mish,
    "hardswish": torch.nn.functional.hardswish,
    "hardsigmoid": torch.nn.functional.hardsigmoid,
    "log_sigmoid": torch.nn.functional.logsigmoid,
}


def _with_numbers(kernel: Kernel) -> Kernel:
    def function(x: torch.Tensor, *numbers: torch.Tensor) -> torch.Tensor:
        return kernel(x, *[one.item() for one in numbers])

    return function


#: Functions of one float with numbers as attributes, and their defaults.
WITH_NUMBERS: Mapping[str, tuple[Kernel, tuple[float, ...]]] = {
    "elu": (_with_numbers(_aten.elu.default), (1, 1, 1)),
    "softplus": (_with_numbers(_aten.softplus.default), (1, 20)),
    "celu": (_with_numbers(_aten.celu.default), (1.0,)),
}

# Draws: functions of the state of the generator, which is a tensor as `get_state` gives it.

#: The state before the first draw: the seed and the offset that the graph starts with.
GENERATOR = call("u.generator", (), torch.int64)

#: The seed with which draws are evaluated.
SEED = 20260101

#: The dtypes in which numbers are drawn; the position in this list is an operand of draws.
DRAWN = (
    torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64, torch.int32,
    torch.bool,
)  # fmt: skip

Draw = Callable[[torch.Generator, int, torch.dtype, list[float]], torch.Tensor]

#: Draw a number of values from a generator, with the parameters of the distribution.
DRAWS: Mapping[str, Draw] = {
    "rand": lambda g, count, dtype, _: torch.rand(count, generator=g, dtype=dtype),
    "randn": lambda g, count, dtype, _: torch.randn(count, generator=g, dtype=dtype),
    "randint": lambda g, count, dtype, ends: torch.randint(
        int(ends[0]), int(ends[1]), (count,), generator=g, dtype=dtype
    ),
    "randperm": lambda g, count, dtype, _: torch.randperm(count, generator=g, dtype=dtype),
    "bernoulli": lambda g, count, dtype, ends: torch.bernoulli(
        torch.empty(count, dtype=dtype), ends[0], generator=g
    ),
}


def _first_state() -> torch.Tensor:
    return torch.Generator().manual_seed(SEED).get_state()


def _draw(
    name: str, state: torch.Tensor, count: torch.Tensor, kind: torch.Tensor, numbers: list[float]
) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator()
    generator.set_state(state)
    found = DRAWS[name](generator, int(count), DRAWN[int(kind)], numbers)
    return found, generator.get_state()


def _element(name: str) -> Kernel:
    def function(
        state: torch.Tensor,
        count: torch.Tensor,
        kind: torch.Tensor,
        place: torch.Tensor,
        *numbers: torch.Tensor,
    ) -> torch.Tensor:
        return _draw(name, state, count, kind, [one.item() for one in numbers])[0][int(place)]

    return function


def _after(name: str) -> Kernel:
    def function(
        state: torch.Tensor, count: torch.Tensor, kind: torch.Tensor, *numbers: torch.Tensor
    ) -> torch.Tensor:
        return _draw(name, state, count, kind, [one.item() for one in numbers])[1]

    return function


#: The dtypes of numbers that are quantised.
QUANTIZED = (torch.uint8, torch.int8, torch.int16, torch.int32)


def _quantized(dtype: torch.dtype) -> Kernel:
    def function(x: torch.Tensor, *numbers: torch.Tensor) -> torch.Tensor:
        scale, zero, low, high = (one.item() for one in numbers)
        steps = torch.round(x * (1.0 / scale)) + int(zero)
        return torch.clamp(steps, int(low), int(high)).to(dtype)

    return function


def _dequantized(x: torch.Tensor, scale: torch.Tensor, zero: torch.Tensor) -> torch.Tensor:
    return (x.to(torch.float32) - int(zero.item())) * scale.item()


#: All uninterpreted functions by the names of their calls.
FUNCTIONS: Mapping[str, Kernel] = {
    **{f"u.{name}": kernel for name, kernel in (BINARY | UNARY | FLOAT_UNARY).items()},
    **{f"u.{name}": kernel for name, (kernel, _) in WITH_NUMBERS.items()},
    "u.generator": _first_state,
    **{f"u.{name}": _element(name) for name in DRAWS},
    **{f"u.after.{name}": _after(name) for name in DRAWS},
    # Which of the places that write one element does so last is up to the device.
    "u.written_last": lambda place: place,
    **{f"u.quantize_{dtype}": _quantized(dtype) for dtype in QUANTIZED},
    "u.dequantize": _dequantized,
    "u.logit": lambda x, eps: torch.logit(x, None if eps.isnan() else eps.item()),
}
