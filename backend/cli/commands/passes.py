"""`xductor passes`: prints the registry as a table, or as the page of the documentation."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, get_args

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from xductor.backend.cli.command import CommandError, Subparsers
from xductor.backend.cli.passes_page import page
from xductor.transforms import Stage
from xductor.transforms.passes.numerics import numerics_text
from xductor.transforms.rows import registry
from xductor.transforms.rows.pass_row import Kind, PassRow


def add_parser(subparsers: Subparsers[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "passes",
        description="The passes of the three stages, in order. On a terminal the table fits its "
        "width; elsewhere it has all columns. With names: all that is known of these passes.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="show these passes only")
    parser.add_argument("--stage", choices=get_args(Stage), help="those of one stage")
    parser.add_argument("--kind", choices=get_args(Kind), help="those of one kind")
    parser.add_argument("--markdown", action="store_true", help="as a page of the documentation")


def run(options: argparse.Namespace) -> int:
    """Print the table, or what is known of some passes. Raises CommandError for unknown names."""
    if options.markdown:
        if options.names or options.stage or options.kind:
            raise CommandError("--markdown is the whole page; it takes no names, stage or kind")
        print(page(), end="")
        return 0
    found = [
        row
        for row in registry.rows(options.stage)
        if options.kind in (None, row.kind) and (not options.names or row.name in options.names)
    ]
    for name in options.names:
        if name not in {row.name for row in found}:
            raise CommandError(_unknown(name, options))
    if options.names:
        print("\n\n".join(map(_all_of, found)))
    elif sys.stdout.isatty():
        Console().print(_narrow(found))
    else:
        print(registry.table(found))
    return 0


def _unknown(name: str, options: argparse.Namespace) -> str:
    rows = {row.name: row for row in registry.rows()}
    if name in rows:
        row = rows[name]
        return f"'{name}' is a {row.kind} pass of the {row.stage} stage"
    close = get_close_matches(name, rows, n=1)
    hint = f"; did you mean '{close[0]}'?" if close else ""
    return f"no pass is called '{name}'{hint}"


def _narrow(rows: Sequence[PassRow]) -> Table:
    """The columns that tell what there is. Names are never cut off, so that they can be used."""
    table = Table("stage", box=None, pad_edge=False)
    table.add_column("pass", no_wrap=True, overflow="ignore")
    table.add_column("kind")
    table.add_column("summary", ratio=1)
    for row in rows:
        table.add_row(*map(escape, (row.stage, row.name, row.kind, row.summary)))
    return table


def _all_of(row: PassRow) -> str:
    """All that is known of a pass, a line each."""
    known = {
        "stage": row.stage,
        "kind": row.kind,
        "summary": row.summary,
        "in Inductor": registry.inductor_of(row) or "nowhere: it is ours",
        "flag": row.flag or "none: it always runs",
        "options": row.options,
        "counter": registry.counter_of(row),
        "done by": row.covered_by,
        "class": row.factory,
        "numerics": _numerics(row),
        "validated": registry.validation_of(row),
        "proof": registry.proof_of(row),
    }
    lines = [f"  {key + ':':13}{value}" for key, value in known.items() if value]
    return "\n".join([row.name, *lines])


def _numerics(row: PassRow) -> str:
    if not row.factory:
        return ""
    declared: Any = registry.typed_class(row.name).numerics
    return numerics_text(declared)
