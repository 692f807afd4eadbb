"""Every graph of the corpus goes through text and back, and raising it changes nothing."""

from __future__ import annotations

import pytest
import torch

from tests.corpus.capture import StageCall, capture
from tests.corpus.cases import TRAIN_DYNAMIC, CorpusCase, one_case, usual_cases
from tests.corpus.round_trip import Outcome, RoundTripError, check_round_trip
from tests.corpus.sample_values import run_graph


def _outcomes(case: CorpusCase) -> list[Outcome]:
    outcomes: list[Outcome] = []
    runs = case.runs()

    def on_call(call: StageCall) -> None:
        outcomes.append(check_round_trip(call))

    capture(lambda compile: runs.run(compile, 1), on_call, dynamic=case.dynamic)
    return outcomes


@pytest.mark.parametrize("case", usual_cases(every_mode=True))
def test_every_graph_survives(case: CorpusCase) -> None:
    outcomes = _outcomes(case)
    stages = [outcome.stage for outcome in outcomes]
    assert set(stages) == {"pre_grad", "joint", "post_grad"}
    if case.train:
        assert stages.count("post_grad") >= 2
    assert [outcome.not_run for outcome in outcomes if outcome.not_run] == []


def test_dynamic_graphs_have_symbols_in_their_text() -> None:
    outcomes = _outcomes(one_case("feed_forward", TRAIN_DYNAMIC))
    assert all("symbols(s" in outcome.text for outcome in outcomes)


def test_a_difference_in_values_is_seen() -> None:
    """The check itself: a graph that computes something else does not pass for the same."""
    graphs: list[torch.fx.GraphModule] = []
    capture(
        lambda compile: compile(torch.sin)(torch.ones(3)),
        lambda call: graphs.append(call.copy()),
    )
    joint = graphs[1]
    inputs = [torch.rand(3)]
    before = run_graph(joint, inputs)
    (sine,) = joint.graph.find_nodes(op="call_function", target=torch.ops.aten.sin.default)
    sine.target = torch.ops.aten.cos.default
    after = run_graph(joint, inputs)
    assert not torch.equal(before[0], after[0])


def test_a_change_to_the_graph_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check itself: an exporter that renames a node is caught."""
    from tests.corpus import round_trip

    def renaming(module: object, into: torch.fx.GraphModule | None = None, **_: object) -> object:
        if into is None:
            return to_fx(module, **_)  # type: ignore[arg-type]
        next(iter(into.graph.nodes))._rename("renamed")
        return into

    to_fx = round_trip.to_fx
    monkeypatch.setattr(round_trip, "to_fx", renaming)
    errors: list[str] = []

    def on_call(call: StageCall) -> None:
        if call.stage == "joint":
            with pytest.raises(RoundTripError) as caught:
                check_round_trip(call)
            errors.append(str(caught.value))

    capture(lambda compile: compile(torch.sin)(torch.ones(3)), on_call)
    assert errors
    assert "changed the code" in errors[0]
