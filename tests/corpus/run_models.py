"""Runs a file of models through `backend="xductor"` and prints a table.

    python tests/corpus/run_models.py --models-file tests/corpus/models.py --round-trip --parity

The file has `build(name, layers=...)`, `names()`, `META` and `loss_of(name, output)`. Each model
runs in a process of its own; a case that takes longer than `--timeout` is killed and reported.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path
from queue import Empty, Queue
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
MARK = "@report "
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "TORCHINDUCTOR_COMPILE_THREADS": "1",
    "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",
}
COLUMNS = (
    "model", "mode", "shapes", "result", "max error: outputs", "gradients", "our stages",
    "round trip", "parity", "fallback", "seconds",
)  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Run the cases and print the table; 1 if any failed."""
    args = _parse(argv)
    sys.path.insert(0, str(ROOT))  # for what a models file imports of these tests
    if args.child:
        _child(args)
        return 0
    reports: list[dict[str, Any]] = []
    print(_row(COLUMNS), _row(["---"] * len(COLUMNS)), sep="\n", flush=True)
    for name in args.only or _names(args):
        for report in _run_model(args, name):
            reports.append(report)
            print(_table_row(report), flush=True)
            if args.json:
                args.json.write_text(json.dumps(reports, indent=1))
    print(_notes(reports))
    return int(any(report["status"] == "FAIL" for report in reports))


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])

    def listed(text: str) -> list[str]:
        return [part for part in text.split(",") if part]

    parser.add_argument("--models-file", type=Path, default=Path(__file__).with_name("models.py"))
    parser.add_argument("--only", type=listed, default=[], help="names of models, with commas")
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--modes", type=listed, default=["eval", "train"])
    parser.add_argument("--shapes", type=listed, default=["static", "dynamic"])
    parser.add_argument("--round-trip", action="store_true", help="check every graph's round trip")
    parser.add_argument("--parity", action="store_true", help="compare with Inductor's own stages")
    parser.add_argument("--fallback", action="store_true", help="also compile with broken lowering")
    parser.add_argument("--codegen", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--json", type=Path, help="write the reports to this file too")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one case")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def _models(path: Path) -> Any:
    import importlib.util

    spec = importlib.util.spec_from_file_location("corpus_models_file", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _names(args: argparse.Namespace) -> list[str]:
    return list(_models(args.models_file).names())


def _cases(args: argparse.Namespace) -> list[tuple[str, str]]:
    return list(product(args.modes, args.shapes))


def _child(args: argparse.Namespace) -> None:
    """Run the cases of one model and write a line for each."""
    from tests.corpus.model_runs import Case, run_case

    models = _models(args.models_file)
    for mode, shapes in _cases(args):
        case = Case(
            args.only[0],
            mode == "train",
            shapes == "dynamic",
            args.layers,
            args.device,
            args.codegen,
        )
        report = run_case(
            models,
            case,
            round_trip=args.round_trip,
            with_parity=args.parity,
            fallback=args.fallback,
        )
        print(MARK + json.dumps(report.as_dict()), flush=True)


def _run_model(args: argparse.Namespace, name: str) -> Iterable[dict[str, Any]]:
    """The reports of one model. After a case that hangs or crashes, the next ones still run."""
    left = _cases(args)
    while left:
        lines, process = _start(args, name, left)
        error = None
        while left and error is None:
            report, error = _next_report(lines, args.timeout)
            mode, shapes = left.pop(0)
            yield report or _dead(name, mode, shapes, str(error))
        process.kill()
        process.wait()


def _start(
    args: argparse.Namespace, name: str, cases: list[tuple[str, str]]
) -> tuple[Queue[str | None], subprocess.Popen[str]]:
    """A process for cases that form a full product, or for the first of them."""
    modes = list(dict.fromkeys(mode for mode, _ in cases))
    shapes = list(dict.fromkeys(shape for _, shape in cases))
    if list(product(modes, shapes)) != cases:
        modes, shapes = [cases[0][0]], [cases[0][1]]
    command = [
        sys.executable, __file__, "--child", "--only", name,
        "--models-file", str(args.models_file), "--layers", str(args.layers),
        "--modes", ",".join(modes), "--shapes", ",".join(shapes), "--device", args.device,
        "--codegen" if args.codegen else "--no-codegen",
    ]  # fmt: skip
    flags = [flag for flag in ("round_trip", "parity", "fallback") if getattr(args, flag)]
    command += [f"--{flag.replace('_', '-')}" for flag in flags]
    environment = {**ENVIRONMENT, **os.environ}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    lines: Queue[str | None] = Queue()

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith(MARK):
                lines.put(line[len(MARK) :])
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    return lines, process


def _next_report(
    lines: Queue[str | None], timeout: float
) -> tuple[dict[str, Any] | None, str | None]:
    try:
        line = lines.get(timeout=timeout)
    except Empty:
        return None, f"not done after {timeout:.0f} s"
    if line is None:
        return None, "the process ended early"
    return json.loads(line), None


def _dead(name: str, mode: str, shapes: str, reason: str) -> dict[str, Any]:
    return {"name": name, "mode": mode, "shapes": shapes, "status": "FAIL", "notes": [reason]}


def _table_row(report: dict[str, Any]) -> str:
    counts = report.get("stage_counts") or {}
    joined = "/".join(
        str(counts.get(stage, 0))
        for stage in ("pre_grad", "joint", *_directions(report), "post_unknown")
        if stage != "post_unknown" or counts.get(stage)
    )
    return _row(
        [
            report["name"], report["mode"], report["shapes"], report["status"],
            _number(report.get("output_error")), _number(report.get("gradient_error")),
            joined if counts else "", _of(report.get("round_trips")), _parity(report),
            report.get("fallback") or "", f"{report.get('seconds', 0):.0f}",
        ]
    )  # fmt: skip


def _directions(report: dict[str, Any]) -> tuple[str, ...]:
    return ("post_forward", "post_backward") if report["mode"] == "train" else ("post_inference",)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.1e}"


def _of(pair: Sequence[int] | None) -> str:
    return "" if pair is None else f"{pair[0]}/{pair[1]}"


def _parity(report: dict[str, Any]) -> str:
    """Equal graphs of all, and for how many of them a known difference was needed."""
    known = len(report.get("known_differences") or ())
    return _of(report.get("parity")) + (f" ({known} known)" if known else "")


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _notes(reports: list[dict[str, Any]]) -> str:
    lines = [
        "",
        "Our stages: calls of pre-grad, joint, post-grad (forward, backward in training).",
        "",
    ]
    known = sorted({name for report in reports for name in report.get("known_differences", ())})
    if known:
        lines += [f"Known differences (docs/differences.md): {', '.join(known)}.", ""]
    for report in reports:
        where = f"{report['name']} {report['mode']} {report['shapes']}"
        lines += [f"- {where}: {note}" for note in report.get("notes", ())]
        lines += [f"- {where}: not run, {why}" for why in sorted(set(report.get("not_run", ())))]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
