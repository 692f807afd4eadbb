"""Options as a user gives them, checked once: where a backend is made, or `install()` is called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from xductor.backend.config import registered_rewrites
from xductor.backend.config.registered_rewrites import Registration
from xductor.backend.config.settings import Settings


def checked_settings(options: Mapping[str, Any] | None = None) -> Settings:
    """Settings from `xductor.*` options, whose names of passes are those of passes that there are.

    Raises SettingsError: an option that cannot be understood, a pass that there is not.
    """
    settings = Settings.from_options(options)
    if settings.rewrites or settings.disabled_passes:
        # The pipelines are loaded where their names are asked for, or their stages run.
        from xductor.backend.pipelines import option_names

        option_names.check(settings)
    return settings


def register_rewrites(rewrites: Iterable[Any]) -> Registration:
    """Add rewrites and passes to every compile of this process, in any thread, that begins now.

    They run behind those that a compile names itself, and in the order of registration. What is
    compiled already stays as it is (`torch._dynamo.reset()` forgets it). To be used as a function,
    or as a context manager: `with register_rewrites([MyRewrite]): ...`.

    Raises SettingsError for what is no rewrite or pass, or has a place that its stage has not.
    """
    return registered_rewrites.add(checked_settings({"xductor.rewrites": rewrites}).rewrites)


__all__ = ["checked_settings", "register_rewrites"]
