"""Where in its stage a user's rewrite runs.

A rewrite or pass says it by a class attribute: `position = "first"` or `"last"`, `before = "name"`
or `after = "name"`. `placed(...)` says it for one that does not, or says otherwise. Without any, a
rewrite runs last: after the stage's own passes, before the steps that finish the stage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Literal

from xductor.transforms import Stage
from xductor.transforms.rewriting.rewrite import stages_of
from xductor.transforms.rewriting.rewrite_pass import instance

Position = Literal["first", "last", "before", "after"]

_STEPS = {"pre_grad": "pre_grad", "joint": "joint_graph", "post_grad": "post_grad"}
_FINISHING = "stable_topological_sort"
"""The first of the steps that finish a stage; no rewrite runs behind it."""


class PlacementError(ValueError):
    """A place that there is not; the message says what there is."""


@dataclass(frozen=True)
class Place:
    """First, last, or before or after the pass or step called `name`."""

    position: Position = "last"
    name: str = ""

    def __str__(self) -> str:
        return f"{self.position} {self.name}".strip()


@dataclass(frozen=True)
class Placed:
    """A rewrite with the place that somebody gave it."""

    rewrite: Any
    place: Place

    @property
    def stage(self) -> Stage | tuple[Stage, ...]:
        return self.rewrite.stage

    def uuid(self) -> str | None:
        from xductor.backend.config.cache_keys import rewrite_identity

        identity = rewrite_identity(self.rewrite)
        return None if identity is None else f"{self.place}: {identity}"


def placed(
    rewrite: Any,
    *,
    position: Literal["first", "last"] | None = None,
    before: str | None = None,
    after: str | None = None,
) -> Placed:
    """`rewrite` (a class or an instance) to run at a place of its stage.

    - `position`: "first" or "last" among what the stage does.
    - `before`, `after`: the name of a pass of the stage (`xductor passes` lists them), whether it
      is enabled or not. A pass of one of Inductor's pattern tables stands for its whole table.

    Raises PlacementError for a pass that the stage has not, and where not exactly one is given.
    """
    made = Placed(rewrite, _one_of(position, before, after, shown(rewrite)))
    check(made)
    return made


def place_of(rewrite: Any) -> Place:
    """The place that a rewrite says it has.

    Raises PlacementError where its attributes say two, or none that there is.
    """
    if isinstance(rewrite, Placed):
        return rewrite.place
    position, before, after = (
        getattr(rewrite, name, None) for name in ("position", "before", "after")
    )
    if position is before is after is None:
        return Place()
    return _one_of(position, before, after, shown(rewrite))


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


def check(rewrite: Any) -> None:
    """Raises PlacementError where a rewrite's place is not to be found in one of its stages."""
    place = place_of(rewrite)
    if place.position not in ("before", "after"):
        return
    for stage in stages_of(rewrite):
        known = names(stage, place.position)
        if place.name in known:
            continue
        wanted = f"{shown(rewrite)} is to run {place} in the {stage} stage"
        if place.name in _all_names(stage):
            raise PlacementError(
                f"{wanted}, but that is one of the steps that finish the stage; the last place "
                f"is before {_FINISHING!r}"
            )
        close = get_close_matches(place.name, known, n=1, cutoff=0.6)
        elsewhere = [other for other in _STEPS if place.name in _all_names(other)]
        hint = (
            f" Did you mean {close[0]!r}?"
            if close
            else f" That one is of the {' and the '.join(elsewhere)} stage."
            if elsewhere
            else ""
        )
        raise PlacementError(f"{wanted}, which has no such pass.{hint} It has: {', '.join(known)}")


def names(stage: Stage, position: Position = "before") -> list[str]:
    """The passes and steps of a stage that a rewrite may run before (or after), in order."""
    found: list[str] = []
    for step in _steps(stage):
        own = list(step_names(step))
        if _FINISHING in own:
            return found + own if position == "before" else found
        found += own
    return found


def step_names(step: Any) -> Iterator[str]:
    """The names of a step of a pipeline, and of the passes that it runs."""
    name = getattr(step, "name", None)
    if name is not None:
        yield name
    for part in ("covers", "typed", "then"):
        yield from getattr(step, part, ())


def _steps(stage: str) -> Sequence[Any]:
    return import_module(f"xductor.backend.pipelines.{_STEPS[stage]}").STEPS


def _all_names(stage: str) -> set[str]:
    return {name for step in _steps(stage) for name in step_names(step)}


def _one_of(position: Any, before: Any, after: Any, shown: str) -> Place:
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
    """A rewrite's class by name, for messages."""
    one = rewrite.rewrite if isinstance(rewrite, Placed) else rewrite
    cls = one if isinstance(one, type) else type(one)
    return cls.__qualname__


__all__ = [
    "Place",
    "Placed",
    "PlacementError",
    "check",
    "names",
    "place_of",
    "placed",
    "shown",
    "step_names",
    "unplaced",
]
