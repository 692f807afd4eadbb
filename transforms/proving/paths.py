"""Every way through a program that makes choices: depth first, by running it anew for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")


class Pruned(Exception):
    """A path that leads nowhere: what it assumes cannot be, or the rewrite is not taken there."""


class Refused(Pruned):
    """A path whose source can be made, and which the rewrite's own condition refuses."""


class Unmade(Pruned):
    """A path whose source PyTorch would refuse."""


@dataclass
class Path:
    """One way through: the choices taken, and between how many.

    - `source`: how many of them were taken for the source and the condition; 0 if that is not said.
    """

    prefix: tuple[int, ...] = ()
    taken: list[int] = field(default_factory=list[int])
    counts: list[int] = field(default_factory=list[int])
    notes: list[str] = field(default_factory=list[str])
    source: int = 0

    def choose(self, options: Sequence[T], what: str) -> T:
        """One of some options. Raises Pruned where there are none."""
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
    """The result of `run` for each way through it; what raises Pruned is left out, and told.

    - `begins`: the first choices of the ways that are taken, if not all are.
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
