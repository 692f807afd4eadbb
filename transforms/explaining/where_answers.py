"""What `where` and `pays` answer for a match, and which of their clauses decided."""

from __future__ import annotations

import ast
import dis
import linecache
import sys
from collections.abc import Sequence
from contextlib import suppress
from types import CodeType, FrameType
from typing import Any

from xductor.transforms.matching.matcher import Match
from xductor.transforms.rewriting.decisions import Fact, Refusal, Undecided
from xductor.transforms.rewriting.graph_state import GraphState
from xductor.transforms.rewriting.handles import handle
from xductor.transforms.rewriting.profit import asked_handles
from xductor.transforms.rewriting.rewrite import Rewrite, place_of_error


def refusal(one: Rewrite, match: Match, state: GraphState) -> str | None:
    """Why `where` or `pays` refuses a match; None if both accept it.

    If one returns a plain False, the reason is the source of the clause that gave it.
    """
    compiled = one.compiled
    known = [handle(match.bindings.get(name), state.facts) for name in compiled.where_names]
    reason = _refusal_or_error(one.where, known)
    if reason is not None or compiled.pays_names is None:
        return reason
    return _refusal_or_error(one.pays, asked_handles(match, compiled.pays_names, state))


def _refusal_or_error(method: Any, arguments: Sequence[Any]) -> str | None:
    try:
        return refusal_of(method, arguments)
    except Exception as error:  # of the rewrite's author, who is the one that asks
        return f"`{method.__name__}` fails: {told(method, error)}"


def refusal_of(method: Any, arguments: Sequence[Any]) -> str | None:
    """Why `where` or `pays` refuses these values of its parameters; None if it accepts them."""
    name = method.__name__
    code = getattr(method, "__code__", None) or method.__func__.__code__
    watch = _LastStep(code)
    try:
        with watch:
            answer: Any = method(*arguments)
    except Undecided as error:
        answer = error.fact
    if isinstance(answer, Refusal):
        return f"`{name}` says no: {answer.reason}"
    if isinstance(answer, Fact):
        return _of_fact(answer, name)
    if answer is False:
        clause = watch.clause()
        return f"`{name}` says no: {clause}" if clause else f"`{name}` says no"
    return None


#: What calls what is no method, and what to write.
_NO_METHOD = {
    "'bool' object is not callable": "`requires_grad` is no method",
    "'Sizes' object is not callable": "`shape` is indexed, as in `x.shape[0]`",
    "tuple index out of range": "ask for `x.ndim` first",
}


def told(method: Any, error: Exception) -> str:
    """An error of `where` or `pays` with the line of the rewrite that raised it."""
    hint = _NO_METHOD.get(str(error), "")
    text = f"{error}; {hint}" if hint else str(error)
    return f"{type(error).__name__}: {text} ({place_of_error(method, error)})"


def _of_fact(fact: Fact, name: str) -> str | None:
    if fact.value is True:
        return None
    leaves = list(dict.fromkeys(leaf for leaf in _leaves(fact) if leaf))
    if fact.value is None:
        return f"`{name}` cannot decide: not known whether {' and '.join(leaves)}"
    return f"`{name}` says no: not true that {' and '.join(leaves)}"


def _leaves(fact: Fact) -> list[str]:
    """The parts of a fact that give it its value."""
    question = fact.question
    if question is not None and question[0] == "and":
        parts = [part for part in question[1:] if isinstance(part, Fact)]
        return [text for part in parts if part.value is fact.value for text in _leaves(part)]
    return [fact.text]


class _LastStep:
    """Traces one call of a function and keeps where it last evaluated something."""

    def __init__(self, code: CodeType) -> None:
        self.code = code
        self._at = -1

    def __enter__(self) -> None:
        self._before = sys.gettrace()
        sys.settrace(self._call)

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._before)

    def _call(self, frame: FrameType, event: str, arg: object) -> Any:
        if frame.f_code is not self.code:
            return None
        frame.f_trace_opcodes = True
        return self._step

    def _step(self, frame: FrameType, event: str, arg: object) -> Any:
        if event == "opcode" and _evaluates(self.code, frame.f_lasti):
            self._at = frame.f_lasti
        return self._step

    def clause(self) -> str:
        """The source of what was evaluated last, with file and line."""
        if self._at < 0:
            return ""
        line, end_line, start, end = list(self.code.co_positions())[self._at // 2]
        if line is None or end_line is None or start is None or end is None:
            return ""
        file = self.code.co_filename
        lines = [linecache.getline(file, number) for number in range(line, end_line + 1)]
        if not any(lines):
            return f"{file}:{line}"
        lines[-1] = lines[-1].encode()[:end].decode()
        lines[0] = lines[0].encode()[start:].decode()
        text = " ".join(part.strip() for part in lines)
        with suppress(SyntaxError):  # a clause that is no expression by itself
            text = ast.unparse(ast.parse(text, mode="eval"))
        return f"{text} ({file}:{line})"


_NO_CLAUSE = ("RETURN", "JUMP", "POP_", "RESUME", "CACHE", "NOP", "COPY", "SWAP", "LOAD_CONST")


def _evaluates(code: CodeType, offset: int) -> bool:
    name = dis.opname[code.co_code[offset]]
    return not name.startswith(_NO_CLAUSE)


__all__ = ["refusal", "refusal_of"]
