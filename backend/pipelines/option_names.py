"""Whether there are the passes that the settings of a compile name."""

from __future__ import annotations

from typing import Any

from xductor.backend.config.placement import Placed, PlacementError
from xductor.backend.config.settings import PREFIX, Settings, SettingsError
from xductor.backend.pipelines import disabled_passes, places
from xductor.transforms import Rewrite
from xductor.transforms.rewriting.patterns import PatternError


def check(settings: Settings) -> None:
    """Raises SettingsError for a pass that there is not, or that cannot be left out."""
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
    """Raises PatternError for a pattern that is none with the options of an instance.

    That of the default options was looked at when the class was made.
    """
    one = rewrite.rewrite if isinstance(rewrite, Placed) else rewrite
    if isinstance(one, Rewrite):
        _ = one.compiled


__all__ = ["check"]
