"""The argument and result types of op functions, for type checkers; `ir/*.pyi` use them.

At run time arguments are distinguished by their attribute `kind` (see `overload_resolution.py`),
which variables of a rewrite and results of other op functions have.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import Any, Protocol, SupportsIndex

import torch


class Value(Protocol):
    """A variable of a rewrite, or the result of an op function: a tensor, a number or a list."""

    @property
    def kind(self) -> str:
        """Its kind in a schema: `tensor`, `int`, `list[tensor]`, ..."""
        ...


class Result(Value, Protocol):
    """The result of an op function; its facts are known in `replacement`, not in `pattern`."""

    @property
    def dtype(self) -> torch.dtype: ...
    @property
    def device(self) -> torch.device: ...
    @property
    def shape(self) -> tuple[Any, ...]: ...
    @property
    def stride(self) -> tuple[Any, ...]: ...
    @property
    def ndim(self) -> int: ...


#: In a pattern, `...` matches any argument.
Anything = EllipsisType

TensorArg = Value | Anything
IntArg = SupportsIndex | Value | Anything
FloatArg = float | SupportsIndex | Value | Anything
ScalarArg = complex | SupportsIndex | Value | Anything
BoolArg = bool | Value | Anything
StrArg = str | Value | Anything
DtypeArg = torch.dtype | Value | Anything
DeviceArg = torch.device | str | Value | Anything
LayoutArg = torch.layout | Value | Anything
MemoryFormatArg = torch.memory_format | Value | Anything
ObjectArg = Any
Many = Sequence

__all__ = ["Anything", "Result", "Value"]
