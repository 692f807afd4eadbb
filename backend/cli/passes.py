"""`xductor passes`: prints the registry as a table, or as the page of the documentation."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, get_args

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from xductor.backend.cli.command import CommandError, Subparsers
from xductor.transforms import Stage
from xductor.transforms.passes.numerics import numerics_text
from xductor.transforms.rows import registry
from xductor.transforms.rows.pass_row import Kind, PassRow

_TITLES: dict[Stage, str] = {
    "pre_grad": "Pre-grad",
    "joint": "Joint",
    "post_grad": "Post-grad",
}

_INTRODUCTION = """\
# Passes

<!-- Written by `xductor passes --markdown`; edit the rows in transforms/ instead. -->

These are the passes that Inductor runs in each of the three stages, in its order, and how this
project implements them:

- **declared** and **procedural** passes are typed passes over the IR. Their names work in
  `xductor-opt -p`.
- **bridged** passes are Inductor's own, run between ours. The graph that they leave is checked when
  the next typed pass lowers it.
- **hook** is an option of Inductor under which the user's own passes run: typed passes and
  rewrites on the typed graph, callables on the FX graph, lists of either.
- **not yet** is a name that Inductor has with an empty body.

*validated* gives the number of inputs on which the graphs before and after the pass gave the same
results, and the number of graphs ([how](proofs.md#validation)). *proof* is the result of the
[prover](proofs.md) for the rewrites or rules of a pass, or for graphs on which it was validated.
*flag* is the option of `torch._inductor.config` that switches the pass, and *counter* the name
under which `torch._dynamo.utils.counters["inductor"]` counts it.
"""


def page() -> str:
    """The text of `docs/passes.md`."""
    sections = [_INTRODUCTION]
    for stage, title in _TITLES.items():
        table = registry.table(registry.rows(stage), markdown=True)
        sections.append(f"## {title}\n\n{_tally(stage)}\n\n{table}\n")
    return "\n".join(sections)


def _tally(stage: Stage) -> str:
    kinds = Counter(row.kind for row in registry.rows(stage))
    return ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) + "."


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
