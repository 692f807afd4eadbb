"""The factors `alpha` and `beta` of an addmm: its kernels do not read what they multiply by 0."""

from __future__ import annotations

from typing import Any

#: A smaller factor may become 0 when it is converted to float32.
_LEAST = 1e-30


def is_nothing(factor: Any) -> Any:
    """Whether a factor is 0, or may become 0 when it is converted to float32."""
    return factor is not None and factor > -_LEAST and factor < _LEAST


__all__ = ["is_nothing"]
