"""`xductor diff`: compares two IR files by structure, and optionally by what they compute."""

from __future__ import annotations

import argparse
import copy
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from xductor.backend.cli import ir_files
from xductor.backend.cli.command import CommandError, Subparsers, add_import_option
from xductor.backend.cli.commands.run import failure_text, run_graph
from xductor.backend.cli.value_differences import Difference, compare
from xductor.ir import GraphOp
from xductor.ir.execution.module_diff import diff


def add_parser(subparsers: Subparsers[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "diff",
        description="Compare two IR files by structure: names do not count, and the order of ops "
        "only where it matters. The exit status is diff's: 0 for no difference, 1 for some, 2 for "
        "trouble; a difference of metadata alone is none.",
    )
    parser.add_argument("left", metavar="A")
    parser.add_argument("right", metavar="B")
    parser.add_argument("--names", action="store_true", help="tell of names that differ, too")
    parser.add_argument(
        "--metadata", action="store_true", help="show each difference of metadata, not the count"
    )
    parser.add_argument(
        "--values", action="store_true", help="run both on the same inputs and compare the results"
    )
    ir_files.add_input_options(parser)
    add_import_option(parser)


def run(options: argparse.Namespace) -> int:
    """Compare the files; returns 0 if they have the same structure (and values), else 1."""
    modules = [ir_files.parsed_module(path) for path in (options.left, options.right)]
    found = diff(*modules, names=options.names)
    print(found)
    if found.metadata:
        shown = options.metadata or options.names
        lines = found.metadata if shown else ["shown with --metadata"]
        print(f"metadata only: {len(found.metadata)} differences")
        print(*(f"  {line}" for line in lines), sep="\n")
    status = 1 if found else 0
    if options.values:
        status |= _compare_values(options, *modules)
    return status


def _compare_values(options: argparse.Namespace, left: ModuleOp, right: ModuleOp) -> int:
    graphs = [
        ir_files.chosen_graph(ir_files.well_formed(module, path), None, path)
        for module, path in ((left, options.left), (right, options.right))
    ]
    given = ir_files.generated(
        left,
        graphs[0],
        seed=options.seed,
        symbols=dict(options.symbol),
        special=options.special,
    )
    ir_files.check_inputs(f"values cannot be compared: {options.left}", graphs[1], given.inputs)
    others = ir_files.generated(right, graphs[1], seed=options.seed)
    given.attributes = {**others.attributes, **given.attributes}
    results = [
        results_of(module, graph, given, options.seed)
        for module, graph in zip((left, right), graphs, strict=True)
    ]
    differences = compare(*results)
    print(f"values, seed {options.seed}: {values_text(differences)}")
    return 1 if any(difference.differs for difference in differences) else 0


def results_of(
    module: ModuleOp, graph: GraphOp, given: ir_files.Inputs, seed: int
) -> dict[str, Any]:
    """What a graph returns and what it leaves in its inputs, which are copied first.

    Raises CommandError if an op raises.
    """
    own = ir_files.Inputs(copy.deepcopy(given.inputs), given.attributes)
    try:
        returned = run_graph(module, graph, own, seed)
    except Exception as error:  # a kernel may raise anything
        raise CommandError(failure_text(error)) from error
    return {"result": returned, "input": own.inputs}


def values_text(differences: list[Difference]) -> str:
    """A line for each value that differs, or one that says none does."""
    wrong = [difference for difference in differences if difference.differs]
    if not wrong:
        return f"{len(differences)} values are the same, bit by bit"
    lines = [f"{len(wrong)} of {len(differences)} values differ"]
    return "\n".join([*lines, *(f"  {difference}" for difference in wrong)])
