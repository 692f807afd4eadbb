"""Finds keywords in the code of `replacement` that the called ops do not take."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from difflib import get_close_matches
from types import CodeType, FunctionType
from typing import Any

from xductor.ir.functions.op_functions import OpFunction, OverloadFunction
from xductor.transforms.matching.patterns import PatternError

_Start = tuple[int | None, int | None]


def check_keywords(rewrite: str, function: FunctionType, code: CodeType, roots: Any) -> None:
    """Raise PatternError for a keyword that no overload of the called op takes.

    `roots` are the op functions and libraries that the code names. Only calls of them by name are
    checked, `aten.add(x, x, alpha=2)`; nothing is called to check them.
    """
    if not any(_are_names(constant) for constant in code.co_consts):
        return
    calls = _keyword_calls(code)
    for start, op in _named_ops(code, roots):
        given = calls.get(start)
        if given is None or not isinstance(op, OpFunction | OverloadFunction):
            continue
        known = dict.fromkeys(one for cls in op.overloads for one in cls.table.index)
        for keyword in given:
            if keyword not in known:
                close = get_close_matches(keyword, known, n=1)
                guess = f" Did you mean '{close[0]}'?" if close else ""
                raise PatternError(
                    f"{rewrite}.{function.__name__} ({code.co_filename}:{start[0]}): {op!r} takes "
                    f"no argument '{keyword}'.{guess} It takes: {', '.join(known)}"
                )


def _are_names(constant: object) -> bool:
    """Whether a constant may hold the keywords of a call."""
    return isinstance(constant, tuple) and all(isinstance(one, str) for one in constant)


def _keyword_calls(code: CodeType) -> dict[_Start, tuple[str, ...]]:
    """The keywords of calls by start position; of calls that start together, the innermost."""
    found: dict[_Start, tuple[_Start, tuple[str, ...]]] = {}
    keywords: tuple[str, ...] = ()
    before: Any = None
    for one in dis.get_instructions(code):
        if one.opname == "KW_NAMES":
            keywords = code.co_consts[one.arg or 0]
        elif one.opname in ("CALL", "CALL_KW", "CALL_FUNCTION_EX") and one.positions is not None:
            if one.opname == "CALL_KW":
                keywords = before.argval
            start = (one.positions.lineno, one.positions.col_offset)
            end = (one.positions.end_lineno, one.positions.end_col_offset)
            if start not in found or end < found[start][0]:
                found[start] = (end, keywords)
            keywords = ()
        before = one
    return {start: given for start, (_, given) in found.items()}


def _named_ops(code: CodeType, roots: Any) -> Iterator[tuple[_Start, Any]]:
    """The op functions that the code names, each with the position where its name begins."""
    start: _Start = (None, None)
    op: Any = None
    for one in dis.get_instructions(code):
        if op is not None and one.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            op = getattr(op, one.argval, None)
            continue
        if op is not None:
            yield start, op
        op = None
        if one.opname in ("LOAD_GLOBAL", "LOAD_DEREF") and one.argval in roots and one.positions:
            op = roots[one.argval]
            start = (one.positions.lineno, one.positions.col_offset)


__all__ = ["check_keywords"]
