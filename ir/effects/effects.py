"""The effects of a call, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

ALL: Final = frozenset({"*"})


@dataclass(frozen=True, slots=True)
class Effects:
    """The effects of a call.

    - `writes`: names of the arguments whose memory is written; ALL if any argument may be.
    - `rng`: reads and advances a random number generator.
    - `alloc`: the result is memory with undefined content (two calls are never merged).
    - `collective`: communicates with other ranks.
    - `host`: is visible outside the graph (asserts, prints, effect tokens, streams).
    - `mode`: changes ambient state (grad mode, autocast, functorch levels, default dtype).
    - `unknown`: nothing is known.
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
        """No effects: equal calls may be merged, moved and removed."""
        return self is PURE or self == PURE

    @property
    def silent(self) -> bool:
        """Whether nothing tells when the call runs: no effects, but perhaps undefined content."""
        return self is PURE or not (
            self.writes or self.rng or self.collective or self.host or self.mode or self.unknown
        )

    def removable(self, fallback_random: bool) -> bool:
        """Whether the call may be removed if its results are unused.

        With `fallback_random` (Inductor's flag) random numbers must equal eager's, so an unused
        draw must stay.
        """
        seen = self.writes or self.collective or self.host or self.mode or self.unknown
        return not seen and not (self.rng and fallback_random)

    def __or__(self, other: Effects) -> Effects:
        if other is PURE:
            return self
        if self is PURE:
            return other
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
