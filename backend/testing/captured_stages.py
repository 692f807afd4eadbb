"""Captures the graphs of a function's stages by compiling and running it once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_leaves
from xdsl.dialects.builtin import ModuleOp

from xductor.backend.records import stage_records
from xductor.backend.records.stage_records import StageRecord
from xductor.backend.run_as_fx.without_codegen import without_codegen
from xductor.backend.seam import dispatch
from xductor.backend.stage_runs import stage_watch
from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.testing.lowered_stages import lowered
from xductor.ir import print_ir
from xductor.transforms import Stage


@dataclass
class CapturedStage:
    """One call of a stage.

    - `before`, `after`: the graph before and after the stage, as modules of the IR.
    - `record`: the passes that ran, and the applications that were made (none with stock).
    """

    stage: Stage
    record: StageRecord
    before: ModuleOp
    after: ModuleOp

    @property
    def direction(self) -> str:
        """One of "forward", "backward", "inference", "joint" or "unknown"."""
        return self.record.direction

    @property
    def before_text(self) -> str:
        return print_ir(self.before)

    @property
    def after_text(self) -> str:
        return print_ir(self.after)

    def __repr__(self) -> str:
        return f"<{self.stage} stage, {self.direction}>"


class Stages(list[CapturedStage]):
    """The stage calls of one compile in order; `output` is what the function returned."""

    output: Any = None

    def one(self, stage: Stage, direction: str | None = None) -> CapturedStage:
        """The only call of a stage, in that direction if one is given.

        Raises LookupError if there is none, or more than one.
        """
        found = [
            call for call in self if call.stage == stage and direction in (None, call.direction)
        ]
        if len(found) == 1:
            return found[0]
        what = stage if direction is None else f"{stage} {direction}"
        raise LookupError(f"{len(found)} calls of the {what} stage among {list(self)}")


class _Recorder:
    """Lowers what goes in and comes out, while the compile has its values at hand."""

    def __init__(self) -> None:
        self.calls = Stages()
        self._before: dict[int, ModuleOp] = {}
        self._lock = threading.Lock()

    def before(self, run: StageRun) -> None:
        self._before[id(run)] = lowered(run)

    def after(self, run: StageRun) -> None:
        module = lowered(run)
        with self._lock:
            before = self._before.pop(id(run))
            self.calls.append(CapturedStage(run.stage, run.record, before, module))


def capture(
    function: Callable[..., Any],
    *inputs: Any,
    backend: Any = "xductor",
    rewrites: Sequence[Any] = (),
    options: Mapping[str, Any] | None = None,
    dynamic: bool | None = None,
    backward: bool | None = None,
    codegen: bool = False,
    **keywords: Any,
) -> Stages:
    """Compile a function or module, run it on inputs, and return the graphs of its stages.

    - `keywords`: inputs by keyword. One that is called like an option here is bound to the
      function before, by `functools.partial`.
    - `backend`: as for `torch.compile`; with "inductor" the graphs are those of stock's stages.
    - `rewrites`, `options`: those of the compile.
    - `backward`: whether to run the backward too; by default if an output requires grad.
    - `codegen`: False runs the graphs as FX, which is faster than compiling kernels for them.

    Nothing is read from caches. Raises what compiling or running raises.
    """
    from torch._functorch import config as functorch_config
    from torch._inductor import config

    chosen = dict(options or {})
    if rewrites:
        chosen["xductor.rewrites"] = list(rewrites)
    recorder = _Recorder()
    dispatch.attach()
    torch._dynamo.reset()
    with ExitStack() as stack:
        stack.enter_context(config.patch(fx_graph_cache=False, fx_graph_remote_cache=False))
        stack.enter_context(functorch_config.patch(enable_autograd_cache=False))
        if not codegen:
            stack.enter_context(without_codegen())
        stack.enter_context(stage_records.record())
        stack.enter_context(stage_watch.watching(recorder))
        compiled = torch.compile(function, backend=backend, options=chosen or None, dynamic=dynamic)
        recorder.calls.output = output = compiled(*inputs, **keywords)
        wanting = list(_wanting_grad(output))
        if wanting and backward is not False:
            torch.autograd.backward(wanting, [torch.ones_like(one) for one in wanting])
        elif backward:
            raise ValueError("no output requires grad, so there is no backward to run")
    torch._dynamo.reset()
    return recorder.calls


def _wanting_grad(output: Any) -> Iterator[torch.Tensor]:
    for leaf in tree_leaves(output):
        if isinstance(leaf, torch.Tensor) and leaf.requires_grad:
            yield leaf


__all__ = ["CapturedStage", "Stages", "capture"]
