"""Whether a graph and what a pass made of it agree when they are run."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch.fx import Interpreter
from xdsl.dialects.builtin import ModuleOp

from xductor.backend.fx.export import to_fx
from xductor.ir import entry_graph
from xductor.ir.symbolic.symbol_values import NoSample
from xductor.transforms import Numerics
from xductor.transforms.rewriting.contracts import Violation
from xductor.transforms.validation.fragment_runs import Trial, inputs_of, run_fragment, trials
from xductor.transforms.validation.fragments import Fragments
from xductor.transforms.validation.value_comparison import Budget, compare
from xductor.transforms.validation.values import compare_fragments, shortened

#: How many inputs are tried for each graph; small graphs get two or three times as many.
ROUNDS = 4

Runner = Callable[[ModuleOp, list[Any], int], Sequence[Any]]


def same_results(before: ModuleOp, after: ModuleOp, numerics: Numerics) -> int:
    """Compare results, layouts, shared storage, and the inputs afterwards. Raises Violation."""
    pairs: Any = tuple(zip(*(entry_graph(one).output.operands for one in (before, after))))  # noqa: B905
    fragments = Fragments(before, after, pairs)
    return compare_fragments(fragments, numerics, [True] * len(pairs), rounds=ROUNDS).runs


def same_results_as_fx(before: ModuleOp, after: ModuleOp, numerics: Numerics) -> int:
    """Compare results of the graphs run as FX, for operators that require a GraphModule."""

    def run(module: ModuleOp, inputs: list[Any], seed: int) -> Sequence[Any]:
        return Interpreter(to_fx(module)).run(*inputs)

    return agreeing(before, after, numerics, run=run)


def agreeing(
    before: ModuleOp,
    after: ModuleOp,
    numerics: Numerics,
    *,
    run: Runner | None = None,
    under: Callable[[Trial], AbstractContextManager[object]] = lambda trial: nullcontext(),
) -> int:
    """The number of inputs on which both give the same values, dtypes, sizes and strides.

    - `run`: runs a module on inputs with a seed; by default the interpreter does.
    - `under`: a context for each of the two runs of a trial.

    Raises Violation if they differ.
    """
    graph = entry_graph(before)
    run = run or (lambda module, inputs, seed: run_fragment(module, inputs, seed).outputs)
    runs = 0
    try:
        for trial in trials(graph, ROUNDS):
            sides: list[tuple[Sequence[Any], list[Any]]] = []
            for module in (before, after):
                inputs = inputs_of(graph, trial, tame=False)
                with warnings.catch_warnings(), under(trial):
                    warnings.simplefilter("ignore")
                    sides.append((run(module, inputs, trial.seed), inputs))
            _check(trial, sides, Budget(numerics))
            runs += 1
    except NoSample:
        pass  # sizes that these types cannot have
    return runs


def _check(trial: Trial, sides: Sequence[tuple[Sequence[Any], list[Any]]], budget: Budget) -> None:
    (expected, left), (found, left_after) = sides
    if len(expected) != len(found):
        raise Violation(f"{len(expected)} results have become {len(found)}")
    pairs = [*zip(expected, found, strict=True), *zip(left, left_after, strict=True)]
    for place, (old, new) in enumerate(pairs):
        problem: object = compare(old, new, budget)
        if problem is None and isinstance(old, torch.Tensor) and old.numel():
            problem = _strides(old, new)
        if problem is not None:
            what = f"result {place}" if place < len(expected) else f"input {place - len(expected)}"
            raise Violation(
                f"{what}: {problem}; inputs from {trial}\n"
                f"  before: {shortened(old)}\n  after: {shortened(new)}"
            )


def _strides(old: torch.Tensor, new: torch.Tensor) -> str | None:
    pairs = zip(old.shape, old.stride(), new.stride(), strict=True)
    if all(a == b for size, a, b in pairs if size > 1):
        return None
    return f"strides {old.stride()} before and {new.stride()} after"


__all__ = ["ROUNDS", "agreeing", "same_results", "same_results_as_fx"]
