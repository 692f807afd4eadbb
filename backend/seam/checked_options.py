"""Checks options as users give them, once: when a backend is made or `install()` is called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from xductor.backend.config import registered_rewrites
from xductor.backend.config.registered_rewrites import Registration
from xductor.backend.config.settings import Settings


def checked_settings(options: Mapping[str, Any] | None = None) -> Settings:
    """Settings from `xductor.*` options, whose pass names are checked to exist.

    Raises SettingsError for an option with a wrong name or value, or a pass that does not exist.
    """
    settings = Settings.from_options(options)
    if settings.rewrites or settings.disabled_passes:
        # The pipelines are loaded only when their names are asked for, or their stages run.
        from xductor.backend.pipelines import option_names

        option_names.check(settings)
    return settings


def register_rewrites(rewrites: Iterable[Any]) -> Registration:
    """Add rewrites and passes to every compile of this process, in any thread, that begins now.

    They run after those that a compile names itself, in the order of registration. What is already
    compiled stays as it is (`torch._dynamo.reset()` forgets it). Use it as a function, or as a
    context manager: `with register_rewrites([MyRewrite]): ...`.

    Raises SettingsError for what is no rewrite or pass, or names a place that its stage lacks.
    """
    return registered_rewrites.add(checked_settings({"xductor.rewrites": rewrites}).rewrites)


__all__ = ["checked_settings", "register_rewrites"]
