"""Reads IR files for the subcommands, and makes the inputs to run them on."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException, ParseError

from xductor.backend.cli.command import CommandError
from xductor.ir import GraphOp, entry_graph, graph_named, parse_ir
from xductor.ir.execution.input_check import input_problem
from xductor.ir.execution.sample_inputs import NoSample, sample_attributes, sample_inputs
from xductor.ir.symbolic.symbol_values import Number
from xductor.ir.verification.problems import problems


def read_module(path: str) -> ModuleOp:
    """The module of a file.

    Raises CommandError for a file that cannot be read, ParseError for text that cannot be parsed.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{path}: not a text file ({error.reason})") from error
    return parse_ir(text, path)


def parsed_module(path: str) -> ModuleOp:
    """The module of a file. Raises CommandError if it cannot be read or parsed."""
    try:
        return read_module(path)
    except (ParseError, DiagnosticException) as error:
        raise CommandError(f"{path} cannot be parsed\n{error}") from error


def well_formed(module: ModuleOp, path: str) -> ModuleOp:
    """The module itself if it is well-formed. Raises CommandError with every error if not."""
    wrong = [str(error) for error in problems(module, "structure")]
    if wrong:
        raise CommandError("\n".join([f"{path} is not well-formed", *wrong]))
    return module


def chosen_graph(module: ModuleOp, name: str | None, path: str) -> GraphOp:
    """The graph of that name, or the entry graph. Raises CommandError if there is none."""
    graphs = [op for op in module.ops if isinstance(op, GraphOp) and not op.is_declaration]
    names = ", ".join(f"@{graph.sym_name.data}" for graph in graphs)
    if name is None:
        if not graphs:
            raise CommandError(f"{path} has no fx.graph with a body")
        return entry_graph(module)
    found = graph_named(module, name.removeprefix("@"))
    if found is None or found.is_declaration:
        raise CommandError(f"{path} has no graph @{name.removeprefix('@')}; it has: {names}")
    return found


def symbol_option(text: str) -> tuple[str, Number]:
    """Parse `s0=5` from the command line."""
    name, _, value = text.partition("=")
    try:
        number: Number = float(value) if "." in value or "e" in value else int(value)
    except ValueError:
        number = math.nan
    if not name or math.isnan(number):
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form s0=5")
    return name, number


def seed_option(text: str) -> int:
    """Parse a seed that PyTorch's generators accept."""
    if not text.isdecimal() or int(text) >= 1 << 63:
        raise argparse.ArgumentTypeError(f"'{text}' is no integer from 0 to 2**63 - 1")
    return int(text)


def share_option(text: str) -> float:
    """Parse a number from 0 to 1."""
    try:
        share = float(text)
    except ValueError:
        share = math.nan
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 0 to 1")
    return share


def count_option(text: str) -> int:
    """Parse a positive integer."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"'{text}' is no number of 1 or more")
    return int(text)


def check_writable(path: str) -> None:
    """Raise CommandError if a file cannot be written, before the work rather than after it."""
    try:
        with open(path, "ab"):
            pass
    except OSError as error:
        raise CommandError(f"{path}: cannot write there: {error.strerror}") from error


def add_input_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what graphs are run on."""
    parser.add_argument("--seed", type=seed_option, default=0, help="of the generated inputs")
    parser.add_argument(
        "--symbol",
        type=symbol_option,
        action="append",
        default=[],
        metavar="s0=5",
        help="the value of a symbol; those that are not given have their hints",
    )
    parser.add_argument(
        "--special",
        type=share_option,
        default=0.0,
        metavar="SHARE",
        help="the share (0 to 1) of elements that are NaN, infinite, denormal, extreme, ...",
    )


class Inputs:
    """What a graph is run on: its inputs, and values of the attributes that its module reads."""

    def __init__(self, inputs: Sequence[Any], attributes: Mapping[str, Any]) -> None:
        self.inputs = list(inputs)
        self.attributes = dict(attributes)


def generated(
    module: ModuleOp,
    graph: GraphOp,
    *,
    seed: int = 0,
    symbols: Mapping[str, Number] | None = None,
    special: float = 0.0,
) -> Inputs:
    """Inputs generated from the types of a graph. Raises CommandError if that is impossible."""
    try:
        inputs = sample_inputs(graph, seed=seed, symbols=symbols, special=special)
        table = graph.symbols.data
        shared = {name: value for name, value in (symbols or {}).items() if name in table}
        attributes = sample_attributes(module, seed=seed, symbols=shared)
    except NoSample as error:
        raise CommandError(f"@{graph.sym_name.data} has no generated inputs: {error}") from error
    return Inputs(inputs, attributes)


def loaded(path: str, module: ModuleOp, graph: GraphOp, seed: int = 0) -> Inputs:
    """Inputs that `torch.save` wrote: a list in the order of the arguments, or a dict with
    `inputs` and, by path, `attributes`. Raises CommandError if they do not suit the graph.
    """
    try:
        found = torch.load(path, weights_only=True)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error
    except Exception as error:  # pickle's errors are of many kinds
        told = str(error).strip().splitlines()[:1]
        raise CommandError(
            ": ".join([f"{path} is no file of tensors that torch.save wrote", *told])
        ) from error
    attributes: Mapping[str, Any] = {}
    if isinstance(found, Mapping):
        attributes = found.get("attributes", {})
        found = found.get("inputs")
        if not isinstance(attributes, Mapping):
            raise CommandError(f"{path}: 'attributes' is {attributes!r}, expected a dict by path")
    if not isinstance(found, Sequence):
        raise CommandError(f"{path} holds neither a list of inputs nor a dict with 'inputs'")
    check_inputs(path, graph, found)
    try:
        made_up = sample_attributes(module, seed=seed)
    except NoSample as error:
        raise CommandError(str(error)) from error
    return Inputs(found, {**made_up, **attributes})


def check_inputs(path: str, graph: GraphOp, inputs: Sequence[Any]) -> None:
    """Check that inputs suit the arguments of a graph; `path` is where they come from.

    Raises CommandError for a wrong number of inputs, a wrong dtype or rank, or a wrong size where
    the graph's is a number.
    """
    names = graph.argument_names
    if len(inputs) != len(names):
        raise CommandError(
            f"{path} has {len(inputs)} inputs, @{graph.sym_name.data} takes {len(names)}: "
            f"{', '.join(names)}"
        )
    problem = input_problem(graph, inputs)
    if problem:
        raise CommandError(f"{path}: {problem}")
