"""The places of a stage: the names of passes and steps next to which a user's rewrite may run."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, Literal

from xductor.backend.config.placement import (
    Placed,
    PlacementError,
    Position,
    one_of,
    place_of,
    shown,
)
from xductor.backend.pipelines import joint_graph, post_grad, pre_grad
from xductor.backend.steps.bridge import step_names
from xductor.transforms import Stage
from xductor.transforms.rewriting.rewrite import stages_of

_PIPELINES = {"pre_grad": pre_grad, "joint": joint_graph, "post_grad": post_grad}
#: The first of the steps that finish a stage; no rewrite runs after it.
_FINISHING = "stable_topological_sort"


def placed(
    rewrite: Any,
    *,
    position: Literal["first", "last"] | None = None,
    before: str | None = None,
    after: str | None = None,
) -> Placed:
    """`rewrite` (a class or an instance), to run at a place of its stage.

    - `position`: "first" or "last" among the passes of the stage.
    - `before`, `after`: the name of a pass of the stage (`xductor passes` lists them), whether or
      not it is enabled. A pass from one of Inductor's pattern tables stands for its whole table.

    Raises PlacementError if the stage has no such pass, or unless exactly one place is given, and
    TypeError for what is no rewrite or pass.
    """
    if not hasattr(rewrite, "stage"):
        raise TypeError(
            f"placed() takes a rewrite or pass, a class or an instance, and found {rewrite!r}"
        )
    made = Placed(rewrite, one_of(position, before, after, shown(rewrite)))
    check(made)
    return made


def check(rewrite: Any) -> None:
    """Raises PlacementError if the place of a rewrite does not exist in one of its stages."""
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
        elsewhere = [other for other in _PIPELINES if place.name in _all_names(other)]
        hint = (
            f" Did you mean {close[0]!r}?"
            if close
            else f" That one is of the {' and the '.join(elsewhere)} stage."
            if elsewhere
            else ""
        )
        raise PlacementError(f"{wanted}, which has no such pass.{hint} It has: {', '.join(known)}")


def names(stage: Stage, position: Position = "before") -> list[str]:
    """The passes and steps of a stage before (or after) which a rewrite may run, in order."""
    found: list[str] = []
    for step in _PIPELINES[stage].STEPS:
        own = list(step_names(step))
        if _FINISHING in own:
            return found + own if position == "before" else found
        found += own
    return found


def _all_names(stage: str) -> set[str]:
    return {name for step in _PIPELINES[stage].STEPS for name in step_names(step)}


__all__ = ["check", "names", "placed"]
