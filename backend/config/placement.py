"""Where in its stage a user's rewrite runs.

A rewrite or pass says so with a class attribute: `position = "first"` or `"last"`,
`before = "name"` or `after = "name"`. `placed(...)` does it for a class that does not, or overrides
it. By default a rewrite runs last: after the stage's own passes, before the steps that finish the
stage. The pipelines (`pipelines.places`) know which passes a rewrite can be placed at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

from xductor.backend.config.rewrite_identity import rewrite_identity
from xductor.transforms import Stage
from xductor.transforms.rewriting.rewrite import stages_of
from xductor.transforms.rewriting.rewrite_pass import instance

Position = Literal["first", "last", "before", "after"]


class PlacementError(ValueError):
    """A place that does not exist; the message says which do."""


@dataclass(frozen=True)
class Place:
    """First, last, or before or after the pass or step called `name`."""

    position: Position = "last"
    name: str = ""

    def __str__(self) -> str:
        return f"{self.position} {self.name}".strip()


@dataclass(frozen=True)
class Placed:
    """A rewrite with the place that it was given."""

    rewrite: Any
    place: Place

    @property
    def stage(self) -> Stage | tuple[Stage, ...]:
        return self.rewrite.stage

    def uuid(self) -> str | None:
        identity = rewrite_identity(self.rewrite)
        return None if identity is None else f"{self.place}: {identity}"


def place_of(rewrite: Any) -> Place:
    """The place that a rewrite declares.

    Raises PlacementError if its attributes name two places, or none that exists.
    """
    if isinstance(rewrite, Placed):
        return rewrite.place
    position, before, after = (
        getattr(rewrite, name, None) for name in ("position", "before", "after")
    )
    if position is before is after is None:
        return Place()
    return one_of(position, before, after, shown(rewrite))


def unplaced(item: Any) -> Any:
    """The rewrite or pass itself, as an instance."""
    return instance(item.rewrite if isinstance(item, Placed) else item)


def by_stage(rewrites: Sequence[Any]) -> dict[str, list[tuple[Place, Any]]]:
    """The rewrites of each stage, as instances, each with its place."""
    found: dict[str, list[tuple[Place, Any]]] = {}
    for item in rewrites:
        placed_here = place_of(item), unplaced(item)
        for stage in stages_of(item):
            found.setdefault(stage, []).append(placed_here)
    return found


def one_of(position: Any, before: Any, after: Any, shown: str) -> Place:
    """The place that one of `position`, `before` and `after` gives.

    Raises PlacementError unless exactly one is given, and is a name.
    """
    given = {"position": position, "before": before, "after": after}
    said = {name: value for name, value in given.items() if value is not None}
    if len(said) != 1:
        raise PlacementError(
            f"{shown}: expected one of position, before and after, found "
            + (" and ".join(said) or "none")
        )
    ((name, value),) = said.items()
    if not isinstance(value, str):
        raise PlacementError(f"{shown}: {name} is {value!r}; expected a name")
    if name != "position":
        return Place("before" if name == "before" else "after", value)
    if value == "first" or value == "last":
        return Place(value)
    close = get_close_matches(value, ("first", "last"), n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise PlacementError(f"{shown}: position is {value!r}; expected 'first' or 'last'.{hint}")


def shown(rewrite: Any) -> str:
    """The name of a rewrite's class, for messages."""
    one = rewrite.rewrite if isinstance(rewrite, Placed) else rewrite
    cls = one if isinstance(one, type) else type(one)
    return cls.__qualname__


__all__ = [
    "Place",
    "Placed",
    "PlacementError",
    "by_stage",
    "one_of",
    "place_of",
    "shown",
    "unplaced",
]
