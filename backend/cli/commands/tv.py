"""`xductor tv`: translation validation by running two files on many generated inputs."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from xductor.backend.cli import ir_files
from xductor.backend.cli.command import CommandError, Subparsers, add_import_option
from xductor.backend.cli.commands.diff import results_of
from xductor.backend.cli.value_differences import Difference, compare
from xductor.ir import GraphOp
from xductor.ir.execution.sample_inputs import input_types
from xductor.ir.symbolic.symbol_values import Number, symbol_choices

#: Shares of special elements, in turn: none, a few, many.
_SPECIAL = (0.0, 0.05, 0.5)
_SHOWN = 3


def add_parser(subparsers: Subparsers[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "tv",
        description="Run the graphs of two files that have the same arguments on many generated "
        "inputs (sizes, NaN, infinities, denormals, extremes) and compare the results. The exit "
        "status is 0 if all agree, 1 if one differs, 2 for trouble. Agreement is no proof.",
    )
    parser.add_argument("source", metavar="SRC")
    parser.add_argument("target", metavar="TGT")
    parser.add_argument("--graph", metavar="NAME", help="which graph; the first if not given")
    parser.add_argument(
        "--count", type=ir_files.count_option, default=24, help="how many inputs (24)"
    )
    parser.add_argument("--seed", type=ir_files.seed_option, default=0)
    parser.add_argument(
        "--rtol", type=float, default=0.0, help="relative tolerance (0: the same bits)"
    )
    parser.add_argument("--atol", type=float, default=0.0, help="absolute tolerance")
    add_import_option(parser)


@dataclass(frozen=True)
class Trial:
    """How one set of inputs is generated."""

    seed: int
    symbols: dict[str, Number]
    special: float

    def __str__(self) -> str:
        sizes = "".join(f" --symbol {name}={value}" for name, value in self.symbols.items())
        special = f" --special {self.special}" if self.special else ""
        return f"--seed {self.seed}{sizes}{special}"


def run(options: argparse.Namespace) -> int:
    """Run both files; returns 0 if they agree on every input that the source accepts."""
    source, target = (
        ir_files.well_formed(ir_files.parsed_module(path), path)
        for path in (options.source, options.target)
    )
    graphs = (
        ir_files.chosen_graph(source, options.graph, options.source),
        ir_files.chosen_graph(target, options.graph, options.target),
    )
    _check_signatures(options, *graphs)
    tried = rejected = wrong = 0
    reason = ""
    for trial in itertools.islice(trials(graphs[0], options.seed), options.count):
        try:
            given = ir_files.generated(
                source,
                graphs[0],
                seed=trial.seed,
                symbols=trial.symbols,
                special=trial.special,
            )
            expected = results_of(source, graphs[0], given, trial.seed)
        except CommandError as error:  # not all sizes and values suit a graph
            rejected, reason = rejected + 1, str(error)
            continue
        tried += 1
        try:
            found = results_of(target, graphs[1], given, trial.seed)
        except CommandError as error:
            problems = [f"only the target raises: {error}"]
        else:
            differences = compare(expected, found, rtol=options.rtol, atol=options.atol)
            exact = not options.rtol and not options.atol
            problems = [str(one) for one in differences if _wrong(one, exact)]
        if problems:
            wrong += 1
            if wrong <= _SHOWN:
                print(f"differs on {trial}", *(f"  {line}" for line in problems), sep="\n")
    if not tried:
        raise CommandError(f"no generated input suits {options.source}; the last one:\n{reason}")
    same = f"{tried - wrong} of {tried} inputs agree"
    print(f"{same} ({rejected} that the source does not take)" if rejected else same)
    return 1 if wrong else 0


def trials(graph: GraphOp, seed: int) -> Iterator[Trial]:
    """Endless trials: each choice of the symbols' values, with varying shares of special values."""
    for number, symbols in enumerate(symbol_choices(graph.symbols.data, seed)):
        own = {name: symbols[name] for name in graph.symbols.data}
        yield Trial(seed + number, own, _SPECIAL[number % len(_SPECIAL)])


def _wrong(difference: Difference, exact: bool) -> bool:
    if difference.problem:
        return True
    return not difference.bits if exact else not difference.close


def _check_signatures(options: argparse.Namespace, source: GraphOp, target: GraphOp) -> None:
    ours, theirs = input_types(source), input_types(target)
    if ours != theirs:
        raise CommandError(
            "the graphs do not take the same arguments:\n"
            f"  {options.source}: ({', '.join(map(str, ours))})\n"
            f"  {options.target}: ({', '.join(map(str, theirs))})"
        )
