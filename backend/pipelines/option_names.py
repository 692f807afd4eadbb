"""Whether there are the passes that the settings of a compile name."""

from __future__ import annotations

from xductor.backend.config.placement import PlacementError
from xductor.backend.config.settings import PREFIX, Settings, SettingsError
from xductor.backend.pipelines import disabled_passes, places


def check(settings: Settings) -> None:
    """Raises SettingsError for a pass that there is not, or that cannot be left out."""
    for name in sorted(settings.disabled_passes):
        reason = disabled_passes.refusal(name)
        if reason is not None:
            raise SettingsError(f"option {PREFIX + 'disabled_passes'!r}: {reason}")
    for rewrite in settings.rewrites:
        try:
            places.check(rewrite)
        except PlacementError as error:
            raise SettingsError(f"option {PREFIX + 'rewrites'!r}: {error}") from None


__all__ = ["check"]
