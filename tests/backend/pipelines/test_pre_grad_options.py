"""The options of `pre_grad_fusion_options` in a compile, by ours and beside stock's."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._dynamo.utils import counters
from torch._inductor import config

from tests.before_autograd.captured import graph_module
from xductor.backend.config.warn_once import forget_warnings
from xductor.backend.options.fusion_keys import UnknownKeyWarning
from xductor.backend.records import stage_records
from xductor.backend.run_as_fx.without_codegen import without_codegen
from xductor.backend.stages import pre_grad_passes
from xductor.backend.steps.typed_steps import all_bridged

Function = Callable[..., Any]


def compiled(function: Function, options: dict[str, Any], *inputs: torch.Tensor) -> Any:
    """Results and gradients of a compile with some options on, by ours, and the counters."""
    torch._dynamo.reset()
    counters.clear()
    leaves = [one.detach().clone().requires_grad_() for one in inputs]
    with without_codegen(), config.patch(pre_grad_fusion_options=options):
        ours: dict[str, Any] = {"xductor.on_error": "raise"}
        result = torch.compile(function, backend="xductor", options=ours)(*leaves)
    grads = torch.autograd.grad(result.sum(), leaves)
    return [result.detach(), *grads], dict(counters["inductor"])


CASES: list[tuple[str, Function]] = [
    ("remove_split_with_size_one_pass", lambda x: torch.split(x, 6, 1)[0] * 2),
    ("merge_getitem_cat_pass", lambda x: torch.cat(torch.split(x, [1, 2, 3], 1)[:2], 1) * 2),
    ("mutate_cat_pass", lambda x: torch.cat(torch.split(x, [1, 2, 3], 1), dim=1) * 2),
    ("split_cat_pass", lambda x: torch.cat(torch.split(x, [1, 2, 3], 1), dim=1) * 2),
    ("unbind_stack_pass", lambda x: torch.stack(torch.unbind(x, 1), dim=1) * 2),
    ("split_cat_to_slices_pass", lambda x: torch.cat([*x.split(1, 1)], dim=1) * 2),
    ("unbind_cat_to_view_pass", lambda x: torch.cat(torch.unbind(x, 0), dim=0) * 2),
    ("split_stack_to_cats_pass", lambda x: torch.stack(x.split(2, 1), dim=0) * x.sum()),
    ("unbind_stack_to_slices_pass", lambda x: torch.stack(x.unbind(0), dim=0) * 2),
    ("move_reshape_out_of_split_stack_pass",
     lambda x: torch.stack([one.reshape(-1) for one in x.split(1, 0)], dim=0) * 2),
    ("merge_splits_pass",
     lambda x: sum(torch.split(torch.split(x, [2, 4], dim=1)[1], [1, 3], dim=1)[1].unbind(1))),
    ("merge_stack_tahn_unbind_pass",
     lambda x: sum(torch.stack(x[:, 2:].split(2, 1)).tanh().unbind(0)) * 2),
]  # fmt: skip


@pytest.mark.parametrize(("name", "function"), CASES)
def test_each_alone(name: str, function: Function) -> None:
    x = torch.arange(18.0).reshape(3, 6)
    found, counted = compiled(function, {name: {"threshold_to_cat": 2}}, x)
    leaf = x.clone().requires_grad_()
    expected = function(leaf)
    torch.testing.assert_close(found[0], expected.detach())
    torch.testing.assert_close(found[1], torch.autograd.grad(expected.sum(), [leaf])[0])
    assert counted.get(name) == 1


def test_einsum() -> None:
    def function(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return torch.einsum("bni,bnio->bno", x, w) + 1

    x, w = torch.randn(2, 3, 4), torch.randn(2, 3, 4, 5)
    found, counted = compiled(function, {"einsum_to_pointwise_pass": {}}, x, w)
    torch.testing.assert_close(found[0], function(x, w))
    assert counted.get("einsum_to_pointwise_pass") == 1


def test_einsum_that_nothing_is_added_to() -> None:
    x, w = torch.randn(2, 3, 4), torch.randn(2, 3, 4, 5)
    _, counted = compiled(
        lambda x, w: torch.einsum("bni,bnio->bno", x, w) * 2,
        {"einsum_to_pointwise_pass": {}},
        x,
        w,
    )
    assert "einsum_to_pointwise_pass" not in counted


#: What is no dict of options by name, some of it false.
NO_DICTS: list[Any] = [None, [], ["split_cat_pass"], "split_cat_pass", "", ("batch_relu",), 3, True]


def _stage(gm: Any, options: Any, x: torch.Tensor) -> Any:
    with config.patch(pre_grad_fusion_options=options):
        return pre_grad_passes(gm, [x])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"no_such_pass": {}}, KeyError, "there is no fusion 'no_such_pass'; there are"),
        ({"split_cat_to_slices_pass": {"threshold_to_cat": "x"}}, TypeError, "expected a number"),
        ({"split_cat_pass": {"threshold_to_cat": float("nan")}}, TypeError, "a number, found nan"),
        ({"split_cat_pass": {"counter": None}}, TypeError, "'counter'.*expected a number"),
        ({"split_cat_pass": {"counter": -1}}, ValueError, "'counter'.*0 or more, found -1"),
        ({"split_cat_pass": {"counter": True}}, TypeError, "'counter'.*expected a number"),
        ({"batch_relu": {"counter": 1.5}}, TypeError, "'counter'.*expected a number, found 1.5"),
        (
            {"batch_relu": {"fuse_nodes_with_same_parent": "no"}},
            TypeError,
            "expected True or False, found 'no'",
        ),
        *[(given, TypeError, "pre_grad_fusion_options: expected a dict") for given in NO_DICTS],
        (["split_cat_pass"], TypeError, r"found \['split_cat_pass'\]; there are batch_clamp, "),
    ],
)
@pytest.mark.parametrize("is_predispatch", [False, True])
def test_bad_options(
    options: Any, error: type[Exception], message: str, is_predispatch: bool
) -> None:
    with config.patch(is_predispatch=is_predispatch):
        _check_refused(options, error, message)


def _check_refused(options: Any, error: type[Exception], message: str) -> None:
    x = torch.randn(3, 6)
    gm = graph_module(lambda x: torch.cat(x.split(2, 1), 1) * 2, x)
    before = str(gm.graph)
    with pytest.raises(error, match=message):
        _stage(gm, options, x)
    assert str(gm.graph) == before


def _warnings(options: dict[str, Any]) -> list[str]:
    forget_warnings()
    x = torch.randn(3, 6)
    gm = graph_module(lambda x: torch.cat(x.split(2, 1), 1) * 2, x)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        _stage(gm, options, x)
        _stage(gm, options, x)
    return [str(one.message) for one in seen if one.category is UnknownKeyWarning]


@pytest.mark.parametrize("name", ["batch_linear", "split_cat_to_slices_pass"])
def test_a_key_that_no_pass_reads(name: str) -> None:
    """Inductor ignores it; so does the compile, and says so once."""
    (said,) = _warnings({name: {"min_fuze_set_size": 2}})
    assert f"pre_grad_fusion_options['{name}']: no pass reads 'min_fuze_set_size'" in said
    assert "did you mean 'min_fuse_set_size'" in said
    assert "threshold_to_cat" in said


@pytest.mark.parametrize(
    "options",
    [
        {"batch_linear": {"min_fuse_set_size": 2, "shape_broadcast_batch_linear": False}},
        {"batch_relu": {"threshold_to_cat": 2, "require_fbgemm": True, "counter": 0}},
        {"split_cat_pass": {"counter": 2, "fuse_nodes_with_same_users": True}},
    ],
)
def test_a_key_that_some_pass_reads(options: dict[str, Any]) -> None:
    assert _warnings(options) == []


def test_keys_of_a_fusion_of_the_users_are_his(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch._inductor.fx_passes import group_batch_fusion

    base: Any = group_batch_fusion.BatchReLuPreGradFusion

    class Mine(base):
        pass

    monkeypatch.setitem(group_batch_fusion.PRE_GRAD_FUSIONS, "batch_relu", Mine)
    assert _warnings({"batch_relu": {"mine": 2, "threshold_to_cat": "few"}}) == []
    monkeypatch.setitem(group_batch_fusion.graph_search_options, "everywhere", 1)
    assert _warnings({"batch_tanh": {"everywhere": 2}}) == []


def test_a_user_table_of_that_name_runs() -> None:
    from torch._inductor.fx_passes import split_cat
    from torch._inductor.pattern_matcher import PatternMatcherPass

    ran: list[Any] = []

    class Mine(PatternMatcherPass):
        def apply(self, gm: Any) -> int:
            ran.append(gm)
            return 0

    x = torch.randn(3, 6)
    gm = graph_module(lambda x: torch.cat(x.split(2, 1), 1) * 2, x)
    tables = split_cat.PRE_GRAD_PATTERNS
    known = tables["mutate_cat_pass"]
    tables["mutate_cat_pass"] = Mine(pass_name="mutate_cat_pass")
    tables["mutate_cat_pass"].patterns = known.patterns
    try:
        _stage(gm, {"mutate_cat_pass": {}}, x)
    finally:
        tables["mutate_cat_pass"] = known
    assert len(ran) == 1


_STOCK_FINDS = [name for name, _ in CASES if "slices" not in name and "tahn" not in name]


@pytest.mark.parametrize("name", _STOCK_FINDS)
def test_what_stock_finds_ours_does(name: str) -> None:
    """With `normalization_pass` on, without which stock sees no more than its own spelling."""
    function = dict(CASES)[name]
    x = torch.arange(18.0).reshape(3, 6)
    options = {"normalization_pass": {}, name: {"threshold_to_cat": 2}}
    counted: list[int] = []
    for context in (all_bridged, _ours):
        gm = graph_module(function, x)
        counters.clear()
        with context():
            made = _stage(gm, options, x)
        torch.testing.assert_close(made(x)[0], function(x))
        counted.append(counters["inductor"].get(name, 0))
    assert counted[1] >= min(counted[0], 1)


NESTED: list[Function] = [
    lambda x: sum(torch.split(torch.split(x, [2, 4], dim=1)[1], [1, 3], dim=1)[1].unbind(1)),
    lambda x: [one * 2 for part in x.split(3, 1) for one in part.split(2, 1)],
    lambda x: [one * 2 for one in x.split([1, 5], 1)[1].split([1, 2], 0)],  # along another dim
    lambda x: [(two := x.split([1, 5], 1)[1]).exp(), *two.split([2, 3], 1)[0].unbind(1)],
]


@pytest.mark.parametrize("number", range(len(NESTED)))
def test_splits_are_merged_as_by_stock(number: int) -> None:
    """As often, and the splits of the graph have as many pieces."""
    x = torch.arange(18.0).reshape(3, 6)
    options: dict[str, Any] = {"normalization_pass": {}, "merge_splits_pass": {}}
    counted: list[Any] = []
    for context in (all_bridged, _ours):
        gm = graph_module(lambda x: NESTED[number](x), x)
        counters.clear()
        with context():
            made = _stage(gm, options, x)
        wanted = gm(x)
        for one, other in zip(made(x), wanted, strict=True):
            torch.testing.assert_close(one, other)
        splits = [node for node in made.graph.nodes if node.target is torch.split]
        sizes = sorted(str(list(node.args[1])) for node in splits)
        counted.append((counters["inductor"].get("merge_splits_pass", 0), sizes))
    assert counted[0] == counted[1]


def test_splits_of_splits_of_splits() -> None:
    """Ours merges all of them at once, stock one level each time that the table runs."""
    x = torch.arange(18.0).reshape(3, 6)
    gm = graph_module(
        lambda x: [one * 2 for one in x.split([1, 5], 1)[1].split([4, 1], -1)[0].split(2, 1)], x
    )
    counters.clear()
    made = _stage(gm, {"merge_splits_pass": {}}, x)
    assert counters["inductor"]["merge_splits_pass"] == 2
    assert len(made.graph.find_nodes(op="call_function", target=torch.functional.split)) == 1


def test_several_options_are_one_lowering() -> None:
    """What one finds, and what a fusion made before, is raised at the end alone."""

    def function(x: torch.Tensor) -> torch.Tensor:
        first, second = torch.relu(x), torch.relu(x + 1)
        joined = torch.cat(torch.split(first + second, [1, 2, 3], 1), dim=1)
        return torch.stack(torch.unbind(joined, 1), dim=1) * 2

    names = ("batch_relu", "mutate_cat_pass", "unbind_stack_pass")
    options = {name: {"threshold_to_cat": 2, "min_fuse_set_size": 2} for name in names}
    x = torch.arange(18.0).reshape(3, 6)
    with stage_records.record(detailed=False) as records:
        found, counted = compiled(function, options, x)
    torch.testing.assert_close(found[0], function(x))
    assert {name for name in names if counted.get(name)} == {*names}
    assert [one.lowered for one in records if one.stage == "pre_grad"] == [1]


def test_the_table_that_nobody_filled() -> None:
    """A pass of ours runs in its place, and Inductor's count of it is none."""
    x = torch.arange(18.0).reshape(3, 6)
    function = dict(CASES)["merge_stack_tahn_unbind_pass"]
    with all_bridged():
        counters.clear()
        _stage(graph_module(function, x), {"merge_stack_tahn_unbind_pass": {}}, x)
    assert not counters["inductor"].get("merge_stack_tahn_unbind_pass")


class _ours:
    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...
