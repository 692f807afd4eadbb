"""Two texts of a graph side by side: what is the same in runs, what differs in pairs of lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest

from xductor.backend.report.op_lines import OpLine

#: The ends of the characters of a line that differ from the line beside it.
Marks = tuple[tuple[int, int], ...]

_TOKEN = re.compile(r'%?[\w.#"]+|\s+|.')
_KEPT_PAIRS = 400


@dataclass(frozen=True)
class Same:
    """Lines that are equal on both sides: `count` from `left`, and from `right`."""

    left: int
    right: int
    count: int


@dataclass(frozen=True)
class Differs:
    """A line of each side, by its place; None if a side has none. Marks are those of the texts."""

    left: int | None
    right: int | None
    left_marks: Marks = ()
    right_marks: Marks = ()


def side_by_side(left: Sequence[OpLine], right: Sequence[OpLine]) -> list[Same | Differs]:
    """The rows of both texts in order."""
    rows: list[Same | Differs] = []
    pairs = 0
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    for tag, a, a_end, b, b_end in matcher.get_opcodes():
        if tag == "equal":
            rows.append(Same(a, b, a_end - a))
            continue
        for i, j in _paired(left[a:a_end], right[b:b_end]):
            ours = None if i is None else a + i
            theirs = None if j is None else b + j
            marks: tuple[Marks, Marks] = ((), ())
            if ours is not None and theirs is not None and pairs < _KEPT_PAIRS:
                pairs += 1
                marks = _marks(left[ours].text, right[theirs].text)
            rows.append(Differs(ours, theirs, *marks))
    return rows


def _paired(
    left: Sequence[OpLine], right: Sequence[OpLine]
) -> Iterator[tuple[int | None, int | None]]:
    """Pair the lines of two blocks that differ: those of the same value, then of the same op."""
    matcher = SequenceMatcher(None, *[[_key(line) for line in side] for side in (left, right)])
    for tag, a, a_end, b, b_end in matcher.get_opcodes():
        if tag == "equal":
            yield from zip(range(a, a_end), range(b, b_end), strict=True)
        elif a_end - a == b_end - b == 1 and left[a].op != right[b].op:
            yield a, None
            yield None, b
        else:
            yield from zip_longest(range(a, a_end), range(b, b_end))


def _key(line: OpLine) -> tuple[str, tuple[str, ...]]:
    return line.op, line.results


def _marks(left: str, right: str) -> tuple[Marks, Marks]:
    """Where two lines differ, token by token."""
    tokens = [[match.span() for match in _TOKEN.finditer(text)] for text in (left, right)]
    words = [
        [text[a:b] for a, b in spans] for text, spans in zip((left, right), tokens, strict=True)
    ]
    found: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    for tag, a, a_end, b, b_end in SequenceMatcher(None, *words, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        for side, spans, begin, end in ((0, tokens[0], a, a_end), (1, tokens[1], b, b_end)):
            if end > begin:
                found[side].append((spans[begin][0], spans[end - 1][1]))
    return tuple(found[0]), tuple(found[1])


__all__ = ["Differs", "Marks", "Same", "side_by_side"]
