"""The corpus compiled with `backend="xductor"`: eager's numbers, our stages, the fallback."""

from __future__ import annotations

import pytest
from torch._dynamo.utils import counters

from tests.corpus.cases import (
    EVAL_STATIC,
    SMALL,
    TRAIN_DYNAMIC,
    TRAIN_STATIC,
    CorpusCase,
    cases,
    one_case,
    usual_cases,
)
from tests.corpus.model_runs import (
    OUR_OPTIONS,
    Report,
    check_fallback,
    check_numbers,
)

#: Fused attention rounds elsewhere: compared with double precision, as near as eager is.
_FUSED_IN_HALF_PRECISION = ("mixed_precision",)


def _report(case: CorpusCase) -> Report:
    return Report(case.name, case.mode, case.shapes)


@pytest.mark.parametrize("case", usual_cases(every_mode=False))
def test_numbers_are_those_of_eager(case: CorpusCase) -> None:
    """Outputs, gradients and buffers; our stages run in each graph, the backward's too."""
    report = _report(case)
    check_numbers(case.runs(), report)
    if case.name in _FUSED_IN_HALF_PRECISION and report.status == "ok (double)":
        return
    assert report.notes == []
    assert report.status == "ok"


@pytest.mark.parametrize(
    "case", cases(["feed_forward", "writes"], [EVAL_STATIC, TRAIN_DYNAMIC], codegen=True)
)
def test_generated_code_gives_the_numbers_of_eager(case: CorpusCase) -> None:
    report = _report(case)
    check_numbers(case.runs(), report)
    assert report.notes == []
    assert report.status == "ok"


@pytest.mark.parametrize(
    "case",
    [
        *cases(["gpt2", *SMALL], [TRAIN_STATIC]),
        *cases(["loop_and_branch", "size_from_data"], [EVAL_STATIC]),
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
    runs = one_case("dropout", TRAIN_STATIC).runs()
    own_random = {"fallback_random": False}
    ours = runs.compiled("xductor", {**OUR_OPTIONS, **own_random})
    stock = runs.compiled("inductor", own_random)
    assert runs.compare(ours, stock).trouble is None
    assert runs.compare(stock, runs.eager()).trouble is not None


def test_typed_passes_fire() -> None:
    """The models are worth running: passes of ours find something in them."""
    report = _report(one_case("redundant", EVAL_STATIC))
    check_numbers(one_case("redundant", EVAL_STATIC).runs(), report)
    assert report.notes == []
    expected = {"remove_noop_ops", "pointless_view_pair", "pointless_permute_pair"}
    assert expected | {"pointless_convert"} <= report.fired.keys()


def test_types_are_checked_after_a_fusion() -> None:
    """Inductor's attention fusion leaves stale values behind; they are refreshed before a check."""
    case = one_case("attention", TRAIN_STATIC)
    report = _report(case)
    counters["inductor"].clear()
    check_numbers(case.runs(), report)
    assert counters["inductor"]["fuse_attention"] > 0
    assert report.notes == []
    assert report.status == "ok"
