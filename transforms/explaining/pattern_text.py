"""Prints patterns as a rewrite writes them."""

from __future__ import annotations

from typing import Any

from xductor.ir import ListArg, SchemaOp, SymExpr
from xductor.ir.text.printing import constant_text
from xductor.transforms.matching.patterns import (
    Bound,
    Call,
    Each,
    Element,
    Head,
    Item,
    OneOf,
    Pattern,
    Var,
)


def pattern_text(pattern: Any, depth: int = 3) -> str:
    """A part of a pattern as text, `aten.add(aten.mul(y, s), x)`; calls below `depth` are omitted.

    Arguments that equal their schema's defaults are omitted too.
    """
    if pattern is ...:
        return "..."
    if isinstance(pattern, Var):
        return pattern.name
    if isinstance(pattern, Element):
        return "<element>"
    if isinstance(pattern, Item):
        return f"{pattern_text(pattern.call, depth)}[{pattern.index}]"
    if isinstance(pattern, Call):
        inside = _arguments(pattern.heads[0], depth - 1) if depth else "..."
        return f"{pattern.name}({inside})"
    if isinstance(pattern, OneOf):
        parts = ", ".join(pattern_text(one, depth) for one in pattern.alternatives)
        named = "" if pattern.number is None else f", as_={pattern.number.name}"
        return f"one_of({parts}{named})"
    if isinstance(pattern, Bound):
        return f"bind({pattern.variable.name}, {pattern_text(pattern.pattern, depth)})"
    if isinstance(pattern, Each):
        source, body = pattern_text(pattern.source, depth), pattern_text(pattern.body, depth)
        return f"each({source}, {body})"
    if isinstance(pattern, list | tuple):
        return f"[{', '.join(pattern_text(one, depth) for one in pattern)}]"
    return argument_text(pattern)


def argument_text(item: Any) -> str:
    """A constant argument as it is printed in IR text."""
    if isinstance(item, list | ListArg):
        return f"[{', '.join(argument_text(part) for part in item)}]"
    if isinstance(item, SymExpr):
        return str(item)
    try:
        return constant_text(item, lambda ref: "<value>")
    except (TypeError, KeyError, ValueError, AttributeError):
        return repr(item)


def parameter_name(head: Head, slot: int | str) -> str:
    """The name of the argument in a slot."""
    cls: Any = head.cls
    if isinstance(slot, int) and issubclass(cls, SchemaOp):
        return cls.table.params[slot].name
    return str(slot)


def is_default(head: Head, slot: int | str, entry: Any) -> bool:
    """Whether an entry of a pattern equals the schema's default for its slot."""
    cls: Any = head.cls
    if not isinstance(slot, int) or not issubclass(cls, SchemaOp):
        return False
    param = cls.table.params[slot]
    if not param.has_default or isinstance(entry, Pattern) or entry is ...:
        return False
    return argument_text(entry) == argument_text(cls.table.defaults[slot])


def _arguments(head: Head, depth: int) -> str:
    cls: Any = head.cls
    parts: list[str] = []
    skipped = False
    for slot, entry in head.entries:
        if is_default(head, slot, entry):
            skipped = True
            continue
        text = pattern_text(entry, depth)
        named = isinstance(slot, str) and not slot.isdigit()
        if isinstance(slot, int) and issubclass(cls, SchemaOp):
            named = skipped or cls.table.params[slot].kwarg_only
        parts.append(f"{parameter_name(head, slot)}={text}" if named else text)
    return ", ".join(parts)


__all__ = ["argument_text", "is_default", "parameter_name", "pattern_text"]
