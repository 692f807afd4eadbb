"""What users put on Inductor's tables and hooks runs in our stages, at its place in the order."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch._inductor.config as inductor_config
from torch._inductor import custom_graph_pass, pattern_matcher
from torch._inductor.fx_passes import joint_graph, post_grad, pre_grad, split_cat
from torch._inductor.pattern_matcher import (
    Arg,
    CallFunction,
    Match,
    PatternMatcherPass,
    fwd_only,
    register_graph_pattern,
    register_replacement,
)

from xductor.backend.records import stage_records
from xductor.backend.steps import user_patterns

aten = torch.ops.aten
pytestmark = pytest.mark.usefixtures("our_stages")


@pytest.fixture
def restored_tables() -> Iterator[None]:
    """Put the entries of Inductor's tables back afterwards."""
    joint_graph.lazy_init(torch.device("cpu"))
    post_grad.lazy_init()
    tables = [
        joint_graph.early_patterns,
        *joint_graph.pass_patterns,
        *post_grad.pass_patterns,
    ]
    saved = [{key: list(entries) for key, entries in table.patterns.items()} for table in tables]
    yield
    for table, entries in zip(tables, saved, strict=True):
        table.patterns = defaultdict(list, entries)


def _run(
    function: Any, *inputs: torch.Tensor
) -> tuple[torch.Tensor, list[stage_records.StageRecord]]:
    with stage_records.record() as records, torch.no_grad():
        result = torch.compile(function)(*inputs)
    return result, records


def _sin_to_cos(match: Match, x: torch.fx.Node) -> None:
    """A rewrite that changes the numbers, so that one sees that it ran."""
    match.replace_by_example(torch.cos, [x])


@pytest.mark.parametrize(
    "table",
    [
        lambda: joint_graph.early_patterns,
        lambda: joint_graph.patterns,
        lambda: joint_graph.pass_patterns[1],
        lambda: post_grad.pass_patterns[0],
        lambda: post_grad.pass_patterns[2],
    ],
    ids=["joint-early", "joint-0", "joint-1", "post-0", "post-2"],
)
def test_a_graph_pattern_on_a_stock_table(table: Any, restored_tables: None) -> None:
    register_graph_pattern(CallFunction(aten.sin.default, Arg()), pass_dict=table())(_sin_to_cos)
    x = torch.randn(8)
    result, _ = _run(lambda x: x.sin() + 1, x)
    torch.testing.assert_close(result, x.cos() + 1)


def test_an_entry_beside_those_that_typed_passes_replace(restored_tables: None) -> None:
    """A user's entry for the very op that pointless_view has for its root."""
    seen: list[torch.fx.Node] = []

    def look(match: Match, x: torch.fx.Node, size: Any) -> None:
        seen.append(match.output_node())

    pattern = CallFunction(aten.view.default, Arg(), Arg())
    register_graph_pattern(pattern, pass_dict=joint_graph.early_patterns)(look)
    x = torch.randn(4, 2)
    result, _ = _run(lambda x: x.view(8) * 2, x)
    torch.testing.assert_close(result, x.view(8) * 2)
    assert len(seen) == 1


def test_a_traced_replacement(restored_tables: None) -> None:
    register_replacement(
        lambda x, y: torch.sinh(x) + y,
        lambda x, y: torch.cosh(x) + y,
        [torch.randn(4), torch.randn(4)],
        fwd_only,
        joint_graph.patterns,
    )
    x, y = torch.randn(4), torch.randn(4)
    result, _ = _run(lambda x, y: torch.sinh(x) + y, x, y)
    torch.testing.assert_close(result, torch.cosh(x) + y)


def test_a_table_put_in_the_place_of_the_stock_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs whole, and nothing of ours stands in for what the stock table had."""
    _run(lambda x: x + 1, torch.randn(3))  # our pipelines have seen the stock tables
    mine = PatternMatcherPass(subsystem="joint_graph_passes")
    register_graph_pattern(CallFunction(aten.sin.default, Arg()), pass_dict=mine)(_sin_to_cos)
    early = PatternMatcherPass()
    entries = joint_graph.early_patterns.patterns
    early.patterns.update(entries)  # stock's own entries, in a table that is not stock's
    monkeypatch.setattr(joint_graph, "pass_patterns", [mine])
    monkeypatch.setattr(joint_graph, "early_patterns", early)
    x = torch.randn(4, 2)
    result, records = _run(lambda x: x.sin().view(8).view(4, 2), x)
    torch.testing.assert_close(result, x.cos())
    joint = next(record for record in records if record.stage == "joint")
    typed = {one.name for one in joint.passes if one.kind == "typed"}
    assert not typed & {"pointless_view", "pointless_view_pair", "pointless_convert"}
    early_sweep = next(one for one in joint.passes if one.name == "early_patterns")
    assert early_sweep.counters
    assert early_sweep.counters["pattern_matcher_count"] >= 1


def test_pre_grad_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = PatternMatcherPass(pass_name="mine")

    @register_graph_pattern(CallFunction(torch.sin, Arg()), pass_dict=mine)
    def sin_to_cos(match: Match, x: torch.fx.Node) -> None:
        node = match.output_node()
        with match.graph.inserting_before(node):
            made = match.graph.call_function(torch.cos, (x,))
        made.meta.update(node.meta)
        node.replace_all_uses_with(made)
        match.graph.erase_node(node)

    monkeypatch.setitem(split_cat.PRE_GRAD_PATTERNS, "mine", mine)
    x = torch.randn(4)
    with inductor_config.patch(pre_grad_fusion_options={"mine": {}}):
        result, _ = _run(lambda x: torch.sin(x) * 2, x)
    torch.testing.assert_close(result, x.cos() * 2)


def test_tables_that_hold_nothing_but_a_users(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stock's tables are asked for by the options that name them, and by no others."""
    mine = PatternMatcherPass(pass_name="mine")
    register_graph_pattern(CallFunction(torch.sin, Arg()), pass_dict=mine)(_sin_to_cos)
    for module in (pre_grad, split_cat):
        monkeypatch.setattr(module, "PRE_GRAD_PATTERNS", {"mine": mine})
    monkeypatch.setattr(pre_grad, "PRE_GRAD_FUSIONS", [])
    x = torch.randn(4)
    with inductor_config.patch(pre_grad_fusion_options={"mine": {}}):
        result, _ = _run(lambda x: torch.sin(x) * 2, x)
    torch.testing.assert_close(result, x.cos() * 2)


def test_post_grad_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = PatternMatcherPass(pass_name="mine")
    register_graph_pattern(CallFunction(aten.sin.default, Arg()), pass_dict=mine)(_sin_to_cos)
    monkeypatch.setitem(split_cat.POST_GRAD_PATTERNS, "mine", mine)
    x = torch.randn(4)
    with inductor_config.patch(post_grad_fusion_options={"mine": {}}):
        result, _ = _run(lambda x: torch.sin(x) * 2, x)
    torch.testing.assert_close(result, x.cos() * 2)


def test_a_function_put_in_the_place_of_a_stock_one(monkeypatch: pytest.MonkeyPatch) -> None:
    joint_graph.lazy_init(torch.device("cpu"))  # Inductor's patterns are traced by its own function
    post_grad.lazy_init()
    seen: list[torch.fx.Graph] = []
    monkeypatch.setattr(post_grad, "remove_noop_ops", seen.append)
    _run(lambda x: x + 1, torch.randn(3))
    assert len(seen) == 2  # the joint and the post-grad stage


def test_an_op_that_a_user_registered_as_a_noop() -> None:
    """Stock removes it with its own; so do we, wherever its condition holds."""

    @post_grad.register_noop_decomp([aten.rot90])
    def whole_turns(x: torch.Tensor, k: int = 1, dims: Any = (0, 1)) -> bool:
        return k % 4 == 0

    try:
        assert user_patterns.user_noops(post_grad.noop_registry)
        graph = torch.fx.Graph()
        x = graph.placeholder("x")
        kept = graph.call_function(aten.rot90.default, (x, 1, [0, 1]))
        gone = graph.call_function(aten.rot90.default, (kept, 4, [0, 1]))
        graph.output((graph.call_function(aten.neg.default, (gone,)),))
        gm = torch.fx.GraphModule({}, graph)
        from torch._subclasses import FakeTensorMode

        from xductor.backend import stages

        with FakeTensorMode():
            value = torch.empty(3, 3)
        for node in graph.nodes:
            node.meta["val"] = value if node.op == "placeholder" else value.clone()
        stages.joint_graph_passes(gm)
        turns = gm.graph.find_nodes(op="call_function", target=aten.rot90.default)
        assert [node.args[1] for node in turns] == [1]
    finally:
        for target in [t for t in post_grad.noop_registry if "rot90" in str(t)]:
            del post_grad.noop_registry[target]


def test_hooks_run_in_order() -> None:
    seen: list[str] = []
    options = {
        name: functools.partial(lambda name, graph: seen.append(name), name)
        for name in (
            "pre_grad_custom_pass",
            "joint_custom_pre_pass",
            "joint_custom_post_pass",
            "post_grad_custom_pre_pass",
            "post_grad_custom_post_pass",
        )
    }
    with inductor_config.patch(options):
        _run(lambda x: x + 1, torch.randn(3))
    assert seen == list(options)


@pytest.mark.skipif(
    not hasattr(custom_graph_pass, "CustomInferenceAwareGraphPass"), reason="this torch has none"
)
@pytest.mark.parametrize("train", [False, True])
def test_hooks_know_about_inference(train: bool) -> None:
    seen: list[bool] = []

    class Aware(custom_graph_pass.CustomInferenceAwareGraphPass):
        def __call__(self, graph: torch.fx.Graph, is_inference: bool) -> None:
            seen.append(is_inference)

        def uuid(self) -> None:
            return None

    with inductor_config.patch(post_grad_custom_pre_pass=Aware()):
        torch.compile(lambda x: x * x)(torch.randn(3, requires_grad=train))
    assert seen == [not train]


@pytest.mark.skipif(
    not hasattr(pattern_matcher, "_refresh_mutation_region_ids"), reason="hooks are lists from 2.13"
)
def test_a_list_of_hooks() -> None:
    seen: list[int] = []
    hooks = [functools.partial(lambda i, graph: seen.append(i), i) for i in range(3)]
    with inductor_config.patch(joint_custom_pre_pass=hooks):
        _run(lambda x: x + 1, torch.randn(3))
    assert seen == [0, 1, 2]


def test_filtering_a_table_shares_what_stays() -> None:
    table = joint_graph.early_patterns
    home = ("torch._inductor.fx_passes.joint_graph", "pointless_permute_pair")
    assert user_patterns.homes_in(table, frozenset({home})) == {home}
    rest = user_patterns.without(table, frozenset({home}))
    assert user_patterns.homes_in(rest, frozenset({home})) == frozenset()
    view = ("call_function", aten.view.default)
    assert rest.patterns[view] is table.patterns[view]
    assert rest.subsystem == table.subsystem


def test_a_replacement_entry_lives_where_its_pattern_does() -> None:
    joint_graph.lazy_init(torch.device("cpu"))
    homes = {
        user_patterns.entry_home(entry)
        for table in joint_graph.pass_patterns
        for entries in table.patterns.values()
        for entry in entries
    }
    passes = "torch._inductor.fx_passes"
    assert {(f"{passes}.pad_mm", f"{one}_pattern") for one in ("mm", "bmm", "addmm")} <= homes
    assert {(f"{passes}.fuse_attention", f"_sfdp_pattern_{n}") for n in (1, 18)} <= homes


def test_a_replacement_of_a_users_is_the_users() -> None:
    table = PatternMatcherPass(pass_name="mine")
    example = [torch.empty(2)]
    register_replacement(lambda x: x.sin().cos(), torch.tan, example, fwd_only, [table])
    (entry,) = [entry for entries in table.patterns.values() for entry in entries]
    home = user_patterns.entry_home(entry)
    assert home is not None
    assert home[0] == __name__


def test_entries_without_a_visible_home_are_the_users() -> None:
    assert user_patterns.entry_home(SimpleNamespace(extra_check=lambda match: True)) is None
