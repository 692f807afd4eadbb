"""The values that FX nodes record."""

from __future__ import annotations

from typing import Any

from xductor.ir.inference.value_types import TypeReader, leaves_of, nested_size, structure_of

#: A node without a recorded value.
MISSING = object()


def recorded_keys(stage: str) -> tuple[str, str]:
    """The `meta` key under which a node of a stage records its value, and an alternative."""
    return ("example_value", "val") if stage == "pre_grad" else ("val", "example_value")


def recorded_value(node: Any, stage: str) -> Any:
    """The value that a node's metadata records for the stage, or MISSING.

    Dynamo records `example_value`, AOTAutograd `val`; a graph of another level may have the other.
    """
    meta = node.meta
    for key in recorded_keys(stage):
        if key in meta:
            return meta[key]
    return MISSING


__all__ = [
    "MISSING",
    "TypeReader",
    "leaves_of",
    "nested_size",
    "recorded_keys",
    "recorded_value",
    "structure_of",
]
