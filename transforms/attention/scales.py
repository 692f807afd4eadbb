"""Numbers that scale scores: constants, and tensors that hold one constant."""

from __future__ import annotations

import math
from typing import Any

from xductor.transforms.attention.reading import Reader


def constant(value: Any, reader: Reader) -> float | None:
    """The finite number that a value is, if that is known."""
    if type(value) in (int, float):
        return float(value) if math.isfinite(value) else None
    return None


__all__ = ["constant"]
