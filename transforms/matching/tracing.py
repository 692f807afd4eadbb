"""Turns the `pattern` method of a rewrite into a pattern tree; nothing is traced by PyTorch."""

from __future__ import annotations

from typing import Any

from xductor.ir import TorchOp
from xductor.ir.dialect.python_call_binding import bind_call
from xductor.ir.functions.op_functions import BoundCall, building
from xductor.transforms.matching.commutativity import needs_unit_alpha, swappable
from xductor.transforms.matching.patterns import (
    Bound,
    Call,
    Head,
    Item,
    OneOf,
    Pattern,
    PatternError,
)


class PatternBuilder:
    """Records the calls of op functions as pattern nodes."""

    def call(self, name: str, calls: list[BoundCall]) -> Call:
        heads = tuple([_head(call) for call in calls])
        table = calls[0].cls.table
        return Call(name, heads, table.returns, not table.is_tuple)

    def raw_call(self, cls: type[TorchOp], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        bound = bind_call(cls, args, kwargs, lambda item: isinstance(item, Pattern))
        call = Call(cls.name, (Head(cls, tuple(bound.items()), swappable(cls)),), None, False)
        call.kind = "any"
        return call


def _head(call: BoundCall) -> Head:
    swap = swappable(call.cls)
    if swap is not None and needs_unit_alpha(call.cls):
        alpha = call.args[call.cls.table.index["alpha"]]
        if not isinstance(alpha, Pattern) and alpha is not ... and alpha != 1:
            swap = None
    return Head(call.cls, tuple(enumerate(call.args)), swap)


def trace(pattern: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The outputs of a pattern method called on variables, as calls, items and alternatives.

    A call that gives a list of any length is returned alone: all its results are replaced.

    Raises PatternError if the method returns something that no op computes.
    """
    with building(PatternBuilder()):
        returned = pattern(*arguments)
    if _is_list(_unbound(returned)):
        return (returned,)
    outputs = tuple(returned) if isinstance(returned, tuple | list) else (returned,)
    found: list[Any] = []
    for output in outputs:
        if isinstance(output, Call) and not output.single and output.outputs is not None:
            found.extend(Item(output, index) for index in range(output.outputs))
        elif _is_list(_unbound(output)):
            raise PatternError(
                f"`pattern` returns {output!r}, which gives a list of any length, among others; "
                "such a call is returned alone, and stands for all of its results"
            )
        elif (wrong := _no_call(output)) is not None:
            raise PatternError(f"`pattern` returns {wrong!r}, which is no call of an operator")
        else:
            found.append(output)
    if not found:
        raise PatternError("`pattern` returns nothing")
    return tuple(found)


def _is_list(output: Any) -> bool:
    """Whether an output is a call whose number of results is not known from the pattern."""
    return isinstance(output, Call) and output.gives_list


def _unbound(output: Any) -> Any:
    return _unbound(output.pattern) if isinstance(output, Bound) else output


def _no_call(output: Any) -> Any:
    """The part of an output that no op makes, so that it cannot be found; None if there is none."""
    if isinstance(output, Bound):
        return _no_call(output.pattern)
    if isinstance(output, OneOf):
        wrong = (_no_call(one) for one in output.alternatives)
        return next((one for one in wrong if one is not None), None)
    return None if isinstance(output, Call | Item) else _Nothing() if output is None else output


class _Nothing:
    def __repr__(self) -> str:
        return "nothing"


__all__ = ["PatternBuilder", "trace"]
