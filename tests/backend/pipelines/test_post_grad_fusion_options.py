"""`post_grad_fusion_options`: which of them are typed, in whose order, and what they count."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
import torch
import torch._inductor.config as inductor_config
from torch._dynamo.utils import counters
from torch._inductor.fx_passes import group_batch_fusion, split_cat
from torch._inductor.pattern_matcher import (
    Arg,
    CallFunction,
    Match,
    PatternMatcherPass,
    register_graph_pattern,
)
from torch.fx.experimental.proxy_tensor import make_fx

from xductor.backend import stages
from xductor.backend.config.warn_once import forget_warnings
from xductor.backend.options.fusion_keys import UnknownKeyWarning
from xductor.backend.records import stage_records
from xductor.backend.steps.typed_steps import all_bridged

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


@pytest.mark.parametrize(
    "options",
    [
        {"batch_aten_tanh": {"min_fuse_set_size": 0}},
        {"shape_padding_multiplier": {"value": "much"}},
        {"batch_aten_tanh": {"fuse_nodes_with_same_users": "yes"}},
        {"no_such_fusion": {}},
        *[None, [], ["batch_aten_tanh"], "batch_aten_tanh", "", ("batch_aten_tanh",), 3, True],
    ],
)
@pytest.mark.parametrize("stage", [stages.joint_graph_passes, stages.post_grad_passes])
def test_a_bad_option_is_refused_before_anything_is_changed(
    options: Any, stage: Callable[..., Any]
) -> None:
    """Dead and needless ops stay too, which the first passes of the stage would take away."""
    gm = make_fx(lambda x: (x.view(4, 4).neg(), x * 1 + 0)[1])(torch.randn(4, 4))
    before = str(gm.graph)
    given = (gm, True) if stage is stages.post_grad_passes else (gm,)
    patch = inductor_config.patch(post_grad_fusion_options=options)
    with patch, pytest.raises((KeyError, TypeError, ValueError), match="post_grad_fusion_options"):
        stage(*given)
    assert str(gm.graph) == before


def test_a_key_that_no_pass_reads() -> None:
    forget_warnings()
    with pytest.warns(UnknownKeyWarning, match=r"\['batch_aten_tanh'\]: no pass reads 'min_set'"):
        _run(_towers, torch.ones(4, 4), options={"batch_aten_tanh": {"min_set": 2}})


def test_keys_of_the_passes_of_products() -> None:
    forget_warnings()
    options = {
        "decompose_mm_pass": {
            "min_first_dimension_decomposition": 8,
            "skip_dynamic_shape_dim_check": True,
        },
        "shape_padding_multiplier": {"value": 1.2},
        "pad_aten_mm_pass": {"k_threshold_to_pad": 100},
        "inductor_autotune_lookup_table": {"anything": 1},
        "group_linear": {"require_fbgemm": True, "max_fuse_tensor_size_group_linear": 8},
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnknownKeyWarning)
        _run(_towers, torch.ones(4, 4), options=options)


def _towers(x: torch.Tensor) -> torch.Tensor:
    rows = [torch.tanh(x[:2, :2] * (n + 1)) for n in range(5)]
    return torch.cat([torch.mm(row, row) for row in rows]) * 0


def test_group_fusions_are_typed_and_run_in_the_users_order() -> None:
    options = {"batch_aten_tanh": {}, "batch_linear_post_grad": {"min_fuse_set_size": 3}}
    record, counted = _run(_towers, torch.ones(4, 4), options=options)
    fusions = [one for one in record.passes if one.name in options]
    assert [one.name for one in fusions] == list(options)
    assert {one.kind for one in fusions} == {"typed"}
    assert (counted["batch_aten_tanh"], counted["batch_linear_post_grad"]) == (1, 1)


def test_a_fusion_that_asks_for_fbgemm_is_left_out_without_it() -> None:
    options = {"batch_aten_tanh": {"require_fbgemm": True}, "group_linear": {}}
    record, counted = _run(_towers, torch.ones(4, 4), options=options)
    assert record.applications("batch_aten_tanh") == record.applications("group_linear") == 0
    assert not counted["batch_aten_tanh"]


def test_a_fusion_of_the_users_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that he put in the place of Inductor's, and one of a name of his own."""

    base: Any = group_batch_fusion.BatchTanhPostGradFusion

    class Mine(base):
        def fuse(self, graph: Any, subset: Any) -> None:
            counters["inductor"]["mine"] += 1

    for name in ("batch_aten_tanh", "my_fusion"):
        monkeypatch.setitem(group_batch_fusion.POST_GRAD_FUSIONS, name, Mine)
    options = {"batch_aten_tanh": {}, "my_fusion": {}}
    record, counted = _run(_towers, torch.ones(4, 4), options=options)
    assert record.applications("batch_aten_tanh") == 0
    assert counted["mine"] >= 2


def test_a_driver_of_the_users_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch._inductor.fx_passes import post_grad

    seen: list[bool] = []
    own = lambda graph, pre_grad: seen.append(pre_grad)  # noqa: E731
    monkeypatch.setattr(post_grad, "group_batch_fusion_passes", own)
    record, _ = _run(_towers, torch.ones(4, 4), options={"batch_aten_tanh": {}})
    assert seen == [False]
    assert record.applications("batch_aten_tanh") == 0


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"min_fuse_set_size": "two"}, "TypeError", "expected a whole number, found 'two'"),
        ({"max_fuse_search_depth": 2.5}, "TypeError", "expected a whole number, found 2.5"),
        ({"max_fuse_search_depth": -1}, "ValueError", "expected 0 or more, found -1"),
        ({"min_fuse_set_size": 7, "max_fuse_set_size": 6}, "ValueError", "is 7, above"),
        ({"min_fuse_set_size": 301}, "ValueError", "is 301, above 'max_fuse_set_size'"),
        (3, "TypeError", "expected a dict of options, found 3"),
    ],
)
def test_options_of_a_fusion_that_cannot_be_meant(given: Any, error: str, message: str) -> None:
    with pytest.raises(Exception, match=message) as raised:
        _run(_towers, torch.ones(4, 4), options={"batch_aten_tanh": given})
    assert error in str(raised.value)
    assert "post_grad_fusion_options['batch_aten_tanh']" in str(raised.value)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("decompose_mm_pass", "cpu_max_first_dimension_decomposition"),
        ("shape_padding_multiplier", "value"),
        ("pad_aten_mm_pass", "k_threshold_to_pad"),
    ],
)
def test_a_threshold_of_products_that_is_no_number(name: str, key: str) -> None:
    options = {name: {key: "1"}}
    with pytest.raises(Exception, match="expected a number, found '1'"):
        _run(_towers, torch.ones(4, 4), options=options)


def test_both_stocks_and_ours_find_the_same_groups() -> None:
    """What Inductor finds with the same options, on programs of towers of several depths."""
    for depth, width in ((1, 5), (3, 6), (2, 11)):

        def function(x: torch.Tensor, depth: int = depth, width: int = width) -> torch.Tensor:
            rows = [x * (n + 1) for n in range(width)]
            for _ in range(depth):
                rows = [torch.relu(row).neg() for row in rows]
            return torch.cat(rows) * 0

        options = {"batch_aten_relu": {"max_fuse_set_size": 10}}
        counts = []
        for bridged in (all_bridged, nullcontext):
            with bridged():
                _, counted = _run(function, torch.ones(3, 4), options=options)
            counts.append(counted["batch_aten_relu"])
        assert counts[0] == counts[1] > 0
