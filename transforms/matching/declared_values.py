"""Checks what the class of a rewrite declares: its attributes, and that `replacement` returns."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable
from functools import cache
from types import CodeType, FunctionType
from typing import Any

from xductor.transforms.matching import spellings
from xductor.transforms.matching.patterns import PatternError
from xductor.transforms.matching.spellings import Spelling
from xductor.transforms.passes.declared_attributes import (
    PLACE,
    DeclarationError,
    check_devices,
    check_kind,
    check_members,
    check_values,
)

_VALUES = ("stage", "numerics", "inductor", "name", "counter", "permits", *PLACE)
_METHODS = frozenset(("pattern", "where", "pays", "replacement", "instances", "uuid"))


def check_attributes(cls: type) -> None:
    """Raise PatternError for an attribute of a rewrite's class that has a wrong value."""
    try:
        check_values(cls, [name for name in _VALUES if hasattr(cls, name)])
        check_devices(cls)
        expected = "a tuple of spellings, such as ALL_SPELLINGS"
        check_members(cls, "through", _is_spelling, expected, _spellings())
        check_kind(cls, "once", bool, "True or False")
        check_kind(cls, "keeps", str, "the name of a variable of the pattern")
    except DeclarationError as error:
        raise PatternError(str(error)) from None
    for owner in cls.__mro__[:-1]:
        for name in vars(owner).keys() & _METHODS:
            method = vars(owner)[name]
            if not isinstance(getattr(method, "__func__", method), FunctionType):
                raise PatternError(f"{cls.__name__}.{name} is {method!r}; expected a method")


def _is_spelling(one: Any) -> bool:
    return isinstance(one, Spelling)


@cache
def _spellings() -> list[str]:
    found = vars(spellings).items()
    return [
        name
        for name, one in found
        if isinstance(one, Spelling | tuple) and not name.startswith("_")
    ]


def check_returns(rewrite: str, method: Callable[..., Any]) -> None:
    """Raise PatternError if `replacement` returns nothing on every path."""
    function = getattr(method, "__func__", method)
    if not isinstance(function, FunctionType) or inspect.isgeneratorfunction(function):
        return
    code = function.__code__
    if _returns_nothing(code):
        raise PatternError(
            f"{rewrite}.{function.__name__} ({code.co_filename}:{code.co_firstlineno}) returns "
            "nothing; expected what stands in the place of what `pattern` matches"
        )


@cache
def _returns_nothing(code: CodeType) -> bool:
    """Whether every path to the end of a function returns None."""
    if None not in code.co_consts:
        return False
    before: dis.Instruction | None = None
    returned: list[bool] = []
    for one in dis.get_instructions(code):
        if one.opname == "RETURN_CONST":
            returned.append(one.argval is None)
        elif one.opname == "RETURN_VALUE":
            ends = before is not None and before.opname == "LOAD_CONST"
            returned.append(ends and before is not None and before.argval is None)
        before = one
    return bool(returned) and all(returned)


__all__ = ["check_attributes", "check_returns"]
