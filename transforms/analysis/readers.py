"""Which ops read a value."""

from __future__ import annotations

from typing import Any

from xdsl.ir import SSAValue


def only_reader(value: SSAValue) -> Any:
    """The op that alone reads a value, and reads it once; None if there is none."""
    use = value.first_use
    return use.operation if use is not None and value.has_one_use() else None


__all__ = ["only_reader"]
