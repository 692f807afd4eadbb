"""Searches for values on which an instance is wrong, and runs them to make sure."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

import torch

from xductor.ir import ListArg
from xductor.transforms.passes.numerics import (
    APPROXIMATE,
    EXACT,
    UP_TO_ZERO_SIGN,
    Numerics,
)
from xductor.transforms.proving.eager_runs import Named, NotTaken, SourceRefused, Trial
from xductor.transforms.proving.instances import Instance
from xductor.transforms.proving.results import CounterExample
from xductor.transforms.proving.symbolic import SymbolicNumber, SymbolicTensor, term_of
from xductor.transforms.rewriting.handles import Dim
from xductor.transforms.semantics.evaluation import Evaluation
from xductor.transforms.semantics.terms import Term, var
from xductor.transforms.validation.fragment_runs import largest_tame, put_ones_for_large

_FLOATS = (0.0, -0.0, 1.0, -1.0, float("nan"), float("inf"), float("-inf"), 3e38, 1e-41, 0.1)
_INTEGERS = (0, 1, -1, 2, 3, 127, -128, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63))
_NUMBERS = (0.0, -0.0, 1.0, 2.0, 0.5, -1.5, 1.1, 1e-3)
ROUNDS = 40


def find(
    run: Callable[[Sequence[Any]], Trial],
    instance: Instance,
    conditions: Sequence[Term] = (),
    values: Mapping[Term, Any] | None = None,
    extra: Mapping[str, Term] | None = None,
    rounds: int = ROUNDS,
    numerics: Numerics = EXACT,
) -> CounterExample | None:
    """An example on which the two sides differ in eager, or None if none was found.

    - `run`: runs both sides on given values.
    - `conditions`: under which they differ, if known; `values`: elements for which they do.
    - `extra`: further integer variables, such as the index at which they differ.
    - `numerics`: what they may differ by. If NaN and infinities may differ, only ordinary numbers
      are tried; if sums may be reordered, none so large that overflow depends on the order.
    """
    ordinary = numerics == APPROXIMATE
    tame = numerics not in (EXACT, UP_TO_ZERO_SIGN)
    variables = {**instance.variables, **(extra or {})}
    for number, sizes in enumerate(_sizes(instance, conditions, variables, rounds)):
        given = {} if ordinary else values or {}
        concrete = _Concrete(sizes, given, 6 * number if ordinary else number, tame=tame)
        try:
            fillings = [concrete.value(one) for one in instance.fillings]
            trial = run(fillings)
        except (NotTaken, KeyError, OverflowError, MemoryError):
            continue
        if trial.problem:
            return _example(trial, instance, concrete)
    return None


def refusal_of_eager(
    run: Callable[[Sequence[Any]], Trial], instance: Instance, rounds: int = 4
) -> str:
    """Why eager refuses the source for all values; empty if it accepts some, or was not asked.

    Integers among the elements are all 0, since they may be indices, or all 1, since they may be
    divisors; everything is on the CPU.

    - `run`: runs both sides on given values.
    """
    found = ""
    assumptions, variables = instance.assumptions, instance.variables
    model = assumptions.all_alike(2, variables) or assumptions.model(variables=variables)
    for number in range(rounds if model is not None else 0):
        concrete = _Concrete(model or {}, {}, number)
        try:
            fillings = [_calm(concrete.value(one), number % 2) for one in instance.fillings]
        except (NotTaken, KeyError, OverflowError, MemoryError):
            continue
        try:
            run(fillings)
        except SourceRefused as error:
            found = str(error)
        except NotTaken:
            return ""
        else:
            return ""
    return found


def _calm(item: Any, integer: int) -> Any:
    """A value for a run that should succeed if the source is legal at all."""
    if isinstance(item, Named) and not item.data.is_floating_point():
        return Named(item.name, torch.full_like(item.data, integer))
    if isinstance(item, list | tuple):
        return ListArg(_calm(one, integer) for one in item)
    return torch.device("cpu") if isinstance(item, torch.device) else item


def _sizes(
    instance: Instance, conditions: Sequence[Term], variables: Mapping[str, Term], rounds: int
) -> Iterator[dict[str, int]]:
    """Numbers for the integer variables: those of the solver, then small random ones."""
    found: list[dict[str, int]] = []
    for wanted in (list(conditions), []):
        for preferred in ((2, 1), (1,), ()):
            model = instance.assumptions.model(*wanted, variables=variables, preferred=preferred)
            if model is not None and model not in found:
                found.append(model)
    chance = random.Random(0)
    for number in range(rounds):
        if found and number % 4 != 3:
            yield found[number % len(found)]
        else:
            yield {name: chance.choice((1, 2, 3, 4)) for name in variables}


class _Concrete:
    """Puts numbers in place of what is symbolic."""

    def __init__(
        self,
        sizes: Mapping[str, int],
        values: Mapping[Term, Any],
        number: int,
        *,
        tame: bool = False,
    ) -> None:
        self.sizes = sizes
        self.tame = tame
        self.values = values
        self.number = number
        self.random = random.Random(number)
        self.numbers = Evaluation({}, {var(name): size for name, size in sizes.items()})
        self.attributes: dict[str, Any] = {}

    def integer(self, item: Term) -> int:
        return int(self.numbers._of(item))

    def value(self, item: Any) -> Any:
        if isinstance(item, SymbolicTensor):
            return self._tensor(item)
        if isinstance(item, Dim):
            found = self.integer(term_of(item.expr))
            self.attributes[str(item.expr)] = found
            return found
        if type(item) is SymbolicNumber:
            return self._number(item)
        if isinstance(item, list | tuple):
            return ListArg(self.value(one) for one in item)
        return item

    def _number(self, item: SymbolicNumber) -> Any:
        known = self.values.get(item.term)
        if known is None or self.number % 3 == 2 or self._is_large(known):
            known = self.random.choice(_NUMBERS if item.kind == "float" else (0, 1, 2, -1, 3))
        found = float(known) if item.kind == "float" else int(known)
        self.attributes[str(item.term)] = found
        return found

    def _is_large(self, known: float) -> bool:
        """Whether a number may make what it is multiplied by overflow."""
        return self.tame and isfinite(known) and abs(known) > largest_tame(torch.float32)

    def _tensor(self, item: SymbolicTensor) -> Named:
        meaning = item.meaning
        shape = [self.integer(size) for size in meaning.shape]
        if any(size < 0 for size in shape) or torch.Size(shape).numel() > 4096:
            raise NotTaken("sizes that are too large, or negative")
        dtype = meaning._dtype
        data = _filled(shape, dtype, self.random, self.number)
        name = str(meaning.element([0] * meaning.rank).args[0])
        if self.number % 3 != 2:
            self._place(name, data)
        if self.tame and dtype.is_floating_point:
            put_ones_for_large(data)
        return Named(name, data)

    def _place(self, name: str, data: torch.Tensor) -> None:
        """Put the solver's elements in their places."""
        for element, known in self.values.items():
            if element.op != "element" or element.args[0] != name or known is None:
                continue
            try:
                index = tuple(self.integer(one) for one in element.args[1])
                data[index] = torch.tensor(known).to(data.dtype)
            except (KeyError, IndexError):
                continue


def _filled(
    shape: Sequence[int], dtype: torch.dtype, chance: random.Random, number: int
) -> torch.Tensor:
    count = torch.Size(shape).numel()
    if dtype is torch.bool:
        items: list[Any] = [chance.random() < 0.5 for _ in range(count)]
        return torch.tensor(items, dtype=dtype).reshape(list(shape))
    if dtype.is_floating_point:
        share = (0.0, 0.3, 0.7)[number % 3]
        items = [
            chance.choice(_FLOATS) if chance.random() < share else chance.gauss(0, 2)
            for _ in range(count)
        ]
        return torch.tensor(items, dtype=torch.float64).reshape(list(shape)).to(dtype)
    span = torch.iinfo(dtype)
    if number % 2:
        items = [min(max(chance.choice(_INTEGERS), span.min), span.max) for _ in range(count)]
    else:
        items = [chance.randint(max(span.min, -9), 9) for _ in range(count)]
    return torch.tensor(items, dtype=torch.int64).reshape(list(shape)).to(dtype)


def _example(trial: Trial, instance: Instance, concrete: _Concrete) -> CounterExample:
    attributes = {
        name: item
        for name, item in instance.bindings.items()
        if not isinstance(item, SymbolicTensor | list | Dim | SymbolicNumber)
    }
    attributes.update(concrete.attributes)
    shown = ", ".join(f"{name} = {item}" for name, item in attributes.items())
    lines = [trial.problem]
    if shown:
        lines.append(f"for {shown}")
    return CounterExample(
        "\n".join(lines),
        trial.inputs,
        attributes,
        tuple(trial.source),
        tuple(trial.target),
        trial.script,
    )


__all__ = ["find", "refusal_of_eager"]
