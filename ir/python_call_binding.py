"""The arguments of a call by parameter name, for calls that follow no operator schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch._ops import HigherOrderOperator

from xductor.ir import python_targets
from xductor.ir.binding import IsValue
from xductor.ir.operations import TorchOp


def bind_call(
    cls: type[TorchOp],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    is_value: IsValue,
) -> dict[str, Any]:
    """The arguments of a call of `cls` by name, defaults filled in.

    Where no signature is known or none fits, positional arguments are named "0", "1", ...
    """
    bound: dict[str, Any] | None = None
    if cls.fx_op == "call_method":
        bound = python_targets.bind_method(cls.target, args, kwargs, is_value)
    elif cls.fx_op == "call_function" and not isinstance(cls.target, HigherOrderOperator):
        bound = python_targets.bind(cls.target, args, kwargs, is_value)
    if bound is not None:
        return bound
    return {**{str(place): item for place, item in enumerate(args)}, **kwargs}


__all__ = ["bind_call"]
