"""Operators whose results have the same bits wherever they are computed."""

from __future__ import annotations

#: Rounded correctly, or not at all: on every device the bits are those that a CPU gives.
SAME_ON_EVERY_DEVICE = frozenset(
    ("abs", "add", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "ceil", "clamp",
     "clone", "convert_element_type", "div", "eq", "floor", "ge", "gt", "isinf", "isnan", "le",
     "logical_and", "logical_not", "logical_or", "logical_xor", "lt", "masked_fill", "maximum",
     "minimum", "mul", "ne", "neg", "relu", "sign", "sub", "trunc", "where")
)  # fmt: skip

__all__ = ["SAME_ON_EVERY_DEVICE"]
