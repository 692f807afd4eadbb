"""Constants and calls as Python text."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from xductor.ir.dialect.arguments import FunctionArg
from xductor.transforms.matching.patterns import PatternError

_WIDTH = 100


def constant_text(value: Any) -> str:
    """A constant as Python.

    Raises PatternError for one that has no such text.
    """
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    if isinstance(value, torch.dtype | torch.layout | torch.memory_format):
        return str(value)
    if isinstance(value, torch.device):
        return f'torch.device("{value}")'
    if isinstance(value, FunctionArg) and value.name.startswith("torch.ops."):
        return value.name.removeprefix("torch.")
    raise PatternError(f"an argument {value!r}, which no pattern can name")


def call_text(head: str, parts: Sequence[str], end: str = "") -> Iterator[str]:
    """A call on one line, or with an argument on each if it is long."""
    line = f"{head}({', '.join(parts)}){end}"
    if len(line) <= _WIDTH - 16 and "\n" not in line:
        yield line
        return
    yield f"{head}("
    for part in parts:
        yield from (f"    {line}" for line in f"{part},".split("\n"))
    yield f"){end}"


__all__ = ["call_text", "constant_text"]
