"""Whether the types of a random graph before autograd are what they should be."""

from __future__ import annotations

from typing import Any

from xdsl.utils.exceptions import VerifyException

import xductor


def has_sound_types(module: Any) -> bool:
    """False where types of views are stale behind a write, as Dynamo's are behind some."""
    try:
        xductor.verify(module, level="types")
    except VerifyException:
        return False
    return True


__all__ = ["has_sound_types"]
