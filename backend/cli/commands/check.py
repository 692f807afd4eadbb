"""`xductor check`: runs the verifier over IR files, or over all graphs that a script compiles."""

from __future__ import annotations

import argparse
import sys
import threading

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException, ParseError

from xductor.backend.cli import scripts
from xductor.backend.cli.command import CommandError, Subparsers, add_import_option
from xductor.backend.cli.ir_files import read_module
from xductor.backend.stage_runs.graph_names import GraphNumbers
from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.testing.lowered_stages import lowered
from xductor.ir.verification.problems import problems
from xductor.ir.verification.verifier import LEVELS, Level


def add_parser(subparsers: Subparsers[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "check",
        usage="xductor check [--level LEVEL] (FILE... | SCRIPT.py [--no-codegen] [-- ARGUMENTS])",
        description="Verify IR files, or the graphs that go into and come out of each stage while "
        "a script runs. Every error is printed; the exit status is 1 if there is any.",
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="IR text, or one Python script")
    parser.add_argument(
        "--level",
        choices=LEVELS,
        default="types",
        help="the form of ops and graphs (structure), and every result type against PyTorch's own "
        "inference (types, the default), and the rules of the graph's stage (stage)",
    )
    scripts.add_script_options(parser)
    add_import_option(parser)


def run(options: argparse.Namespace) -> int:
    """Verify the files or the script's graphs; returns 1 if anything is wrong."""
    paths: list[str] = options.files
    python = [path for path in paths if path.endswith(".py")]
    if python and len(paths) > 1:
        raise CommandError(f"{python[0]} is a script: check it alone, with its arguments behind --")
    if python:
        return _check_script(options, python[0])
    if options.script_arguments:
        raise CommandError("arguments behind -- are those of a script, and none is given")
    graphs = errors = 0
    for path in paths:
        found, count = file_problems(path, options.level)
        graphs += count
        errors += len(found)
        for text in found:
            print(text)
    return _summary(
        f"{_counted(len(paths), 'file')}, {_counted(graphs, 'graph')}", errors, options.level
    )


def file_problems(path: str, level: Level) -> tuple[list[str], int]:
    """The errors in a file, and the number of its graphs."""
    try:
        module = read_module(path)
    except (ParseError, DiagnosticException) as error:
        return [f"{path}: cannot be parsed\n{error}"], 0
    return [str(error) for error in problems(module, level)], _graph_count(module)


def _graph_count(module: ModuleOp) -> int:
    return sum(1 for _ in module.ops)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _summary(what: str, errors: int, level: str) -> int:
    sys.stdout.flush()
    wrong = _counted(errors, "error") if errors else "no errors"
    print(f"{what}: {wrong} at level {level}", file=sys.stderr)
    return 1 if errors else 0


def _check_script(options: argparse.Namespace, script: str) -> int:
    checker = StageChecker(options.level)
    status = scripts.run_script(
        script, options.script_arguments, checker, codegen=not options.no_codegen
    )
    if not checker.calls:
        if status:
            print(f"xductor: {script} compiled nothing before it ended", file=sys.stderr)
            return status
        raise CommandError(f"{script} compiled nothing, so nothing was checked")
    what = f"{script}: {checker.graphs} graphs of {checker.calls} stage calls"
    return _summary(what, checker.errors, options.level) or status


class StageChecker:
    """Verifies the graphs of stage calls, and prints errors as they come.

    - `graphs`, `calls`, `errors`: how many of each so far; a stage call has two graphs.
    """

    def __init__(self, level: Level) -> None:
        self.level: Level = level
        self.graphs = self.calls = self.errors = 0
        self._numbers = GraphNumbers()
        self._lock = threading.RLock()

    def before(self, run: StageRun) -> None:
        self.calls += 1
        self._check(run, "into")

    def after(self, run: StageRun) -> None:
        self._check(run, "out of")
        if run.record.fallback:
            self._report(self._where(run, "in"), f"fell back: {run.record.fallback}")

    def _check(self, run: StageRun, way: str) -> None:
        with self._lock:
            self.graphs += 1
            where = self._where(run, way)
            try:
                found = [str(error) for error in problems(lowered(run), self.level)]
            except Exception as error:  # a graph that cannot be lowered is such an error
                found = [f"cannot be lowered: {type(error).__name__}: {error}"]
            for text in found:
                self._report(where, text)

    def _report(self, where: str, text: str) -> None:
        self.errors += 1
        print(f"{where}: {text}", flush=True)

    def _where(self, run: StageRun, way: str) -> str:
        number, ident = self._numbers.number(run)
        compiled = f" (compile {ident})" if ident else ""
        return f"graph {number}{compiled}, {way} {run.record.title}"
