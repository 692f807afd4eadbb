"""Each deliberately wrong rewrite is refused by the level it names, and is wrong without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx
from xdsl.utils.exceptions import VerifyException

import xductor
from tests.wrong_rewrites.case import Wrong
from tests.wrong_rewrites.table import CASES, table
from xductor.ir import entry_graph
from xductor.ir.execution.interpreter import seeded
from xductor.ir.execution.sample_inputs import sample_inputs
from xductor.ir.symbolic.symbol_values import symbol_choices
from xductor.transforms import Rewrite
from xductor.transforms.matching.patterns import PatternError
from xductor.transforms.passes.events import listening
from xductor.transforms.rewriting.contracts import Declined
from xductor.transforms.rewriting.driver import (
    Application,
    ContractViolation,
    Driver,
    RewriteIndex,
    watching,
)
from xductor.transforms.validation.values import validating

_TRIALS = 12


def _module(case: Wrong) -> Any:
    mode = "symbolic" if case.dynamic else "fake"
    return xductor.from_fx(make_fx(case.function, tracing_mode=mode)(*case.inputs()), "joint")


def _rewrite(
    module: Any,
    cls: type[Rewrite],
    listener: Callable[[Application], object] | None = None,
    unchecked: bool = False,
) -> tuple[int, list[Exception]]:
    """How many applications there were, and what was refused."""
    hears = listening(Application, listener) if listener else nullcontext()
    refusals: list[Exception] = []

    def report(one: Rewrite, op: Any, error: Exception) -> None:
        refusals.append(error)

    with hears, watching(report=report, unchecked=unchecked):
        count = Driver(RewriteIndex([cls()]), "fast").rewrite(module)
    return count, refusals


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_is_refused_by_its_level(case: Wrong) -> None:
    if case.level == "class":
        with pytest.raises((PatternError, AttributeError), match=case.says):
            case.make()
        return
    built: list[Any] = []
    count, refusals = _rewrite(_module(case), case.make(), listener=built.append)
    if case.level == "match":
        assert count == 0
        assert built == []
        assert not any(isinstance(one, ContractViolation) for one in refusals)
    elif case.level == "contract":
        assert count == 0
        assert built == []  # no listener saw it
        assert case.says
        assert any(case.says in str(one) for one in refusals), refusals
    else:
        assert count, refusals  # the contracts let it through
        with validating():
            count, refusals = _rewrite(_module(case), case.make())
        assert count == 0
        assert any("does not compute what is replaced" in str(one) for one in refusals), refusals


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_is_wrong_with_the_checks_off(case: Wrong) -> None:
    untouched, module = _module(case), _module(case)
    loose = case.loose()
    if isinstance(loose, type):
        count, refusals = _rewrite(module, loose, unchecked=True, listener=_once())
        assert count, refusals
        try:
            xductor.verify(module)
        except VerifyException:
            return  # the graph is invalid
    graph = entry_graph(untouched)
    differs = False
    for number, symbols in zip(range(_TRIALS), symbol_choices(graph.symbols.data), strict=False):
        own = {name: symbols[name] for name in graph.symbols.data}
        special = 0.3 if number % 2 else 0.0

        def made(seed: int = number, own: Any = own, special: float = special) -> list[Any]:
            return sample_inputs(graph, seed=seed, symbols=own, special=special)

        inputs = made()
        expected = _eager(case, inputs)
        if expected is None:
            continue
        again = made()
        assert not _differ(expected, inputs, _outputs(untouched, again), again)
        given = made()
        try:
            found = _outputs(module, given) if isinstance(loose, type) else _flat(loose(*given))
        except (RuntimeError, AttributeError):  # AttributeError: of an op that does not exist
            return  # raises where eager does not
        differs = differs or _differ(expected, inputs, found, given)
    assert differs


def _once() -> Any:
    """A listener that lets one application through: twice exchanged is as it was."""
    seen: list[Any] = []

    def listener(application: Any) -> None:
        if seen:
            raise Declined("once is enough")
        seen.append(application)

    return listener


def _eager(case: Wrong, inputs: Sequence[Any]) -> list[Any] | None:
    """What PyTorch gives; None for inputs that it does not take."""
    tensors = [one for one in inputs if isinstance(one, torch.Tensor)]
    with seeded(0), torch.no_grad():
        try:
            return _flat(case.function(*tensors))
        except (RuntimeError, IndexError):
            return None


def _outputs(module: Any, inputs: Sequence[Any]) -> list[Any]:
    with seeded(0):
        return _flat(xductor.run(module, *inputs))


def _flat(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple | list) else [value]


def _differ(old: list[Any], old_in: list[Any], new: list[Any], new_in: list[Any]) -> bool:
    """Whether results, inputs afterwards or shared storage differ."""
    if len(old) != len(new):
        return True
    pairs = [*zip(old, new, strict=True), *zip(old_in, new_in, strict=True)]
    return any(not _same(a, b) for a, b in pairs) or _sharing(old, old_in) != _sharing(new, new_in)


def _same(a: Any, b: Any) -> bool:
    if not isinstance(a, torch.Tensor):
        return bool(a == b)
    if (a.dtype, a.shape, a.device) != (b.dtype, b.shape, b.device) or a.is_conj() != b.is_conj():
        return False
    if a.numel() and a.stride() != b.stride():
        return False
    a, b = a.resolve_conj(), b.resolve_conj()
    equal = torch.equal(torch.nan_to_num(a, 7.0), torch.nan_to_num(b, 7.0))
    if not a.is_floating_point():
        return equal
    return (
        equal
        and torch.equal(a.isnan(), b.isnan())
        and torch.equal(a.signbit() & ~a.isnan(), b.signbit() & ~b.isnan())
    )


def _sharing(outputs: list[Any], inputs: list[Any]) -> list[tuple[int, int]]:
    tensors = [one for one in (*inputs, *outputs) if isinstance(one, torch.Tensor)]
    storages = [one.untyped_storage()._cdata for one in tensors]
    places = range(len(storages))
    return [(m, n) for n in places for m in range(n) if storages[m] == storages[n]]


def test_there_are_enough_of_them() -> None:
    assert len(CASES) >= 60
    assert {case.level for case in CASES} == {"class", "match", "contract", "values"}
    assert "wrong order of cat" in table()
