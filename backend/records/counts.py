"""Counts of applications by name of pass or rewrite; a name that does not exist is an error."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches

from xductor.transforms.rows.registry import pass_names


class UnknownPass(KeyError):
    """A name that no pass or rewrite has, neither those that ran nor those that are loaded."""

    def __str__(self) -> str:
        return str(self.args[0])


class Counts(dict[str, int]):
    """Applications by name of pass or rewrite; those that were not applied are no keys."""

    def __init__(self, counts: Mapping[str, int], ran: Collection[str] = ()) -> None:
        super().__init__(counts)
        self.ran = frozenset(ran)

    def __missing__(self, name: str) -> int:
        """0 for a pass or rewrite that was not applied. Raises UnknownPass for any other name."""
        known = {*self, *self.ran, *pass_names()}
        if name in known:
            return 0
        close = get_close_matches(str(name), known, n=1)
        guess = f" Did you mean {close[0]!r}?" if close else ""
        raise UnknownPass(
            f"no pass or rewrite that ran, or that is loaded, is called {name!r}.{guess} "
            "`xductor passes` lists those of the stages"
        )


__all__ = ["Counts", "UnknownPass"]
