"""The corpus compiled with `backend="xductor"`: eager's numbers, our stages, the fallback."""

from __future__ import annotations

import pytest

from tests.corpus import models
from tests.corpus.cases import CorpusCase, cases
from tests.corpus.model_runs import (
    OUR_OPTIONS,
    Report,
    check_fallback,
    check_numbers,
)


def _report(case: CorpusCase) -> Report:
    return Report(case.name, case.mode, case.shapes)


@pytest.mark.parametrize("case", cases())
def test_numbers_are_those_of_eager(case: CorpusCase) -> None:
    """Outputs, gradients and buffers; our stages run in each graph, the backward's too."""
    report = _report(case)
    check_numbers(case.runs(), report)
    assert report.notes == []
    assert report.status == "ok"


@pytest.mark.parametrize(
    "case", cases(["feed_forward", "writes"], [(False, False), (True, True)], codegen=True)
)
def test_generated_code_gives_the_numbers_of_eager(case: CorpusCase) -> None:
    report = _report(case)
    check_numbers(case.runs(), report)
    assert report.notes == []
    assert report.status == "ok"


@pytest.mark.parametrize(
    "case",
    [
        *cases(modes=[(True, False)]),
        *cases([n for n in models.names() if not models.META[n]["train"]], [(False, True)]),
    ],
)
def test_a_broken_lowering_still_gives_the_numbers_of_eager(case: CorpusCase) -> None:
    """One warning, and what Inductor needs before it can generate code."""
    report = _report(case)
    check_fallback(case.runs(), report)
    assert report.notes == []
    assert report.fallback is not None
    assert report.fallback.startswith("ok")


def test_dropout_draws_what_stock_draws() -> None:
    """Without `fallback_random`, Inductor's own random numbers come from the same seeds."""
    (param,) = cases(["dropout"], [(True, False)])
    case = param.values[0]
    assert isinstance(case, CorpusCase)
    runs = case.runs()
    own_random = {"fallback_random": False}
    ours = runs.compiled("xductor", {**OUR_OPTIONS, **own_random})
    stock = runs.compiled("inductor", own_random)
    assert runs.compare(ours, stock)[2] is None
    assert runs.compare(stock, runs.eager())[2] is not None


def test_typed_passes_fire() -> None:
    """The models are worth running: passes of ours find something in them."""
    fired: set[str] = set()
    for param in cases(["redundant", "size_from_data"], [(False, False)]):
        case = param.values[0]
        assert isinstance(case, CorpusCase)
        report = _report(case)
        check_numbers(case.runs(), report)
        assert report.notes == []
        fired |= report.fired.keys()
    assert {"remove_noop_ops", "remove_assert_ops"} <= fired
