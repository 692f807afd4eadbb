"""Two texts of a graph side by side: what is the same in runs, what differs in pairs of lines."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest

from xductor.backend.report.op_lines import OpLine

#: The ends of the characters of a line that differ from the line beside it.
Marks = tuple[tuple[int, int], ...]
Pair = tuple[int | None, int | None]
Key = tuple[str, tuple[str, ...]]

_TOKEN = re.compile(r'%?[\w.#"]+|\s+|.')
#: In how many pairs the words that differ are marked.
_MARKED = 400


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
    marked = 0
    for a, b in _pairs(left, right):
        last = rows[-1] if rows else None
        if a is None or b is None:
            rows.append(Differs(a, b))
        elif left[a] != right[b]:
            marked += 1
            marks = _marks(left[a].text, right[b].text) if marked <= _MARKED else ((), ())
            rows.append(Differs(a, b, *marks))
        elif isinstance(last, Same):
            rows[-1] = Same(last.left, last.right, last.count + 1)
        else:
            rows.append(Same(a, b, 1))
    return rows


def _pairs(left: Sequence[OpLine], right: Sequence[OpLine]) -> Iterator[Pair]:
    """Every line once, by place, with the line that stands beside it."""
    a = b = 0
    for i, j in _anchors(left, right):
        yield from _paired(left, right, range(a, i), range(b, j))
        yield i, j
        a, b = i + 1, j + 1
    yield from _paired(left, right, range(a, len(left)), range(b, len(right)))


def _anchors(left: Sequence[OpLine], right: Sequence[OpLine]) -> list[tuple[int, int]]:
    """The most lines that stand on both sides in the same order, of those that occur once.

    Nearly all do, since each names its value. `SequenceMatcher` alone would look through the whole
    graph for each change.
    """
    counts = [Counter(side) for side in (left, right)]
    places = {line: place for place, line in enumerate(right) if counts[1][line] == 1}
    shared = [
        (place, places[line])
        for place, line in enumerate(left)
        if line in places and counts[0][line] == 1
    ]
    ends: list[int] = []
    lengths: list[int] = []
    for _, place in shared:
        at = bisect_left(ends, place)
        ends[at : at + 1] = [place]
        lengths.append(at)
    kept: list[tuple[int, int]] = []
    wanted = len(ends) - 1
    for pair, length in zip(reversed(shared), reversed(lengths), strict=True):
        if length == wanted:
            kept.append(pair)
            wanted -= 1
    return kept[::-1]


def _paired(
    left: Sequence[OpLine], right: Sequence[OpLine], ours: range, theirs: range
) -> Iterator[Pair]:
    """Pair the lines of two blocks that differ, by place: those of the same value and op first."""
    if not ours or not theirs:
        yield from zip_longest(ours, theirs)
        return
    keys = [[_key(left[i]) for i in ours], [_key(right[j]) for j in theirs]]
    for tag, a, a_end, b, b_end in SequenceMatcher(None, keys[0], keys[1]).get_opcodes():
        block = ours[a:a_end], theirs[b:b_end]
        if tag == "equal":
            yield from zip(*block, strict=True)
        elif len(block[0]) == len(block[1]) == 1 and not _alike(keys[0][a], keys[1][b]):
            yield block[0][0], None
            yield None, block[1][0]
        else:
            yield from zip_longest(*block)


def _key(line: OpLine) -> Key:
    return line.op, line.results


def _alike(left: Key, right: Key) -> bool:
    """Whether two lines have the op or the value in common."""
    return left[0] == right[0] or bool(left[1] and left[1] == right[1])


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
