"""`xductor passes`: prints the registry as a table, or as the page of the documentation."""

from __future__ import annotations

import argparse
from collections import Counter

from xductor.backend.cli.command import Subparsers
from xductor.transforms import Stage
from xductor.transforms.rows import registry

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
        table = registry.table(markdown=True, stage=stage)
        sections.append(f"## {title}\n\n{_tally(stage)}\n\n{table}\n")
    return "\n".join(sections)


def _tally(stage: Stage) -> str:
    kinds = Counter(row.kind for row in registry.rows(stage))
    return ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) + "."


def add_parser(subparsers: Subparsers[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("passes", description="The passes of the three stages.")
    parser.add_argument("--markdown", action="store_true", help="as a page of the documentation")


def run(options: argparse.Namespace) -> int:
    """Print the table."""
    markdown: bool = options.markdown
    print(page() if markdown else registry.table(), end="" if markdown else "\n")
    return 0
