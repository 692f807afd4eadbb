"""`xductor capture`: runs a script, and writes each stage's graphs as text, before and after."""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.table import Table

from xductor.backend.cli import scripts, value_summaries
from xductor.backend.cli.command import CommandError, Subparsers
from xductor.backend.stage_runs.applications import Changed
from xductor.backend.stage_runs.graph_names import INDEX, GraphNames, digest, pass_file
from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.testing.lowered_stages import lowered
from xductor.ir.text.printing import Locations
from xductor.transforms.passes.events import listening

_RAISED = "the stage raised"
_INNER = ("base",)


def add_parser(subparsers: Subparsers[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "capture",
        usage="xductor capture SCRIPT.py -o DIR [--with-constants] "
        "[--no-locations | --location-aliases] [--passes] [--no-codegen] [-- ARGUMENTS]",
        description="Run a script with xductor in each torch.compile, and write the graphs of the "
        "three stages as text, before and after. The exit status is the script's, or 2 if a file "
        "could not be written.",
    )
    parser.add_argument("script", metavar="SCRIPT.py")
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="where to write")
    parser.add_argument(
        "--with-constants",
        action="store_true",
        help="write the tensors that graphs hold as well, in a section behind each graph",
    )
    locations = parser.add_mutually_exclusive_group()
    locations.add_argument(
        "--no-locations",
        action="store_true",
        help="leave out the lines of the user's code, which are long for code of packages",
    )
    locations.add_argument(
        "--location-aliases",
        action="store_true",
        help="write each of these lines once, behind the graph, and its name at the ops",
    )
    parser.add_argument(
        "--passes",
        action="store_true",
        help="write the graph after each of our passes that changed it too, in a folder for each "
        "stage call",
    )
    scripts.add_script_options(parser)


def run(options: argparse.Namespace) -> int:
    """Run the script and write its graphs; returns the script's exit status."""
    scripts.check_readable(options.script)
    capture = Capture(
        Path(options.output),
        with_constants=options.with_constants,
        locations=_locations(options),
    )
    passes = (
        listening(Changed, capture.changed, everywhere=True) if options.passes else nullcontext()
    )
    try:
        with passes:
            status = scripts.run_script(
                options.script, options.script_arguments, capture, codegen=not options.no_codegen
            )
    finally:
        capture.report()
    return status or (2 if capture.failed else 0)


def _locations(options: argparse.Namespace) -> Locations:
    return "aliases" if options.location_aliases else not options.no_locations


@dataclass
class Entry:
    """One stage call in the index.

    - `graph`: the number of the graph that Dynamo handed over, which its stages share.
    - `compile_id`: Dynamo's id; `0/1` is the first recompile of frame 0.
    - `passes`: names of files in the folder `base`, in the order of the passes.
    - `base`: the beginning of both names.
    - `before`, `after`: names of files beside the index; None if there is none.
    - `problem`: why a file is missing, or that the stage raised.
    """

    graph: int
    stage: str
    direction: str
    compile_id: str
    name: str
    nodes_before: int
    nodes_after: int | None = None
    fired: list[str] = field(default_factory=list[str])
    fallback: str | None = None
    before: str | None = None
    after: str | None = None
    passes: list[str] = field(default_factory=list[str])
    problem: str | None = None
    base: str = ""

    def content(self) -> dict[str, Any]:
        """What the index holds of it."""
        return {name: value for name, value in asdict(self).items() if name not in _INNER}


class Capture:
    """Writes the graphs of stage calls into a folder; the index is complete after each."""

    def __init__(
        self, folder: Path, *, with_constants: bool = False, locations: Locations = True
    ) -> None:
        self.shown = folder
        self.folder = folder = folder.absolute()  # the script may change its directory
        self.failed: str | None = None
        self.with_constants = with_constants
        self.locations: Locations = locations
        self.entries: list[Entry] = []
        self._digests: dict[str, str] = {}
        self._names = GraphNames()
        self._open: dict[int, Entry] = {}
        self._lock = threading.RLock()
        self._process = os.getpid()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._write_index()
        except OSError as error:
            raise CommandError(f"{self.shown}: cannot write there: {error.strerror}") from error

    def before(self, run: StageRun) -> None:
        with self._lock:
            if os.getpid() != self._process:  # a process that the script forked
                return
            base, number, ident = self._names.name(run)
            record = run.record
            entry = Entry(
                number, run.stage, record.direction, ident, record.graph, len(run.gm.graph.nodes)
            )
            entry.base = base
            entry.problem = _RAISED
            self.entries.append(entry)
            self._open[id(run)] = entry
            self._record(run, entry, "before")

    def after(self, run: StageRun) -> None:
        with self._lock:
            entry = self._open.pop(id(run), None)
            if entry is None:
                return
            if entry.problem == _RAISED:
                entry.problem = None
            entry.nodes_after = len(run.gm.graph.nodes)
            entry.fired = run.record.fired()
            entry.fallback = run.record.fallback
            self._record(run, entry, "after")

    def changed(self, event: Changed) -> None:
        """A pass changed a module: write it."""
        from xductor.ir import print_ir

        with self._lock:
            entry = self._open.get(id(event.run))
            if entry is None:
                return
            text = print_ir(
                event.module, with_constants=self.with_constants, locations=self.locations
            )
            file = pass_file(len(entry.passes) + 1, event.one.name)
            try:
                (self.folder / entry.base).mkdir(exist_ok=True)
                (self.folder / entry.base / file).write_text(text, encoding="utf-8")
                self._digests[f"{entry.base}/{file}"] = digest(text)
                entry.passes.append(file)
                self._write_index()
            except OSError as error:
                self.failed = f"{error.filename or self.folder}: {error.strerror}"

    def _record(self, run: StageRun, entry: Entry, when: str) -> None:
        """Write the graph and the index. A failure must not reach the script."""
        try:
            setattr(entry, when, self._write(run, entry, when))
            self._write_index()
        except OSError as error:
            self.failed = f"{error.filename or self.folder}: {error.strerror}"
            if entry.problem in (None, _RAISED):
                entry.problem = f"not written {when} the stage: {self.failed}"

    def _write(self, run: StageRun, entry: Entry, when: str) -> str | None:
        """Write the graph as it is now; returns the name of the file. A graph that the IR cannot
        hold is written as FX's text instead.
        """
        from xductor.ir import print_ir

        try:
            text = print_ir(
                lowered(run), with_constants=self.with_constants, locations=self.locations
            )
            suffix = ".mlir"
        except Exception as error:  # looking at a compile must not break it
            entry.problem = f"no IR {when} the stage: {type(error).__name__}: {error}"
            text, suffix = f"# {entry.problem}\n{run.gm.graph}\n", ".fx.txt"
        name = f"{entry.base}.{when}{suffix}"
        (self.folder / name).write_text(text, encoding="utf-8")
        self._digests[name] = digest(text)
        return name

    def _write_index(self) -> None:
        stages = [entry.content() for entry in self.entries]
        index = {"stages": stages, "digests": self._digests}
        path = self.folder / INDEX
        part = path.with_suffix(".part")
        part.write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")
        part.replace(path)

    def report(self) -> None:
        """Print what was written to stderr, since stdout is the script's."""
        console = value_summaries.console(stderr=True)
        if not self.entries:
            print("xductor: nothing was compiled, no graphs were written", file=sys.stderr)
            return
        console.print(table(self.entries, f"graphs in {self.shown}"))
        for entry in self.entries:
            if entry.problem:
                what = entry.before or f"graph {entry.graph}, {entry.stage}"
                print(f"xductor: {what}: {entry.problem}", file=sys.stderr)


def table(entries: list[Entry], title: str) -> Table:
    """The index for people, a row for each stage call."""
    made = Table(title=title, title_justify="left", title_style="bold")
    made.caption = "file.before.mlir, file.after.mlir; * a pass of Inductor's own"
    made.caption_justify = "left"
    for heading in ("graph", "compile", "stage", "direction"):
        made.add_column(heading)
    made.add_column("nodes", justify="right")
    made.add_column("passes that fired", ratio=1)
    made.add_column("file", no_wrap=True)
    for entry in entries:
        nodes = f"{entry.nodes_before} -> {'?' if entry.nodes_after is None else entry.nodes_after}"
        fired = ", ".join(entry.fired) or "-"
        made.add_row(
            str(entry.graph),
            entry.compile_id,
            entry.stage,
            entry.direction if entry.direction != "unknown" else "",
            nodes,
            f"fell back: {entry.fallback}" if entry.fallback else fired,
            (entry.before or "").partition(".before.")[0],
        )
    return made
