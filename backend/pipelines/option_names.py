"""Checks that the passes named in the settings of a compile exist."""

from __future__ import annotations

from typing import Any

from xductor.backend.config.placement import Placed, PlacementError
from xductor.backend.config.settings import PREFIX, Settings, SettingsError
from xductor.backend.pipelines import disabled_passes, places
from xductor.transforms import Rewrite
from xductor.transforms.matching.patterns import PatternError


def check(settings: Settings) -> None:
    """Raises SettingsError for a pass that does not exist, or that cannot be disabled."""
    for name in sorted(settings.disabled_passes):
        reason = disabled_passes.refusal(name)
        if reason is not None:
            raise SettingsError(f"option {PREFIX + 'disabled_passes'!r}: {reason}")
    for rewrite in settings.rewrites:
        try:
            places.check(rewrite)
            _check_pattern(rewrite)
        except (PlacementError, PatternError) as error:
            raise SettingsError(f"option {PREFIX + 'rewrites'!r}: {error}") from None


def _check_pattern(rewrite: Any) -> None:
    """Raises PatternError if the pattern is invalid with the options of this instance.

    With the default options it was checked when the class was made.
    """
    one = rewrite.rewrite if isinstance(rewrite, Placed) else rewrite
    if isinstance(one, Rewrite):
        _ = one.compiled


__all__ = ["check"]
