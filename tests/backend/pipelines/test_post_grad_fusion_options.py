"""`post_grad_fusion_options`: which of them are typed, in whose order, and what they count."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch._inductor.config as inductor_config
from torch._dynamo.utils import counters
from torch._inductor.fx_passes import split_cat
from torch._inductor.pattern_matcher import (
    Arg,
    CallFunction,
    Match,
    PatternMatcherPass,
    register_graph_pattern,
)

from xductor.backend.records import stage_records

aten = torch.ops.aten
pytestmark = pytest.mark.usefixtures("our_stages")

Function = Callable[..., Any]
SPECIAL = torch.tensor([float("nan"), float("inf"), -0.0, 1.0])


def _run(function: Function, *inputs: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    torch._dynamo.reset()
    counters.clear()
    patch = inductor_config.patch(post_grad_fusion_options=options)
    with patch, stage_records.record() as records, torch.no_grad():
        result = torch.compile(function)(*inputs)
    torch.testing.assert_close(result, function(*inputs), rtol=0, atol=0, equal_nan=True)
    return next(one for one in records if one.stage == "post_grad"), counters["inductor"]


CASES: dict[str, tuple[Function, dict[str, Any]]] = {
    "split_cat_aten_pass": (
        lambda x: torch.cat([*x.split(1, 1), x], 1) * 2,
        {"normalization_aten_pass": {}, "split_cat_aten_pass": {"threshold_to_cat": 4}},
    ),
    "select_cat_aten_pass": (
        lambda x: torch.cat([x[0], x[1]], 0) * 2,
        {"select_cat_aten_pass": {}},
    ),
    "unbind_stack_aten_pass": (
        lambda x: torch.stack(x.unbind(1), 1) * 2,
        {"normalization_aten_pass": {}, "unbind_stack_aten_pass": {}},
    ),
    "move_view_after_cat_aten_pass": (
        lambda x: torch.cat([piece.reshape(-1) for piece in x.split(2, 1)]) * 2,
        {"move_view_after_cat_aten_pass": {}},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_option_is_typed_and_counts(name: str) -> None:
    function, options = CASES[name]
    record, counted = _run(function, torch.stack([SPECIAL, SPECIAL * 2]), options=options)
    kinds = {one.name: one.kind for one in record.passes}
    assert kinds[name] == "typed"
    assert record.applications(name) == 1
    assert counted[name] == 1


def test_an_option_that_is_off_does_nothing() -> None:
    record, counted = _run(CASES["select_cat_aten_pass"][0], torch.randn(2, 4), options={})
    assert record.applications("select_cat_aten_pass") == 0
    assert "select_cat_aten_pass" not in counted


def test_the_threshold_is_the_users() -> None:
    function, _ = CASES["split_cat_aten_pass"]
    options = {"split_cat_aten_pass": {"threshold_to_cat": 6}}
    record, _ = _run(function, torch.randn(2, 4), options=options)
    assert record.applications("split_cat_aten_pass") == 0
    # What is left has a pass of ours.
    assert record.applications("cat_of_pieces") == 1


def test_uneven_pieces_are_normalised() -> None:
    """Inductor gives all pieces the size of the first one, and the graph breaks."""
    record, counted = _run(
        lambda x: [piece + i for i, piece in enumerate(x.chunk(4, -2))],
        torch.randn(10, 3),
        options={"normalization_aten_pass": {}},
    )
    assert record.applications("normalization_aten_pass") == 1
    assert counted["normalization_aten_pass"] == 1


def test_a_table_that_a_user_replaced_runs_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    function, options = CASES["select_cat_aten_pass"]
    _run(function, torch.randn(2, 4), options=options)
    mine = PatternMatcherPass(pass_name="select_cat_aten_pass")

    @register_graph_pattern(CallFunction(aten.cat.default, Arg(), Arg()), pass_dict=mine)
    def seen(match: Match, *args: Any) -> None:
        counters["inductor"]["mine"] += 1

    @register_graph_pattern(CallFunction(aten.cat.default, Arg()), pass_dict=mine)
    def seen_too(match: Match, *args: Any) -> None:
        counters["inductor"]["mine"] += 1

    monkeypatch.setitem(split_cat.POST_GRAD_PATTERNS, "select_cat_aten_pass", mine)
    record, counted = _run(function, torch.randn(2, 4), options=options)
    assert record.applications("select_cat_aten_pass") == 0
    assert "select_cat_aten_pass" not in counted


def test_an_entry_that_a_user_added_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    table = split_cat.POST_GRAD_PATTERNS["unbind_stack_aten_pass"]
    entries = {key: list(found) for key, found in table.patterns.items()}
    monkeypatch.setattr(table, "patterns", type(table.patterns)(list, entries))

    @register_graph_pattern(CallFunction(aten.mul.Tensor, Arg(), Arg()), pass_dict=table)
    def seen(match: Match, *args: Any) -> None:
        counters["inductor"]["mine"] += 1

    function, options = CASES["unbind_stack_aten_pass"]
    record, counted = _run(function, torch.randn(2, 4), options=options)
    assert record.applications("unbind_stack_aten_pass") == 1
    assert counted["mine"] == 1


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.cat(torch.chunk(x, 2, 1), 1) + 1,
        lambda x: torch.stack(torch.unbind(x, 1), 1) + 1,
        lambda x: torch.cat([x[:, 1:2], x[:, 2:4]], 1) + 1,
    ],
)
def test_without_an_option(function: Function) -> None:
    """What Inductor's pattern of all pieces of one `split_with_sizes` does not find."""
    record, _ = _run(function, torch.stack([SPECIAL, SPECIAL * 2]), options={})
    assert record.applications("cat_of_pieces") == 1


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"split_cat_aten": {}}, "KeyError", "there is no fusion 'split_cat_aten'; there are "),
        (
            {"split_cat_aten_pass": {"threshold_to_cat": "many"}},
            "TypeError",
            "expected a number, found 'many'",
        ),
    ],
)
def test_options_that_there_are_not(options: dict[str, Any], error: str, message: str) -> None:
    with pytest.raises(Exception, match=message) as raised:
        _run(CASES["select_cat_aten_pass"][0], torch.randn(2, 4), options=options)
    assert error in str(raised.value)
