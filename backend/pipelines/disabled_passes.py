"""Which names `xductor.disabled_passes` takes: those of what can be left out by itself."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from typing import Any

from xductor.backend.pipelines import joint_graph, post_grad, pre_grad
from xductor.backend.steps.bridge import BridgedStep
from xductor.transforms.rows.registry import rows


@cache
def names() -> frozenset[str]:
    """Our typed passes, and the steps of Inductor's own that no compile needs."""
    steps = [step for step in _steps() if isinstance(step, BridgedStep)]
    needed = {step.name for step in steps if step.required}
    ours = [row.name for row in rows() if row.factory]
    return frozenset([*ours, *({step.name for step in steps} - needed)])


def refusal(name: str) -> str | None:
    """Why a name cannot be among those that are left out, and what to do; None if it can."""
    if name in names():
        return None
    for row in rows():
        if row.name != name:
            continue
        if row.covered_by:
            return f"{name!r} is done by {row.covered_by!r}; disable that"
        if row.kind == "hook":
            return f"{name!r} is a hook of Inductor's for passes of yours; take them off it"
        if row.kind == "not yet":
            return f"{name!r} does nothing: Inductor has it with an empty body"
        flag = f"; Inductor's option for it is {row.flag}" if row.flag else ""
        return (
            f"{name!r} is part of a step of Inductor's own, or is needed for code generation, and "
            f"cannot be left out by itself{flag}"
        )
    if name in {getattr(step, "name", None) for step in _steps()}:
        return (
            f"{name!r} is needed in each compile, or has several passes; `xductor passes` has those"
        )
    close = get_close_matches(name, names(), n=1)
    guess = f" Did you mean {close[0]!r}?" if close else ""
    return f"no pass is called {name!r}.{guess} `xductor passes` lists them"


def _steps() -> Iterator[Any]:
    for pipeline in (pre_grad, joint_graph, post_grad):
        yield from pipeline.STEPS


__all__ = ["names", "refusal"]
