"""Finds the smallest IR on which one application of a pass goes wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xductor.backend.reduce import predicates, reducer
from xductor.ir import XductorContext
from xductor.transforms import TypedPass
from xductor.transforms.passes.debug_counters import TOTAL, Counter, counting


@dataclass(frozen=True)
class FirstApplication(ModulePass):
    """A pass that is stopped after its first application."""

    one: ModulePass
    name = "first_application"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        with counting({TOTAL: Counter(0, 1)}):
            self.one.apply(ctx, op)


@dataclass(frozen=True)
class SmallIR:
    """The result of the search.

    - `module`: the small module; `after`: what the pass makes of it, None if it crashes or there is
      no small module. `kind` says what is wrong with it.
    - `problem`: why there is no small module.
    """

    ops_before: int
    module: ModuleOp | None = None
    after: ModuleOp | None = None
    kind: str = ""
    ops: int = 0
    problem: str = ""


def small_ir(module: ModuleOp, one: TypedPass, name: str) -> SmallIR:
    """Reduce a module on which the next application of `one`, by its rewrite `name`, is wrong.

    Wrong means other values, IR that the verifier refuses, or an exception.
    """
    alone = _alone(one, name)
    ops = sum(1 for _ in module.walk()) - 2
    problems: list[str] = []
    for passes in ([FirstApplication(alone)], [alone]):
        for kind, make in _TESTS.items():
            try:
                test = make(module.clone(), passes)
                reduction = reducer.Reduction(module.clone(), test)
                reduction.run()
            except Exception as error:  # each kind of failure has its own ways of being absent
                problems.append(str(error).partition("\n")[0])
                continue
            after = _after(reduction.module, passes)
            return SmallIR(ops, reduction.module, after, kind, reduction.ops)
    return SmallIR(ops, problem="; ".join(dict.fromkeys(problems)))


_TESTS: dict[str, Any] = {
    "the values differ": predicates.ValuesDiffer.on,
    "the verifier refuses what it makes": lambda module, passes: predicates.Refused.on(
        module, passes, "types"
    ),
    "it raises": predicates.Crashes.on,
}


def _alone(one: TypedPass, name: str) -> ModulePass:
    """The rewrite of that name without the others of its pass; a procedural pass as it is."""
    rewrites = [rewrite for rewrite in getattr(one, "rewrites", ()) if rewrite.name == name]
    if not rewrites:
        return one
    return replace(one, rewrites=tuple(rewrites[:1]))


def _after(module: ModuleOp, passes: list[Any]) -> ModuleOp | None:
    made = module.clone()
    try:
        for one in passes:
            one.apply(XductorContext(), made)
    except Exception:  # an exception may be the failure that is looked for
        return None
    return made


__all__ = ["SmallIR", "small_ir"]
