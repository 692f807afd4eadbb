"""The effects of a call, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

ALL: Final = frozenset({"*"})


@dataclass(frozen=True, slots=True)
class Effects:
    """The effects of a call.

    writes: names of the arguments whose memory is written; ALL if any argument may be.
    rng: reads and advances a random number generator. alloc: its result is memory of no defined
    content (two calls are never one). collective: talks to other ranks. host: is seen outside the
    graph (asserts, prints, effect tokens, streams). mode: changes ambient state (grad mode,
    autocast, functorch levels, default dtype). unknown: nothing is known.
    """

    writes: frozenset[str] = frozenset()
    rng: bool = False
    alloc: bool = False
    collective: bool = False
    host: bool = False
    mode: bool = False
    unknown: bool = False

    @property
    def pure(self) -> bool:
        """No effect at all: equal calls may be merged, moved and removed."""
        return self == PURE

    def removable(self, fallback_random: bool) -> bool:
        """Whether the call may go away when nobody uses its results.

        `fallback_random` (Inductor's flag): numbers must come as in eager, so a dead draw counts.
        """
        seen = self.writes or self.collective or self.host or self.mode or self.unknown
        return not seen and not (self.rng and fallback_random)

    def __or__(self, other: Effects) -> Effects:
        return Effects(
            self.writes | other.writes,
            self.rng or other.rng,
            self.alloc or other.alloc,
            self.collective or other.collective,
            self.host or other.host,
            self.mode or other.mode,
            self.unknown or other.unknown,
        )


PURE: Final = Effects()
UNKNOWN: Final = Effects(unknown=True)


__all__ = ["ALL", "PURE", "UNKNOWN", "Effects"]
