"""Arithmetic of narrow floats in float32: widened before it, narrowed behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from xductor.ir import prims
from xductor.transforms.analysis.dtypes import NARROW_FLOATS

#: Converts a tensor to a dtype; before autograd that is `aten.to`.
Convert = Callable[[Any, torch.dtype], Any]


def widened(x: Any, convert: Convert = prims.convert_element_type) -> Any:
    """A tensor of narrow floats in float32; any other as it is."""
    return convert(x, torch.float32) if x.dtype in NARROW_FLOATS else x


def narrowed(x: Any, dtype: torch.dtype, convert: Convert = prims.convert_element_type) -> Any:
    """A tensor in a dtype, without a conversion if it has it."""
    return x if x.dtype == dtype else convert(x, dtype)


__all__ = ["Convert", "narrowed", "widened"]
