"""Typed passes on FX graphs: what is lowered when, what is raised, what is counted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import torch
import torch._inductor.config as inductor_config
from torch._dynamo.utils import counters
from torch._subclasses import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from xdsl.dialects.builtin import ModuleOp

from xductor.backend import stages
from xductor.backend.config import settings
from xductor.backend.records import stage_records
from xductor.backend.stage_runs import failures
from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.steps import runner
from xductor.backend.steps.bridge import BridgedStep
from xductor.ir import entry_graph
from xductor.transforms import APPROXIMATE, REASSOCIATES, TypedPass
from xductor.transforms.passes.events import listening
from xductor.transforms.passes.typed_pass import Ran
from xductor.transforms.rows.registry import typed_class

aten = torch.ops.aten


@pytest.fixture(autouse=True)
def raising() -> Iterator[None]:
    """A failure is an error here, where no test asks for a fallback."""
    with settings.use(settings.Settings(on_error="raise")):
        yield


@dataclass(frozen=True)
class NegNeg(TypedPass):
    """neg(neg(x)) is x."""

    name = "test_neg_neg"
    stage = ("joint", "post_grad")
    inductor = "none:none"
    roots = frozenset({"aten.neg.default"})
    matched_nodes = 2
    counter = "test_neg_neg"

    limit: int = 100

    def rewrite(self, module: ModuleOp) -> int:
        block = entry_graph(module).block
        applications = 0
        for op in list(block.ops):
            if applications == self.limit or getattr(op, "target", None) is not aten.neg.default:
                continue
            inner = op.operands[0].owner
            if getattr(inner, "target", None) is aten.neg.default:
                op.results[0].replace_all_uses_with(inner.operands[0])
                block.erase_op(op)
                applications += 1
        return applications


@dataclass(frozen=True)
class RoundedNegNeg(NegNeg):
    name = "test_rounded"
    numerics = REASSOCIATES


@dataclass(frozen=True)
class FastNegNeg(NegNeg):
    name = "test_fast"
    numerics = APPROXIMATE


def _negs(count: int) -> torch.fx.GraphModule:
    graph = torch.fx.Graph()
    node = graph.placeholder("x")
    with FakeTensorMode():
        node.meta["val"] = torch.empty(3)
        for _ in range(count):
            node = graph.call_function(aten.neg.default, (node,))
            node.meta["val"] = torch.empty(3)
    graph.output((node,))
    return torch.fx.GraphModule({}, graph)


def _count(gm: torch.fx.GraphModule) -> int:
    return len(gm.graph.find_nodes(op="call_function", target=aten.neg.default))


def _stage_run(gm: torch.fx.GraphModule) -> StageRun:
    record = stage_records.StageRecord("joint", "test", "joint", "structure", len(gm.graph.nodes))
    return StageRun("joint", gm, settings.current(), record)


def test_elements_of_results_are_counted_as_nodes() -> None:
    """As Inductor counts them: the split, the elements that it gives, and the cat."""

    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.cat(torch.ops.aten.split_with_sizes(x, [1, 2, 3], 1), 1) * 2

    gm = make_fx(function, tracing_mode="fake")(torch.randn(2, 6))
    counters.clear()
    one = typed_class("splitwithsizes_cat_replace")()
    assert sum(runner.run_typed(gm, [one], "post_grad").values()) == 1
    assert counters["inductor"]["pattern_matcher_count"] == 1
    assert counters["inductor"]["pattern_matcher_nodes"] == 5


def test_elements_of_what_is_replaced_are_no_nodes_of_the_match() -> None:
    """As Inductor counts them: the cat and the split."""

    def function(x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
        joined = torch.cat([x, y], 1)
        return [one * 2 for one in torch.ops.aten.split_with_sizes(joined, [2, 4], 1)]

    gm = make_fx(function, tracing_mode="fake")(torch.randn(2, 2), torch.randn(2, 4))
    counters.clear()
    one = typed_class("cat_splitwithsizes_replace")()
    assert sum(runner.run_typed(gm, [one], "post_grad").values()) == 1
    assert counters["inductor"]["pattern_matcher_nodes"] == 2


def test_an_application_reaches_the_graph() -> None:
    gm = _negs(3)
    kept = list(gm.graph.nodes)[:2]
    counters.clear()
    with stage_records.record() as records:
        assert runner.run_typed(gm, [NegNeg(limit=1)], "joint") == {"test_neg_neg": 1}
    assert list(gm.graph.nodes)[:2] == kept
    x = torch.randn(3)
    torch.testing.assert_close(gm(x)[0], -x)
    assert records[0].applications("test_neg_neg") == 1
    assert records[0].lowered == 1
    assert counters["inductor"]["pattern_matcher_count"] == 1
    assert counters["inductor"]["pattern_matcher_nodes"] == 2
    assert counters["inductor"]["test_neg_neg"] == 1


def test_one_lowering_serves_passes_until_the_graph_is_edited() -> None:
    run = _stage_run(_negs(1))
    quiet = BridgedStep("quiet", lambda run: None)
    for _ in range(2):
        assert runner.run_pass(run, NegNeg()) == 0
        quiet(run)
    assert run.record.lowered == 1

    def edit(run: StageRun) -> None:
        output = next(iter(reversed(run.gm.graph.nodes)))
        with run.gm.graph.inserting_before(output):
            again = run.gm.graph.call_function(aten.neg.default, (output.args[0][0],))
        again.meta["val"] = output.args[0][0].meta["val"]
        output.args = ((again,),)

    BridgedStep("edit", edit)(run)
    assert runner.run_pass(run, NegNeg()) == 1
    assert run.record.lowered == 2


def test_the_graph_changes_when_something_is_about_to_read_it() -> None:
    run = _stage_run(_negs(4))
    seen: list[int] = []
    assert runner.run_pass(run, NegNeg(limit=1)) == 1
    assert _count(run.gm) == 4
    BridgedStep("look", lambda run: seen.append(_count(run.gm)))(run)
    assert seen[0] < 4
    assert run.group is None


def test_uses_before_definitions_are_sorted_first() -> None:
    gm = _negs(3)
    x, first, second, third, _ = gm.graph.nodes
    second.append(first)
    third.append(x.next)
    assert runner.run_typed(gm, [NegNeg(limit=1)], "joint") == {"test_neg_neg": 1}
    gm.graph.lint()
    value = torch.randn(3)
    torch.testing.assert_close(gm(value)[0], -value)


def test_a_clean_graph_is_not_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    from xductor.backend.fx import export

    def to_fx(*_: Any, **__: Any) -> None:
        raise AssertionError("raised for nothing")

    monkeypatch.setattr(export, "to_fx", to_fx)
    gm = _negs(1)
    assert runner.run_typed(gm, [NegNeg()], "joint") == {"test_neg_neg": 0}


@pytest.mark.parametrize(
    ("policy", "ran"),
    [
        ("strict", {"test_neg_neg"}),
        ("default", {"test_neg_neg", "test_rounded"}),
        ("fast", {"test_neg_neg", "test_rounded", "test_fast"}),
    ],
)
def test_the_policy_decides_which_numerics_run(policy: str, ran: set[str]) -> None:
    passes = [NegNeg(limit=1), RoundedNegNeg(limit=1), FastNegNeg(limit=1)]
    with settings.use(settings.current().replace(numerics=policy)):
        counts = runner.run_typed(_negs(9), passes, "joint")
    assert {name for name, count in counts.items() if count} == ran


def test_the_users_rewrites_run_in_their_stages() -> None:
    chosen = settings.current().replace(rewrites=[NegNeg])
    with settings.use(chosen), stage_records.record() as records:
        joint, post = _negs(2), _negs(2)
        stages.joint_graph_passes(joint)
        stages.post_grad_passes(post, is_inference=True)
    assert [record.applications("test_neg_neg") for record in records] == [1, 1]
    assert _count(joint) < 2
    assert _count(post) < 2


def test_disabled_and_bisected_by_name() -> None:
    chosen = settings.current().replace(rewrites=[NegNeg])
    with settings.use(chosen), inductor_config.patch(disabled_passes="test_neg_neg"):
        gm = _negs(2)
        stages.joint_graph_passes(gm)
    assert _count(gm) == 2


def test_provenance_names_the_pass() -> None:
    """Where changes are traced to passes, the nodes a pass made or replaced name it."""
    chosen = settings.current().replace(rewrites=[NegNeg])
    hooked: list[str] = []
    gm = _negs(2)
    gm._register_erase_node_hook(lambda node: hooked.append(node.name))
    with (
        settings.use(chosen),
        inductor_config.patch({"trace.provenance_tracking_level": 1}),
    ):
        stages.joint_graph_passes(gm)
    assert _count(gm) < 2
    assert hooked


@pytest.mark.parametrize("level", ["types", "stage"])
def test_a_stale_value_is_found_at_the_level_of_the_settings(level: str) -> None:
    gm = _negs(2)
    with FakeTensorMode():
        next(iter(gm.graph.nodes)).meta["val"] = torch.empty(3, dtype=torch.float64)
    assert runner.run_typed(gm, [NegNeg(limit=0)], "joint") == {"test_neg_neg": 0}
    with (
        settings.use(settings.current().replace(verify=level)),
        pytest.raises(failures.StageError, match="f64"),
    ):
        runner.run_typed(gm, [NegNeg(limit=0)], "joint")


def test_listeners_hear_of_passes_applied_by_xdsl() -> None:
    from xdsl.context import Context

    from xductor.frontend import from_fx

    heard: list[tuple[str, int]] = []
    module = from_fx(_negs(2), "joint")
    with listening(Ran, lambda ran: heard.append((ran.one.name, ran.applications))):
        NegNeg().apply(Context(), module)
    assert heard == [("test_neg_neg", 1)]


def test_options_are_fields() -> None:
    assert str(NegNeg(limit=3).spec()) == "test_neg_neg{limit=3}"


def test_an_error_names_pass_and_stage() -> None:
    @dataclass(frozen=True)
    class Broken(NegNeg):
        name = "test_broken"

        def rewrite(self, module: ModuleOp) -> int:
            raise ValueError("no reason")

    with pytest.raises(failures.StageError, match="test_broken failed in the joint stage"):
        runner.run_typed(_negs(2), [Broken()], "joint")
