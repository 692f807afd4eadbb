"""What FX nodes record about their values."""

from __future__ import annotations

from typing import Any

from xductor.ir.value_types import TypeReader, leaves_of, nested_size, structure_of

MISSING = object()
"""A node without a recorded value."""


def recorded_value(node: Any, stage: str) -> Any:
    """The value a node's metadata records for the stage, or MISSING.

    Dynamo records `example_value`, AOTAutograd `val`; a graph of another level may have the other.
    """
    meta = node.meta
    keys = ("example_value", "val") if stage == "pre_grad" else ("val", "example_value")
    for key in keys:
        if key in meta:
            return meta[key]
    return MISSING


__all__ = [
    "MISSING",
    "TypeReader",
    "leaves_of",
    "nested_size",
    "recorded_value",
    "structure_of",
]
