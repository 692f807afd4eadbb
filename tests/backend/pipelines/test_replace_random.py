"""Random draws of compiled code: the same seeds and numbers as Inductor's own stage gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch._inductor.config as inductor_config
import torch.nn.functional as F
from torch._dynamo.utils import counters
from torch._inductor import inductor_prims
from torch._inductor.fx_passes import joint_graph, replace_random
from torch._inductor.pattern_matcher import CallFunctionVarArgs, register_graph_pattern

from tests.corpus.graph_comparison import compare_graphs
from xductor.backend import stages
from xductor.backend.config import settings
from xductor.backend.records import stage_records
from xductor.backend.steps import typed_steps
from xductor.transforms.random import replace_random as ours

aten = torch.ops.aten


def _dropout(x: Any) -> Any:
    return F.dropout(F.dropout(x, 0.3).relu(), 0.5)


def _floats(x: Any) -> Any:
    return torch.rand(x.shape) + torch.randn(x.shape, dtype=torch.float64) * x


def _like(x: Any) -> Any:
    half = torch.rand_like(x, dtype=torch.bfloat16)
    return half + torch.randn_like(x) * torch.rand_like(x) + torch.bernoulli(x.sigmoid())


def _integers(x: Any) -> Any:
    small = torch.randint(2, 9, (4, 6), dtype=torch.int32)
    return x + small + torch.randint(7, x.shape) + torch.randint_like(x, 3)


def _mixed(x: Any) -> Any:
    """A draw that stays with PyTorch's generator, among those that do not."""
    drawn = torch.rand_like(x) + torch.poisson(x.abs())
    return drawn * torch.randn_like(x) + torch.randperm(6)


def _strided(x: Any) -> Any:
    return F.dropout(x.t(), 0.1) + torch.rand_like(x.t())


def _permuted_like(x: Any) -> Any:
    return torch.rand_like(x.view(2, 2, 6).permute(2, 0, 1)) * x.sum()


def _complex(x: Any) -> Any:
    return torch.randn(x.shape, dtype=torch.complex64).abs() + torch.rand_like(x) * x


def _empty(x: Any) -> Any:
    return torch.rand(0, 4).sum() + x


FUNCTIONS = [_dropout, _floats, _like, _integers, _mixed, _strided, _permuted_like, _complex,
             _empty]  # fmt: skip


def _input() -> torch.Tensor:
    return torch.linspace(-1, 1, 24).reshape(4, 6).requires_grad_()


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("train", [False, True], ids=["inference", "training"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_the_graph_is_stocks(
    function: Callable[..., Any], train: bool, dynamic: bool, stage_graphs: Any
) -> None:
    graphs = stage_graphs(function, _input(), train=train, dynamic=dynamic)
    (graph,) = [one for one in graphs if one.stage == "joint"]
    with settings.use(settings.Settings(numerics="fast", on_error="raise", verify="stage")):
        found, counts = _counted(graph, stages.joint_graph_passes)
    expected, stock_counts = _counted(graph, joint_graph.joint_graph_passes)
    comparison = compare_graphs(found, expected)
    assert comparison.equal, comparison
    assert _places(found) == _places(expected)
    assert counts == stock_counts
    assert "replace_random_passes" not in [
        one.name for one in stage_records.recent()[-1].passes if one.kind == "bridged"
    ]


def _counted(graph: Any, stage: Callable[..., Any]) -> tuple[Any, int]:
    counters.clear()
    gm = graph.run(stage)
    return gm, counters["inductor"]["pattern_matcher_count"]


def _places(gm: torch.fx.GraphModule) -> list[Any]:
    """What the partitioner reads of the nodes that make random numbers."""
    return [
        (str(node.target), node.meta.get("partitioner_tag"), node.meta.get("recompute"))
        for node in gm.graph.nodes
        if "inductor_" in str(node.target)
    ]


def _three_kinds(x: Any) -> Any:
    kept = F.dropout(x * 2, 0.4) + torch.rand_like(x) + torch.randn(x.shape)
    return kept * torch.randint(1, 5, x.shape) + torch.rand_like(x, dtype=torch.float64)


@pytest.mark.parametrize(
    ("fallback", "dynamic"), [(False, True), (True, False)], ids=["own", "fallback_random"]
)
def test_the_numbers_are_stocks(fallback: bool, dynamic: bool) -> None:
    """Forward and backward, and what the generator draws next; with `fallback_random`, eager's."""
    patch = {"fallback_random": fallback, "force_disable_caches": True}
    with inductor_config.patch(patch):
        found, expected = [
            _run(torch.compile(_three_kinds, backend=backend, dynamic=dynamic))
            for backend in ("xductor", "inductor")
        ]
    for one, other in zip(found, expected, strict=True):
        assert torch.equal(one, other)
    if fallback:
        for one, other in zip(found, _run(_three_kinds), strict=True):
            torch.testing.assert_close(one, other)


def _run(function: Callable[..., Any]) -> list[torch.Tensor]:
    torch._dynamo.reset()
    torch.manual_seed(11)
    x = _input()
    results = []
    for _ in range(2):
        x.grad = None
        out = function(x)
        out.sum().backward()
        assert x.grad is not None
        results += [out.detach(), x.grad, torch.rand(1)]
    return results


def test_the_default_dtype(stage_graphs: Any) -> None:
    """Inductor draws float32 even where the default is float64; ours keeps the type."""
    torch.set_default_dtype(torch.float64)
    try:
        graphs = stage_graphs(lambda x: torch.rand(4) + x.sum(), torch.ones(3))
        (graph,) = [one for one in graphs if one.stage == "joint"]
        targets = [str(node.target) for node in graph.run(stages.joint_graph_passes).graph.nodes]
    finally:
        torch.set_default_dtype(torch.float32)
    assert "prims.convert_element_type.default" in targets


def _joint(stage_graphs: Any, function: Callable[..., Any] = _dropout) -> Any:
    (graph,) = [one for one in stage_graphs(function, _input()) if one.stage == "joint"]
    return graph


def _targets(gm: torch.fx.GraphModule) -> list[Any]:
    return [node.target for node in gm.graph.nodes]


@pytest.mark.parametrize("name", ["replace_random", "fuse_seed_creation_pass"])
def test_disabled_passes_are_done_by_stock(stage_graphs: Any, name: str) -> None:
    """Code generation has no way to draw for `aten.rand`, nor to make a single seed."""
    graph = _joint(stage_graphs)
    with settings.use(settings.Settings(disabled_passes=frozenset({name}))):
        gm = graph.run(stages.joint_graph_passes)
    assert inductor_prims.seeds in _targets(gm)
    assert inductor_prims.seed not in _targets(gm)
    assert aten.rand.default not in _targets(gm)
    assert "replace_random_passes" in [one.name for one in stage_records.recent()[-1].passes]


def test_a_failure_is_done_over_by_stock(
    stage_graphs: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    def fail(*_: Any) -> int:
        raise ZeroDivisionError("on purpose")

    graph = _joint(stage_graphs)
    monkeypatch.setenv("XDUCTOR_DEBUG_DIR", str(tmp_path))
    monkeypatch.setattr(ours.ReplaceRandom, "redraw", fail)
    with (
        settings.use(settings.Settings(on_error="fallback")),
        pytest.warns(UserWarning, match="replace_random"),
    ):
        gm = graph.run(stages.joint_graph_passes)
    assert inductor_prims.seeds in _targets(gm)
    assert aten.rand.default not in _targets(gm)


def test_all_bridged(stage_graphs: Any) -> None:
    with typed_steps.all_bridged():
        _joint(stage_graphs).run(stages.joint_graph_passes)
    assert "replace_random_passes" in [one.name for one in stage_records.recent()[-1].passes]


def test_what_a_user_put_in_the_table(stage_graphs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    table = replace_random.patterns
    monkeypatch.setattr(table, "patterns", table.patterns.copy())
    target = aten.relu.default

    @register_graph_pattern(CallFunctionVarArgs(target), pass_dict=table)  # type: ignore[arg-type]
    def handler(match: Any, *args: Any) -> None:
        seen.append(match.output_node().target)

    graph = _joint(stage_graphs)
    seen.clear()
    gm = graph.run(stages.joint_graph_passes)
    assert seen == [target]
    assert inductor_prims.seeds in _targets(gm)


def test_a_function_in_the_place_of_inductors(
    stage_graphs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = []
    graph = _joint(stage_graphs)
    monkeypatch.setattr(joint_graph, "replace_random_passes", lambda gm: called.append(gm) or 0)
    gm = graph.run(stages.joint_graph_passes)
    assert called == [gm]
    assert aten.rand.default in _targets(gm)


def test_fallback_random_leaves_draws_alone(stage_graphs: Any) -> None:
    with inductor_config.patch(fallback_random=True):
        gm = _joint(stage_graphs, _mixed).run(stages.joint_graph_passes)
    assert aten.rand_like.default in _targets(gm) or aten.rand.default in _targets(gm)
    assert inductor_prims.seeds not in _targets(gm)
