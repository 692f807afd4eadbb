"""`xductor run`: runs a graph of an IR file op by op on generated or given inputs."""

from __future__ import annotations

import argparse
import copy
from typing import Any

import torch
from xdsl.dialects.builtin import ModuleOp

from xductor.backend.cli import ir_files, value_summaries
from xductor.backend.cli.command import CommandError, Subparsers, add_import_option
from xductor.ir import GraphOp
from xductor.ir import run as interpret
from xductor.ir.execution.interpreter import seeded


def add_parser(subparsers: Subparsers[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "run",
        description="Run a graph of an IR file as eager PyTorch would, and sum up each result.",
    )
    parser.add_argument("file", metavar="FILE", help="IR text")
    parser.add_argument("--graph", metavar="NAME", help="which graph; the first if not given")
    parser.add_argument(
        "--inputs",
        metavar="FILE.pt",
        help="what torch.save wrote: a list in the order of the graph's arguments, or a dict with "
        "'inputs' and 'attributes' (by path)",
    )
    parser.add_argument("--output", metavar="FILE.pt", help="where to save inputs and results")
    ir_files.add_input_options(parser)
    add_import_option(parser)


def run(options: argparse.Namespace) -> int:
    """Print a summary of each result. Raises CommandError if an op fails."""
    module = ir_files.well_formed(ir_files.parsed_module(options.file), options.file)
    graph = ir_files.chosen_graph(module, options.graph, options.file)
    if options.inputs is not None:
        given = ir_files.loaded(options.inputs, module, graph, options.seed)
    else:
        given = ir_files.generated(
            module,
            graph,
            seed=options.seed,
            symbols=dict(options.symbol),
            special=options.special,
        )
    if options.output is not None:
        ir_files.check_writable(options.output)
    before = copy.deepcopy(given.inputs)
    try:
        results = run_graph(module, graph, given, options.seed)
    except Exception as error:  # a kernel may raise anything
        raise CommandError(failure_text(error)) from error
    rows = [
        value_summaries.row(name, value)
        for name, value in value_summaries.named_leaves(results, "result")
    ]
    for name, old, new in zip(graph.argument_names, before, given.inputs, strict=True):
        if isinstance(old, torch.Tensor) and not same_bits(old, new):
            rows.append(value_summaries.row(f"%{name} (written)", new))
    title = f"@{graph.sym_name.data} of {options.file}, seed {options.seed}"
    value_summaries.console().print(value_summaries.table(title, rows))
    if options.output is not None:
        saved = {"inputs": before, "attributes": given.attributes, "results": results}
        torch.save(saved, options.output)
    return 0


def run_graph(module: ModuleOp, graph: GraphOp, given: ir_files.Inputs, seed: int) -> Any:
    """Run a graph and return what it returns; it may write to its inputs."""
    with seeded(seed):
        return interpret(module, *given.inputs, attributes=given.attributes, graph=graph)


def failure_text(error: BaseException) -> str:
    """An error of an op, with the notes that say where it was."""
    lines = [f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())]
    return "\n".join(lines)


def same_bits(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Whether two tensors have the same dtype, shape and bits."""
    return value_summaries.value_hash(left) == value_summaries.value_hash(right)
