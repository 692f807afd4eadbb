"""Sends every graph of the corpus through the IR and back, and counts those that survive.

    python -m tests.corpus.count_graphs
    python -m tests.corpus.count_graphs --models-file MODELS.py --layers 1

The corpus is the small programs and the models of `tests/corpus/models.py`; a models file (see
`run_models.py`) adds its own. Models run in inference and in training, with static and with
dynamic shapes, under autocast, and with checkpointing; each model in a process of its own.

For every graph that a stage is given: it verifies at level `types`, its text parses to the same
module and prints again as it was, the parsed module computes the same values, and raising it into
its graph module leaves `gm.code` byte for byte as it was.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
IN_REPO = Path(__file__).with_name("models.py")
MARK = "@row "
STAGES = ("pre_grad", "joint", "post_grad")
#: As `(train, dynamic, with what)`.
VARIANTS = {
    "eval static": (False, False, None),
    "eval dynamic": (False, True, None),
    "train static": (True, False, None),
    "train dynamic": (True, True, None),
    "eval autocast": (False, False, "autocast"),
    "train autocast": (True, False, "autocast"),
    "train checkpoint": (True, False, "checkpoint"),
}


@dataclass
class Row:
    """The graphs of one program or one model in one variant.

    `compared` counts those whose values were compared; the others say why not in `not_run`.
    """

    name: str
    variant: str
    stages: dict[str, int] = field(default_factory=dict[str, int])
    nodes: int = 0
    survived: int = 0
    compared: int = 0
    not_run: list[str] = field(default_factory=list[str])
    failures: list[str] = field(default_factory=list[str])

    @property
    def graphs(self) -> int:
        return sum(self.stages.values())

    def add(self, outcome: Any) -> None:
        self.stages[outcome.stage] = self.stages.get(outcome.stage, 0) + 1
        self.nodes += outcome.nodes
        self.survived += 1
        if outcome.not_run is None:
            self.compared += 1
        else:
            self.not_run.append(f"{outcome.stage}: {_short(outcome.not_run)}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run everything and print the table; 1 if a graph did not survive."""
    args = _parse(argv)
    if args.child:
        _child(args)
        return 0
    rows: list[Row] = []
    print(_line(HEADINGS), _line(["---"] * len(HEADINGS)), sep="\n", flush=True)
    for command in _commands(args):
        for row in _rows(command, args.timeout):
            rows.append(row)
            print(_table_line(row), flush=True)
    print(_summary(rows))
    return int(any(row.failures for row in rows))


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])

    def listed(text: str) -> list[str]:
        return [part.strip() for part in text.split(",") if part.strip()]

    parser.add_argument("--models-file", type=Path, action="append", default=[])
    parser.add_argument("--only", type=listed, default=[], help="names of models, with commas")
    parser.add_argument("--variants", type=listed, default=list(VARIANTS))
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--small", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--in-repo", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one variant")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    unknown = set(args.variants) - set(VARIANTS)
    if unknown:
        parser.error(f"no variant {', '.join(unknown)}; there are {', '.join(VARIANTS)}")
    return args


def _commands(args: argparse.Namespace) -> Iterable[list[str]]:
    """The arguments of each child: all small programs at once, models one by one."""
    from tests.corpus.run_models import _models

    if args.small:
        yield ["--child", "small programs"]
    for path in [*([IN_REPO] if args.in_repo else []), *args.models_file]:
        module = _models(path)
        for name in module.names():
            if args.only and name not in args.only:
                continue
            trains = module.META[name].get("train", True)
            variants = [v for v in args.variants if trains or not VARIANTS[v][0]]
            if variants:
                yield [
                    "--child", name, "--models-file", str(path),
                    "--variants", ",".join(variants), "--layers", str(args.layers),
                ]  # fmt: skip


def _rows(command: list[str], timeout: float) -> Iterable[Row]:
    """What a child reports; the variant at which it died or hung is a row with that failure."""
    left = command[command.index("--variants") + 1].split(",") if "--variants" in command else []
    whole = [sys.executable, "-W", "ignore", "-m", "tests.corpus.count_graphs", *command]
    with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(whole, cwd=ROOT, stdout=said, stderr=errors, text=True)
        problem = None
        try:
            if process.wait(timeout * max(len(left), 1)):
                problem = f"the process ended with {process.returncode}"
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            problem = "not done in time"
        said.seek(0)
        for line in said:
            if line.startswith(MARK):
                row = Row(**json.loads(line.removeprefix(MARK)))
                left = [variant for variant in left if variant != row.variant]
                yield row
        if problem is not None:
            errors.seek(0)
            last = errors.read().strip().splitlines()[-1:]
            yield Row(command[1], left[0] if left else "", failures=[": ".join([problem, *last])])


def _child(args: argparse.Namespace) -> None:
    if args.child == "small programs":
        rows: Iterable[Row] = _small_programs()
    else:
        path, name = args.models_file[0], args.child
        rows = (_model(path, name, variant, args.layers) for variant in args.variants)
    for row in rows:
        print(MARK + json.dumps(asdict(row)), flush=True)


def _small_programs() -> list[Row]:
    """One row for each kind of graph."""
    from tests.corpus.program_runs import outcomes
    from tests.corpus.small_programs import PROGRAMS

    rows: dict[str, Row] = {}
    for program in PROGRAMS.values():
        row = rows.setdefault(program.kind, Row(program.kind, "small"))
        try:
            for outcome in outcomes(program):
                row.add(outcome)
        except Exception as error:
            row.failures.append(f"{program.name}: {_short(f'{type(error).__name__}: {error}')}")
    return list(rows.values())


def _model(path: Path, name: str, variant: str, layers: int) -> Row:
    import torch

    from tests.corpus.capture import StageCall, capture
    from tests.corpus.model_runs import Case, ModelRuns
    from tests.corpus.round_trip import check_round_trip
    from tests.corpus.run_models import _models

    train, dynamic, addition = VARIANTS[variant]
    row = Row(name, variant)

    def on_call(call: StageCall) -> None:
        try:
            row.add(check_round_trip(call))
        except Exception as error:
            row.stages[call.stage] = row.stages.get(call.stage, 0) + 1
            row.failures.append(f"{call.stage}: {_short(f'{type(error).__name__}: {error}')}")

    runs = ModelRuns(_models(path), Case(name, train, dynamic, layers))
    if addition == "checkpoint":
        runs.model = _checkpointed(runs.model)

    def step(compile: Callable[..., Any]) -> None:
        def compiled(function: Any) -> Any:
            made = compile(function)
            if addition != "autocast":
                return made

            def under_autocast(*inputs: Any, **keywords: Any) -> Any:
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    return made(*inputs, **keywords)

            return under_autocast

        runs.run(compiled, 1)

    try:
        capture(step, on_call, dynamic=dynamic)
    except Exception as error:  # the model and stock's compile, not our graphs
        row.not_run.append(f"the compile stopped: {_short(f'{type(error).__name__}: {error}')}")
    return row


def _checkpointed(inner: Any) -> Any:
    """A module that keeps nothing of its forward, and runs it again in the backward."""
    import torch
    from torch.utils.checkpoint import checkpoint

    class Checkpointed(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, *inputs: Any, **keywords: Any) -> Any:
            return checkpoint(self.inner, *inputs, use_reentrant=False, **keywords)

    return Checkpointed()


HEADINGS = ("program or model", "variant", "pre-grad", "joint", "post-grad", "nodes", "survived",
            "values compared")  # fmt: skip


def _table_line(row: Row) -> str:
    counts = [str(row.stages.get(stage, 0)) for stage in STAGES]
    survived = f"{row.survived}/{row.graphs}"
    return _line(
        [row.name, row.variant, *counts, str(row.nodes), survived, f"{row.compared}/{row.graphs}"]
    )


def _summary(rows: Sequence[Row]) -> str:
    stages = Counter[str]()
    for row in rows:
        stages.update(row.stages)
    survived, compared = (sum(getattr(r, n) for r in rows) for n in ("survived", "compared"))
    counts = ", ".join(f"{stages[stage]} {stage}" for stage in STAGES)
    lines = [
        "",
        f"{stages.total()} graphs ({counts}), {sum(row.nodes for row in rows)} nodes: "
        f"{survived} survived, the values of {compared} compared.",
    ]
    for row in rows:
        lines += [f"- {row.name} {row.variant} FAILED: {why}" for why in row.failures]
        lines += [f"- {row.name} {row.variant}: {why}" for why in sorted(set(row.not_run))]
    return "\n".join(lines)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _short(text: str) -> str:
    return " ".join(text.split())[:300]


if __name__ == "__main__":
    sys.exit(main())
