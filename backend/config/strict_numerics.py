"""Under `strict` numerics, turns off the liberties with values that Inductor has a switch for.

The switches are those of Inductor's configuration, set for the one compile: they are part of the
keys of its caches, and are in force when its backward is compiled, whenever and in whatever thread.
What the user has set stays: any value that is an option of the compile or in the environment, and a
value in the configuration that is not the default.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Mapping
from contextvars import ContextVar
from types import ModuleType
from typing import Any, NamedTuple

from xductor.backend.config import compile_state, versions
from xductor.backend.config.settings import Settings


class _Switch(NamedTuple):
    """The value with which Inductor does as eager, and the variable by which a user may set it."""

    value: bool
    variable: str = ""


_SWITCHES: Mapping[str, _Switch] = {
    # Casts between ops that share a kernel, which round in eager; on GPU also the contraction of a
    # product and a sum, and eager's library of functions.
    "emulate_precision_casts": _Switch(True, "TORCHINDUCTOR_EMULATE_PRECISION_CASTS"),
    "eager_numerics.division_rounding": _Switch(True, "TORCHINDUCTOR_EMULATE_DIVISION_ROUNDING"),
    "eager_numerics.disable_ftz": _Switch(True),
    "eager_numerics.use_pytorch_libdevice": _Switch(True),
    # The online softmax rescales its sum at each greater maximum.
    "online_softmax": _Switch(False, "TORCHINDUCTOR_ONLINE_SOFTMAX"),
    "apply_gumbel_max_trick": _Switch(False, "TORCHINDUCTOR_APPLY_GUMBEL_MAX_TRICK"),
    # The random numbers that eager draws from the same seed.
    "fallback_random": _Switch(True),
}

_patched: ContextVar[Settings | None] = ContextVar("xductor_strict_compile", default=None)

#: Entries of Inductor's post-grad tables that change the order of sums: of products, with a bias.
REASSOCIATING = frozenset(
    ("torch._inductor.fx_passes.post_grad", name)
    for name in ("addmm", "unfuse_bias_add_to_pointwise", "mm_plus_mm")
)


def config_patches(given: Mapping[str, Any]) -> dict[str, Any]:
    """The switches that the user has not set, for a compile that is given these patches."""
    return {
        name: switch.value
        for name, switch in _SWITCHES.items()
        if name not in given and switch.variable not in os.environ and versions.has_default(name)
    }


def attach(compile_fx: ModuleType) -> None:
    """Make Inductor's entry function set the switches if the compile that begins is one of ours."""
    stock = compile_fx.compile_fx
    signature = inspect.signature(stock)

    @functools.wraps(stock)
    def with_switches(*args: Any, **kwargs: Any) -> Any:
        settings = compile_state.current().settings
        # The entry function calls itself if it is given patches.
        if settings is None or settings.numerics != "strict" or _patched.get() == settings:
            return stock(*args, **kwargs)
        call = signature.bind(*args, **kwargs)
        given = call.arguments.get("config_patches") or {}
        call.arguments["config_patches"] = {**config_patches(given), **given}
        token = _patched.set(settings)
        try:
            return stock(*call.args, **call.kwargs)
        finally:
            _patched.reset(token)

    setattr(compile_fx, "compile_fx", with_switches)  # noqa: B010


__all__ = ["REASSOCIATING", "attach", "config_patches"]
