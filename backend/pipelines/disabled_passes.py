"""The names that `xductor.disabled_passes` accepts: passes and steps that can be left out."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from typing import Any

from xductor.backend.pipelines import freezing, joint_graph, post_grad, pre_grad
from xductor.backend.steps.bridge import BridgedStep, step_names
from xductor.backend.steps.typed_steps import TypedStep
from xductor.transforms.rows.registry import rows


@cache
def names() -> frozenset[str]:
    """Our typed passes and the bridged steps, except those that every compile needs."""
    bridged = {step.name for step in _steps() if isinstance(step, BridgedStep)}
    stepped = {name for step in _steps() for name in step_names(step)}
    ours = {row.name for row in rows() if row.factory}
    return frozenset((bridged | (ours & stepped)) - _needed())


def _needed() -> set[str]:
    """Steps that every compile needs, by our own pass or else by Inductor's function."""
    found: set[str] = set()
    for step in _steps():
        if isinstance(step, BridgedStep) and step.required:
            found.add(step.name)
        if isinstance(step, TypedStep):
            found.update(step.needed)
    return found


def refusal(name: str) -> str | None:
    """Why a name cannot be disabled, and what to do instead; None if it can."""
    if name in names():
        return None
    of_name = [row for row in rows() if row.name == name]
    for row in sorted(of_name, key=lambda one: not one.factory):
        if row.covered_by in _needed():
            return f"{name!r} is done by {row.covered_by!r}, which is needed for code generation"
        if row.covered_by:
            return f"{name!r} is done by {row.covered_by!r}; disable that"
        if row.factory and name in _needed():
            return (
                f"{name!r} is needed for code generation: Inductor's own would run instead of ours"
            )
        if row.factory:
            return f"{name!r} is no step of a stage: Inductor runs its own before the stage"
        if row.kind == "hook":
            return f"{name!r} is a hook of Inductor's for your own passes; remove them from it"
        if row.kind == "not yet":
            return f"{name!r} does nothing: Inductor has it with an empty body"
        flag = f"; Inductor's option for it is {row.flag}" if row.flag else ""
        return (
            f"{name!r} is part of a step of Inductor's own, or is needed for code generation, and "
            f"cannot be left out by itself{flag}"
        )
    if name in {getattr(step, "name", None) for step in _steps()}:
        return f"{name!r} is needed in each compile, or has several passes: see `xductor passes`"
    close = get_close_matches(name, names(), n=1)
    guess = f" Did you mean {close[0]!r}?" if close else ""
    return f"no pass is called {name!r}.{guess} `xductor passes` lists them"


def _steps() -> Iterator[Any]:
    for pipeline in (pre_grad, joint_graph, freezing, post_grad):
        yield from pipeline.STEPS


__all__ = ["names", "refusal"]
