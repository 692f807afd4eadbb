"""Functions of which a proof knows nothing but that the same bits give the same bits.

Each has the kernel of PyTorch that works it out, for tests and counter-examples. Attributes of an
op are operands too, as float64.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch

Kernel = Callable[..., torch.Tensor]

_aten = torch.ops.aten

BINARY: Mapping[str, Kernel] = {
    name: getattr(torch, name)
    for name in ("atan2", "hypot", "copysign", "nextafter", "logaddexp", "logaddexp2", "xlogy")
}
"""Functions of two floats; integers become floats."""

UNARY: Mapping[str, Kernel] = {
    "i0": torch.i0,
    "sinc": torch.sinc,
}
"""Functions of one float; integers become floats."""

FLOAT_UNARY: Mapping[str, Kernel] = {
    "mish": torch.nn.functional.mish,
    "hardswish": torch.nn.functional.hardswish,
    "hardsigmoid": torch.nn.functional.hardsigmoid,
    "log_sigmoid": torch.nn.functional.logsigmoid,
}
"""Functions of one float, which refuse integers."""


def _with_numbers(kernel: Kernel) -> Kernel:
    def function(x: torch.Tensor, *numbers: torch.Tensor) -> torch.Tensor:
        return kernel(x, *[one.item() for one in numbers])

    return function


WITH_NUMBERS: Mapping[str, tuple[Kernel, tuple[float, ...]]] = {
    "elu": (_with_numbers(_aten.elu.default), (1, 1, 1)),
    "softplus": (_with_numbers(_aten.softplus.default), (1, 20)),
    "celu": (_with_numbers(_aten.celu.default), (1.0,)),
}
"""Functions of one float with numbers as attributes, and what those are if not given."""

FUNCTIONS: Mapping[str, Kernel] = {
    **{f"u.{name}": kernel for name, kernel in (BINARY | UNARY | FLOAT_UNARY).items()},
    **{f"u.{name}": kernel for name, (kernel, _) in WITH_NUMBERS.items()},
    "u.logit": lambda x, eps: torch.logit(x, None if eps.isnan() else eps.item()),
}
"""All of them by the names of calls."""
