"""Runs a pipeline of passes and calls listeners around each pass and each verification."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline

from xductor.transforms.passes.events import listening
from xductor.transforms.passes.typed_pass import Ran

Check = Callable[[ModuleOp], None]


class PassListener:
    """The events of a pipeline; a listener overrides those that it wants.

    Listeners are called in the order in which they were given. They must not change the module.
    """

    def before_pass(self, one: ModulePass, module: ModuleOp) -> None:
        """`one` is about to run."""

    def after_pass(self, one: ModulePass, module: ModuleOp, applications: int | None) -> None:
        """`one` ran, and the module passed the check.

        `applications` is what a typed pass reports; None for a pass of xDSL.
        """

    def after_failure(self, one: ModulePass, module: ModuleOp, error: Exception) -> None:
        """`one` raised, or left a module that the check refuses. The error is raised afterwards."""

    def before_check(self, one: ModulePass | None, module: ModuleOp) -> None:
        """The module is about to be checked, after `one`, or before the first pass if None."""

    def after_check(self, one: ModulePass | None, module: ModuleOp) -> None:
        """The module passed the check."""


@dataclass(frozen=True)
class InstrumentedPipeline(PassPipeline):
    """A pipeline that calls listeners as it runs.

    - `check`: runs before the first pass and after each; raises if the module is not valid. None
      checks nothing.
    - `check_each`: if False, `check` runs only before the first pass and after the last one.
    """

    listeners: tuple[PassListener, ...] = ()
    check: Check | None = None
    check_each: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Run the passes in order.

        Raises what a pass or the check raises, with a note that names the pass.
        """
        self._check(None, op)
        for number, one in enumerate(self.passes, start=1):
            for listener in self.listeners:
                listener.before_pass(one, op)
            where = "in"
            try:
                applications = run_counted(one, ctx, op)
                where = "found after"
                if self.check_each or number == len(self.passes):
                    self._check(one, op)
            except Exception as error:
                error.add_note(f"{where} pass '{one.name}'")
                for listener in self.listeners:
                    listener.after_failure(one, op, error)
                raise
            for listener in self.listeners:
                listener.after_pass(one, op, applications)

    def _check(self, one: ModulePass | None, module: ModuleOp) -> None:
        if self.check is None:
            return
        for listener in self.listeners:
            listener.before_check(one, module)
        self.check(module)
        for listener in self.listeners:
            listener.after_check(one, module)


def run_counted(one: ModulePass, ctx: Context, module: ModuleOp) -> int | None:
    """Run a pass and return the number of applications it reports; None if it reports none."""
    counts: list[int] = []

    def note(ran: Ran) -> None:
        if ran.one is one:
            counts.append(ran.applications)

    with listening(Ran, note):
        one.apply(ctx, module)
    return sum(counts) if counts else None
