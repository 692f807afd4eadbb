"""Runs a script for `xductor bisect` with only the first applications of rewrites.

Run as a module, it loads what every run needs, and then reads plans, one per line. Each is carried
out in a fork of the process, and answered with an empty line.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from xductor.backend.cli import scripts
from xductor.backend.stage_runs.applications import AboutToApply, Passed
from xductor.backend.stage_runs.graph_names import GraphNumbers
from xductor.backend.stage_runs.stage_run import StageRun
from xductor.transforms import TypedPass
from xductor.transforms.passes.debug_counters import TOTAL, active
from xductor.transforms.passes.events import listening
from xductor.transforms.passes.numerics import numerics_text


@dataclass(frozen=True)
class Plan:
    """What a step runs.

    - `environment`: variables to set.
    - `output`, `log`, `result`: files for what the script prints, its errors, and what happened.
    - `eager`: run the script without xductor.
    - `culprit`: the number of an application to write to `folder`, with the IR before and after it.
    """

    script: str
    arguments: list[str]
    codegen: bool
    environment: dict[str, str]
    output: str
    log: str
    result: str
    eager: bool = False
    culprit: int | None = None
    folder: str = ""


@dataclass
class Found:
    """The application that was looked for. Files are named relative to the folder.

    - `made_by`: the rewrite, or the pass if it is procedural; `in_pass`: the pass it ran in.
    - `reduced`: how the small IR shows what is wrong; empty if no small IR could be made.
    - `not_reduced`: why there is none.
    """

    number: int
    made_by: str
    in_pass: str
    stage: str
    direction: str
    graph: int
    compile_id: str
    anchor: str = ""
    where: tuple[str, int] | None = None
    bindings: dict[str, str] = field(default_factory=dict[str, str])
    numerics: str = ""
    reduced: str = ""
    not_reduced: str = ""
    ops_before: int = 0
    ops_small: int = 0


@dataclass
class Result:
    """What happened: the script's exit status, how many applications asked, and the culprit."""

    status: int | None = None
    asked: int = 0
    found: Found | None = None


class Watcher:
    """Counts applications, and keeps the module before and after the one that is looked for."""

    def __init__(self, culprit: int | None) -> None:
        self.culprit = culprit
        self.found: Found | None = None
        self.by: tuple[TypedPass, str] | None = None
        self.module_before: ModuleOp | None = None
        self.module_after: ModuleOp | None = None
        self._numbers = GraphNumbers()

    def before(self, run: StageRun) -> None:
        self._numbers.number(run)

    def after(self, run: StageRun) -> None:
        """Do nothing: passes are followed, not stages."""

    def asked(self, event: AboutToApply) -> None:
        """Keep the module before the application that is looked for."""
        run, one, module, name, number = event
        if number != self.culprit:
            return
        graph, ident = self._numbers.number(run)
        record = run.record
        self.found = Found(
            number,
            name,
            one.name,
            run.stage,
            record.direction,
            graph,
            ident,
            numerics=numerics_text(one.numerics),
        )
        self.by = (one, name)
        self.module_before = module.clone()

    def passed(self, event: Passed) -> None:
        """Keep the module behind the pass of that application."""
        _, one, module, made = event
        if self.by is None or self.by[0] is not one or self.module_after is not None:
            return
        assert self.found is not None
        self.module_after = module.clone()
        for application in made:
            if application.number == self.culprit:
                self.found.anchor, self.found.where = application.anchor, application.where
                self.found.bindings = application.bindings
                self.found.numerics = application.numerics


def step(plan: Plan) -> Result:
    """Run the script. `XDUCTOR_DEBUG_COUNTER` says how many applications happen."""
    watcher = Watcher(plan.culprit)
    result = Result()
    if plan.eager:
        result.status = scripts.run_as_main(plan.script, plan.arguments)
        return result
    with (
        listening(AboutToApply, watcher.asked, everywhere=True),
        listening(Passed, watcher.passed, everywhere=True),
    ):
        result.status = scripts.run_script(
            plan.script, plan.arguments, watcher, codegen=plan.codegen
        )
    counter = active().get(TOTAL)
    result.asked = 0 if counter is None else counter.asked
    if watcher.found is not None:
        result.found = watcher.found
        _write(watcher, Path(plan.folder))
    return result


def _write(watcher: Watcher, folder: Path) -> None:
    from xductor.backend.reduce.small_ir import small_ir
    from xductor.ir import print_ir

    found, before = watcher.found, watcher.module_before
    assert found is not None
    assert before is not None
    assert watcher.by is not None
    (folder / "before.mlir").write_text(print_ir(before), encoding="utf-8")
    if watcher.module_after is not None:
        (folder / "after.mlir").write_text(print_ir(watcher.module_after), encoding="utf-8")
    small = small_ir(before, *watcher.by)
    found.ops_before, found.not_reduced = small.ops_before, small.problem
    if small.module is None:
        return
    found.reduced, found.ops_small = small.kind, small.ops
    (folder / "small.mlir").write_text(print_ir(small.module), encoding="utf-8")
    if small.after is not None:
        (folder / "small.after.mlir").write_text(print_ir(small.after), encoding="utf-8")


def serve() -> int:
    """Carry out the plans on standard input until it ends."""
    _load()
    for line in sys.stdin:
        child = os.fork()
        if not child:
            return _carry_out(Plan(**json.loads(line)))
        os.waitpid(child, 0)
        print(flush=True)
    return 0


def _load() -> None:
    """Import what a compile needs by compiling something that no rewrite applies to."""
    import torch

    from xductor.backend.run_as_fx.without_codegen import without_codegen

    state = torch.get_rng_state()
    with without_codegen():
        torch.compile(lambda x: x + 1, backend="xductor")(torch.ones(2, requires_grad=True))
    torch._dynamo.reset()
    torch.set_rng_state(state)


def _carry_out(plan: Plan) -> int:
    os.environ.update(plan.environment)
    for stream, path in ((sys.stdout, plan.output), (sys.stderr, plan.log)):
        with open(path, "wb") as file:
            os.dup2(file.fileno(), stream.fileno())
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), sys.stdin.fileno())
    content = json.dumps(asdict(step(plan)))
    Path(plan.result).write_text(content, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(serve())
