"""`xductor bisect`: finds the one application of a rewrite that makes a script's result wrong."""

from __future__ import annotations

import argparse
import difflib
import json
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from xductor.backend.cli import scripts
from xductor.backend.cli.bisect_step import Plan
from xductor.backend.cli.command import CommandError, Subparsers
from xductor.backend.records.stage_records import stage_title
from xductor.transforms.passes.debug_counters import VARIABLE

_EPILOG = """\
The script's result is wrong if it exits with another status than 0 or raises; with --check, also if
the command says so, which is given what the script printed on standard input; with --reference
eager, also if it prints something else than without compiling. Numbers that are printed may differ
by --rtol.

  xductor bisect train.py --reference eager --no-codegen
  xductor bisect train.py --check 'grep -q "loss 0.25"' -- --steps 3
"""


def add_parser(subparsers: Subparsers[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "bisect",
        usage="xductor bisect SCRIPT.py [--check COMMAND | --reference eager] [-o DIR] "
        "[--no-codegen] [-- ARGUMENTS]",
        description="Run a script again and again with fewer applications of rewrites, and find "
        "the one that makes its result wrong. Writes the IR before and after it, and the smallest "
        "IR that shows it.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("script", metavar="SCRIPT.py")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", metavar="COMMAND", help="shell command that exits with 0 if right")
    what.add_argument("--reference", choices=("eager",), help="compare what is printed")
    parser.add_argument("--rtol", type=float, default=1e-3, help="of --reference; default: 0.001")
    parser.add_argument(
        "-o", "--output", default="xductor-bisect", metavar="DIR", help="default: xductor-bisect"
    )
    scripts.add_script_options(parser)


def run(options: argparse.Namespace) -> int:
    """Find the application and report it; returns 0 if it was found."""
    scripts.check_readable(options.script)
    folder = Path(options.output)
    folder.mkdir(parents=True, exist_ok=True)
    with Steps(options, folder) as steps:
        number, total = halve(steps)
        found = steps.capture(number)
    print(report(found, number, total, steps, options))
    return 0


@dataclass(frozen=True)
class Step:
    """The outcome of one run: whether its result is right, and how many applications asked."""

    right: bool
    asked: int
    why: str = ""


def halve(steps: Steps) -> tuple[int, int]:
    """The number of the application that makes the result wrong, and how many there are.

    Raises CommandError if the result is right with all applications, or wrong with none.
    """
    all_of_them = steps.run(None)
    if all_of_them.right:
        raise CommandError("the result is right with all applications; there is nothing to find")
    none = steps.run(0)
    if not none.right:
        raise CommandError(
            f"the result is wrong without any application ({none.why}): the fault is in the "
            "script, in Inductor, or in a pass that is always needed"
        )
    low, high = 0, all_of_them.asked
    while high - low > 1:
        middle = (low + high) // 2
        if steps.run(middle).right:
            low = middle
        else:
            high = middle
    return high, all_of_them.asked


class Steps:
    """Runs of the script, each in a process of its own, forked from one that is already loaded."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options = options
        self.folder = folder
        self.runs = 0
        self._server = subprocess.Popen(
            [sys.executable, "-m", "xductor.backend.cli.bisect_step"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._expected = self._eager() if options.reference else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.communicate()

    def run(self, count: int | None) -> Step:
        """Run the script with the first `count` applications, or all of them if None."""
        output, result = self._process(count)
        step = self._judge(output, result)
        shown = "all applications" if count is None else f"the first {count}"
        verdict = "right" if step.right else f"wrong ({step.why})"
        print(f"run {self.runs}: {shown}: {verdict}", file=sys.stderr, flush=True)
        return step

    def capture(self, number: int) -> dict[str, Any]:
        """Run up to an application, and have it and its IR written to files."""
        _, result = self._process(number, culprit=number)
        if result["found"] is None:
            raise CommandError(
                f"application {number} did not come again: the script does not compile the same "
                "graphs each time"
            )
        return result["found"]

    def _process(self, count: int | None, culprit: int | None = None) -> tuple[str, dict[str, Any]]:
        self.runs += 1
        return self._carry_out({VARIABLE: counters(count)}, culprit=culprit)

    def _carry_out(
        self, environment: dict[str, str], eager: bool = False, culprit: int | None = None
    ) -> tuple[str, dict[str, Any]]:
        """What the script printed, and what happened."""
        options = self.options
        log = self.folder / "last-run.txt"
        with tempfile.TemporaryDirectory(prefix="xductor-bisect-") as place:
            output, result = Path(place) / "output.txt", Path(place) / "result.json"
            plan = Plan(
                script=options.script,
                arguments=options.script_arguments,
                codegen=not options.no_codegen,
                environment=environment,
                output=str(output),
                log=str(log),
                result=str(result),
                eager=eager,
                culprit=culprit,
                folder=str(self.folder),
            )
            assert self._server.stdin is not None
            assert self._server.stdout is not None
            print(json.dumps(asdict(plan)), file=self._server.stdin, flush=True)
            self._server.stdout.readline()
            if not result.exists():
                raise CommandError(f"the process ended before the script did; see {log}")
            text = output.read_text(encoding="utf-8", errors="replace")
            return text, json.loads(result.read_text(encoding="utf-8"))

    def _judge(self, output: str, result: dict[str, Any]) -> Step:
        asked: int = result["asked"]
        if result["status"]:
            return Step(False, asked, f"exit status {result['status']}")
        if self.options.check is not None:
            done = subprocess.run(
                self.options.check,
                shell=True,
                input=output,
                text=True,
                capture_output=True,
                check=False,
            )
            return Step(done.returncode == 0, asked, f"the check exits with {done.returncode}")
        if self._expected is not None:
            difference = text_difference(self._expected, output, self.options.rtol)
            return Step(difference is None, asked, difference or "")
        return Step(True, asked)

    def _eager(self) -> str:
        output, result = self._carry_out({"TORCHDYNAMO_DISABLE": "1"}, eager=True)
        if result["status"]:
            log = self.folder / "last-run.txt"
            raise CommandError(
                f"the script fails in eager too, status {result['status']}; see {log}"
            )
        return output


def counters(count: int | None) -> str:
    """The variable's value that stops after `count` applications, added to what it had."""
    given = [part for part in os.environ.get(VARIABLE, "").split(",") if part.strip()]
    return ",".join([*given, "*=0:" + ("" if count is None else str(count))])


_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|inf|nan)")


def text_difference(expected: str, found: str, rtol: float) -> str | None:
    """The first line in which two outputs differ by more than the rounding of their numbers."""
    ours, theirs = found.splitlines(), expected.splitlines()
    for mine, other in zip(ours, theirs, strict=False):
        if mine != other and not _same_line(mine, other, rtol):
            return f"printed {mine!r}, eager prints {other!r}"
    if len(ours) != len(theirs):
        return f"printed {len(ours)} lines, eager prints {len(theirs)}"
    return None


def _same_line(mine: str, other: str, rtol: float) -> bool:
    if _NUMBER.sub("#", mine) != _NUMBER.sub("#", other):
        return False
    pairs = zip(_NUMBER.findall(mine), _NUMBER.findall(other), strict=True)
    return all(_close(float(a), float(b), rtol) for a, b in pairs)


def _close(a: float, b: float, rtol: float) -> bool:
    return math.isclose(a, b, rel_tol=rtol, abs_tol=rtol * 1e-3) or (
        math.isnan(a) and math.isnan(b)
    )


_LOCATION = re.compile(r'loc\("([^"]+)":(\d+)')
_SHOWN_LINES = 24


def report(
    found: dict[str, Any], number: int, total: int, steps: Steps, options: argparse.Namespace
) -> str:
    """The result as text, with the commands that reproduce it."""
    folder = steps.folder
    removed, changes = _changes(folder)
    where = found["where"] or _location(removed)
    by, in_pass = found["made_by"], found["in_pass"]
    stage = stage_title(found["stage"], found["direction"])
    lines = [
        f"application {number} of {total} makes it wrong ({steps.runs} runs)",
        f"  rewrite:   {by}" + (f", in pass {in_pass}" if in_pass != by else ""),
        f"  stage:     {stage}, graph {found['graph']} (compile {found['compile_id'] or '-'})",
        f"  op:        {found['anchor'] or _op_of(removed)}",
    ]
    if where is not None:
        lines.append(f"  user code: {where[0]}:{where[1]}")
    lines += [f"  {name}: {text}" for name, text in found["bindings"].items()]
    lines += ["  what it changed:", *(f"    {line}" for line in changes)]
    if found["reduced"]:
        lines.append(
            f"  small IR:  {folder / 'small.mlir'}, {found['ops_small']} ops "
            f"(of {found['ops_before']}): {found['reduced']}"
        )
    else:
        lines.append(f"  no small IR: {found['not_reduced']}")
    lines += ["  to see it again:", *(f"    {text}" for text in _commands(number, folder, options))]
    return "\n".join(lines)


def _changes(folder: Path) -> tuple[list[str], list[str]]:
    """The lines that the application removed, and all changed lines, shortened."""
    after = folder / "after.mlir"
    if not after.exists():
        return [], ["(the application raised)"]
    old, new = [(folder / name).read_text().splitlines() for name in ("before.mlir", "after.mlir")]
    changed = [
        line
        for line in difflib.unified_diff(old, new, lineterm="", n=0)
        if not line.startswith(("---", "+++", "@@"))
    ]
    removed = [line[1:].strip() for line in changed if line.startswith("-")]
    shown = [line[0] + " " + line[1:].strip() for line in changed[:_SHOWN_LINES]]
    return removed, shown + (["..."] if len(changed) > _SHOWN_LINES else [])


def _location(removed: list[str]) -> tuple[str, int] | None:
    for line in removed:
        place = _LOCATION.search(line)
        if place is not None:
            return place[1], int(place[2])
    return None


def _op_of(removed: list[str]) -> str:
    return removed[0] if removed else "?"


def _commands(number: int, folder: Path, options: argparse.Namespace) -> list[str]:
    script = shlex.join(["xductor", "capture", options.script, "-o", str(folder / "graphs")])
    if options.no_codegen:
        script += " --no-codegen"
    if options.script_arguments:
        script += " -- " + shlex.join(options.script_arguments)
    commands = [
        f"{VARIABLE}={shlex.quote(counters(number))} {script}",
        f"{VARIABLE}={shlex.quote(counters(number - 1))} {script}   # still right",
    ]
    if (folder / "small.after.mlir").exists():
        pair = [str(folder / name) for name in ("small.mlir", "small.after.mlir")]
        commands.append(shlex.join(["xductor", "tv", *pair]))
    return commands
