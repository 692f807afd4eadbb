"""Lowers the graph of a stage call to the typed IR for inspection, without changing the graph."""

from __future__ import annotations

import weakref
from collections.abc import Callable

from xdsl.dialects.builtin import ModuleOp

from xductor.backend.steps.stage_run import StageRun


def lowered(run: StageRun) -> ModuleOp:
    """The graph of `run` as a module. Raises what lowering raises."""
    from xductor.frontend import from_fx

    return from_fx(run.gm, run.stage, example_inputs=run.example_inputs)


class GraphNumbers:
    """Numbers the graphs that Dynamo hands over; the stages of a graph share its number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._contexts: dict[str, Callable[[], object]] = {}
        self._count = 0

    def number(self, run: StageRun) -> tuple[int, str]:
        """The number of the graph of a stage call, and Dynamo's id of its compile (`0/1` is the
        first recompile of frame 0).

        Without such an id, as in AOTInductor, a graph is known by the name of its compile.
        """
        from torch._guards import CompileContext

        ident = str(CompileContext.current_compile_id() or "")
        key = ident or run.record.graph
        # Ids start over after a reset: then another context compiles a forward under a known id.
        context = CompileContext.try_get()
        begins = run.stage == "pre_grad" and context is not None
        if begins and self._contexts.get(key, lambda: None)() is not context:
            self._contexts[key] = weakref.ref(context)
            self._numbers.pop(key, None)
        if key not in self._numbers:
            self._numbers[key] = self._count
            self._count += 1
        return self._numbers[key], ident
