"""The factors of an `addmm`, of which a kernel reads nothing behind a 0."""

from __future__ import annotations

from typing import Any

_LEAST = 1e-30
"""Smaller factors may be 0 by the time they are float32."""


def is_nothing(factor: Any) -> Any:
    """Whether a factor is 0, or may be it by the time that it is float32."""
    return factor is not None and factor > -_LEAST and factor < _LEAST


__all__ = ["is_nothing"]
