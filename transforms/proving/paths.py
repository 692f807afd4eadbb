"""Explores every path through a program that makes choices, depth first, by rerunning it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")


class Pruned(Exception):
    """A path that ends: its assumptions contradict each other, or the rewrite does not apply."""


class Refused(Pruned):
    """A path whose source can be made, but which the rewrite's own condition refuses."""


class Unmade(Pruned):
    """A path whose source PyTorch would refuse."""


@dataclass
class Path:
    """One path: the choices taken, and between how many options each.

    - `source`: how many of them were taken for the source and the condition; 0 if not recorded.
    """

    prefix: tuple[int, ...] = ()
    taken: list[int] = field(default_factory=list[int])
    counts: list[int] = field(default_factory=list[int])
    notes: list[str] = field(default_factory=list[str])
    source: int = 0

    def choose(self, options: Sequence[T], what: str) -> T:
        """Choose one of some options. Raises Pruned if there are none."""
        if not options:
            raise Pruned(f"no option for {what}")
        if len(options) == 1:
            return options[0]
        place = len(self.taken)
        chosen = self.prefix[place] if place < len(self.prefix) else 0
        self.taken.append(chosen)
        self.counts.append(len(options))
        self.notes.append(f"{what}: {options[chosen]}")
        return options[chosen]


def all_paths(
    run: Callable[[Path], Any],
    pruned: Callable[[Path, Pruned], None] = lambda path, error: None,
    begins: Sequence[tuple[int, ...]] = ((),),
) -> Iterator[tuple[Path, Any]]:
    """The result of `run` for each path; paths that raise Pruned are passed to `pruned` instead.

    - `begins`: the first choices of the paths to explore, if not all.
    """
    pending = list(begins)[::-1]
    while pending:
        prefix = pending.pop()
        path = Path(prefix)
        try:
            result = run(path)
        except Pruned as error:
            pruned(path, error)
        else:
            yield path, result
        for place in range(len(path.taken) - 1, len(prefix) - 1, -1):
            before = tuple(path.taken[:place])
            pending += [(*before, other) for other in range(path.counts[place] - 1, 0, -1)]


__all__ = ["Path", "Pruned", "Refused", "Unmade", "all_paths"]
