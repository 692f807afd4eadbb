"""Warnings about what our stages do not reach, given once, in the compile in which it happens.

docs/covered.md lists the ways into Inductor; those that bypass our stages, or use them only in
part, warn here.
"""

from __future__ import annotations

from typing import Any

from xductor.backend.config import versions
from xductor.backend.config.warn_once import warn_once

#: Inductor's flags that turn off whole stages, with the stage that each turns off.
_STAGE_FLAGS = {
    "use_pre_grad_passes": "pre_grad",
    "use_joint_graph_passes": "joint",
    "use_post_grad_passes": "post_grad",
}


class NotCoveredWarning(UserWarning):
    """A part of a compile runs without xductor although it was asked for."""


def say(topic: str, message: str) -> None:
    """Warn with `message`, the first time that `topic` comes up in this process."""
    warn_once(NotCoveredWarning, topic, message, stacklevel=3)


def say_of_flags(is_inference: bool) -> None:
    """Warn of what Inductor's options, as they are now, keep from our stages."""
    from torch._inductor import config

    options: Any = config
    off = [flag for flag in _STAGE_FLAGS if not getattr(options, flag, True)]
    if off:
        stages = ", ".join(_STAGE_FLAGS[flag] for flag in off)
        say(
            f"flags {off}",
            f"Inductor is told to run no {stages} passes ({', '.join(off)}: off, as in "
            f'mode="lite"), so that those stages of xductor do not run either',
        )
    if options.freezing and is_inference:
        say(
            "freezing",
            "with freezing on, xductor runs its three stages, computes constants, folds arithmetic "
            "into them and packs weights; entries that others added to Inductor's tables run "
            "behind its own",
        )


def say_other_process(mode: str) -> None:
    """Warn that a compile stays in this process, against `TORCHINDUCTOR_FX_COMPILE_MODE`."""
    say(
        "other process",
        f"TORCHINDUCTOR_FX_COMPILE_MODE={mode} compiles in another process, where Inductor's own "
        "passes would run; compiles with xductor stay in this one",
    )


def say_unsupported_torch(error: versions.UnsupportedTorchError) -> None:
    """Warn that `backend="xductor"` compiles with Inductor alone, and why."""
    say("torch", f'backend="xductor" compiles with plain Inductor: {error}')
