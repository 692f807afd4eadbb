"""The arguments of a call by parameter name, for calls without an operator schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch._ops import HigherOrderOperator

from xductor.ir.dialect.operations import TorchOp
from xductor.ir.python import targets
from xductor.ir.python.binding import IsValue, placed
from xductor.ir.python.signatures import method_signatures, signatures


def bind_call(
    cls: type[TorchOp],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    is_value: IsValue,
) -> dict[str, Any]:
    """The arguments of a call of `cls` by name, with defaults filled in.

    If no signature is known or none fits, positional arguments are named "0", "1", ...
    """
    bound: dict[str, Any] | None = None
    if cls.fx_op == "call_method":
        bound = targets.bind_method(cls.target, args, kwargs, is_value)
    elif cls.fx_op == "call_function" and not isinstance(cls.target, HigherOrderOperator):
        bound = targets.bind(cls.target, args, kwargs, is_value)
    if bound is not None:
        return bound
    return {**{str(place): item for place, item in enumerate(args)}, **kwargs}


def call_arguments(
    cls: type[TorchOp], bound: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The positional and keyword arguments of a call of `cls`, given the result of `bind_call`.

    Names that are numbers are positions; the first argument of an unknown method is the receiver.
    """
    known = None
    if cls.fx_op == "call_method":
        known = method_signatures(cls.target)
    elif cls.fx_op == "call_function" and not isinstance(cls.target, HigherOrderOperator):
        known = signatures(cls.target)
    found = placed(known, bound)
    if found is not None:
        return found
    positional = tuple([item for name, item in bound.items() if name.isdigit()])
    return positional, {name: item for name, item in bound.items() if not name.isdigit()}


__all__ = ["bind_call", "call_arguments"]
