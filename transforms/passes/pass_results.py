"""Checks the number of applications that a procedural pass returns against what it did."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation


class WrongCount(Exception):
    """A pass returned a wrong number of applications; the message names it and its source line."""


Snapshot = list[tuple[Operation, tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]]]


def snapshot(module: ModuleOp) -> Snapshot:
    """The ops of a module in order, with the very objects that they hold."""
    return [
        (
            op,
            tuple(op._operands),
            (*op.attributes.values(), *op.properties.values()),
            tuple([value.type for value in (*op.results, *_arguments(op))]),
        )
        for op in module.walk()
    ]


def application_count(one: Any, answer: Any, changed: bool | None = None) -> int:
    """The number of applications that `rewrite` of `one`, a `TypedPass`, returned.

    `changed`: whether the module differs from before; None if that is not known.

    Raises WrongCount if the answer is no count, is 0 although the module changed, or is not 0
    although it did not.
    """
    if not isinstance(answer, int) or answer < 0:
        raise WrongCount(
            f"{_described(one)}: `rewrite` returned {answer!r}; expected the number of "
            "applications, 0 if the module is as it was"
        )
    if changed and not answer:
        raise WrongCount(
            f"{_described(one)}: `rewrite` changed the module and returned 0; expected the number "
            "of applications"
        )
    if changed is False and answer:
        raise WrongCount(
            f"{_described(one)}: `rewrite` returned {answer!r} and changed nothing; expected 0 "
            "where the module is as it was"
        )
    return int(answer)


def _described(one: Any) -> str:
    stages = (one.stage,) if isinstance(one.stage, str) else one.stage
    code = type(one).rewrite.__code__
    return (
        f"pass {one.name} ({', '.join(stages)}; {code.co_filename}:{code.co_firstlineno}, "
        f"in {type(one).__qualname__})"
    )


def _arguments(op: Operation) -> list[Any]:
    return [argument for region in op.regions for block in region.blocks for argument in block.args]


__all__ = ["Snapshot", "WrongCount", "application_count", "snapshot"]
