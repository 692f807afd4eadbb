"""`xductor report`: runs a script and writes a page for each compile, or lists pages."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from xductor.backend.cli import scripts, value_summaries
from xductor.backend.cli.command import CommandError, Subparsers

_VARIABLE = "XDUCTOR_REPORT"


def add_parser(subparsers: Subparsers[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "report",
        usage="xductor report SCRIPT.py [-o DIR] [--no-codegen] [-- ARGUMENTS]\n"
        "       xductor report DIR",
        description="Run a script with xductor in each torch.compile, and write a page of HTML "
        "for each compile: the graphs before and after each pass, what was applied and what was "
        "refused, the user's source, times. Processes that the script starts write pages too, if "
        "they compile with xductor. With a folder: list the pages in it, which "
        f"{_VARIABLE}=DIR in any process leaves there. The exit status is the script's.",
    )
    parser.add_argument("subject", metavar="SCRIPT.py|DIR")
    parser.add_argument(
        "-o",
        "--output",
        default="xductor-report",
        metavar="DIR",
        help="where to write (default: xductor-report)",
    )
    scripts.add_script_options(parser)


def run(options: argparse.Namespace) -> int:
    """Write the pages and their list; returns the script's exit status."""
    if os.path.isdir(options.subject):
        return 0 if _list(Path(options.subject)) else 1
    scripts.check_readable(options.subject)
    folder = Path(options.output).absolute()  # the script may change its directory
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"{folder}: cannot write there: {error.strerror}") from error
    try:
        with _asked_for(folder):
            return scripts.run_script(
                options.subject, options.script_arguments, codegen=not options.no_codegen
            )
    finally:
        _list(folder)


@contextmanager
def _asked_for(folder: Path) -> Iterator[None]:
    """Ask for pages by the variable, which the processes of the script inherit."""
    before = os.environ.get(_VARIABLE)
    os.environ[_VARIABLE] = str(folder)
    try:
        yield
    finally:
        del os.environ[_VARIABLE]
        if before is not None:
            os.environ[_VARIABLE] = before


def _list(folder: Path) -> Sequence[Any]:
    """Write the list of the pages in a folder, and print it to stderr: stdout is the script's.

    Raises CommandError if the folder cannot be read or written.
    """
    from xductor.backend.report.page_index import INDEX, write_index

    try:
        pages = write_index(folder)
    except OSError as error:
        raise CommandError(f"{error.filename or folder}: {error.strerror}") from error
    if not pages:
        print(f"xductor: there are no pages in {folder}; nothing was compiled", file=sys.stderr)
        return pages
    table = Table(title=f"{folder / INDEX}", title_justify="left", title_style="bold")
    for heading in ("page", "compile", "process", "stages"):
        table.add_column(heading, overflow="fold")
    table.add_column("applied", justify="right")
    table.add_column("ms", justify="right")
    for path, page in pages:
        stages = [
            f"{stage} {before} -> {after}"
            for stage, (before, after) in zip(page["stages"], page["nodes"], strict=True)
        ]
        failed = ("fell back" if page["degraded"] else "failed") if page["failures"] else ""
        table.add_row(
            escape(path.name),
            escape(page["title"]) + (f"\n{failed}" if failed else ""),
            str(page["process"]),
            escape("\n".join(stages)),
            str(page["applied"]),
            str(page["ms"]),
        )
    value_summaries.console(stderr=True).print(table)
    return pages
