"""Rewrites that match what they make: named once, on record, and given up."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from xductor.backend import stages
from xductor.backend.config import settings
from xductor.backend.records import stage_records
from xductor.backend.stage_runs.applications import ContractWarning
from xductor.ir import aten, entry_graph, parse_ir
from xductor.transforms import Rewrite, Tensor
from xductor.transforms.rewriting.driver import (
    MAX_GENERATIONS,
    Driver,
    NoConvergence,
    RewriteIndex,
    watching,
)

F4 = "!fx.tensor<f32[4], cpu>"


class SinAgain(Rewrite):
    stage = "joint"

    def pattern(self, x: Tensor) -> Any:
        return aten.sin(x)

    def replacement(self, x: Tensor) -> Any:
        return aten.sin(x)


class Grows(Rewrite):
    stage = "joint"

    def pattern(self, x: Tensor) -> Any:
        return aten.relu(x)

    def replacement(self, x: Tensor) -> Any:
        return aten.relu(aten.relu(x))


class There(Rewrite):
    stage = "joint"

    def pattern(self, x: Tensor) -> Any:
        return aten.neg(aten.abs(x))

    def replacement(self, x: Tensor) -> Any:
        return aten.mul(aten.abs(x), -1.0)


class Back(Rewrite):
    stage = "joint"

    def pattern(self, x: Tensor) -> Any:
        return aten.mul(x, -1.0)

    def replacement(self, x: Tensor) -> Any:
        return aten.neg(x)


class FoldsConstants(Rewrite):
    """(x + c) + d as x + e: matches its own result, and leaves one op less each time."""

    stage = "joint"
    numerics = "approximate"

    def pattern(self, x: Tensor, c: float, d: float) -> Any:
        return aten.add(aten.add(x, c), d)

    def replacement(self, x: Tensor, c: float, d: float) -> Any:
        return aten.add(x, c + d)


def _module(*ops: str) -> Any:
    lines = [f"%v{n + 1} = {op.format(f'%v{n}')} : {F4}\n" for n, op in enumerate(ops)]
    return parse_ir(
        f"fx.graph @f stage(joint) (%v0 : {F4}) {{ {''.join(lines)} fx.output (%v{len(ops)},) }}"
    )


def _sin(count: int) -> tuple[str, ...]:
    return ("aten.sin.default {}",) * count


@pytest.mark.parametrize(
    ("rewrites", "ops", "said"),
    [
        ([SinAgain], _sin(1), "rewrite sin_again matches its own result"),
        ([Grows], ("aten.relu.default {}",), "rewrite grows matches its own result"),
        (
            [There, Back],
            ("aten.abs.default {}", "aten.neg.default {}"),
            "match each other's results",
        ),
        ([Grows, SinAgain], _sin(2), "rewrite sin_again matches its own result"),
    ],
)
def test_without_end(rewrites: list[type[Rewrite]], ops: tuple[str, ...], said: str) -> None:
    with pytest.raises(NoConvergence, match=said) as raised:
        Driver(RewriteIndex([one() for one in rewrites])).rewrite(_module(*ops))
    assert "did not converge: 32 applications" in str(raised.value)
    assert set(raised.value.names) <= {one.name for one in rewrites}


def test_it_is_given_up_and_the_others_go_on() -> None:
    reports: list[str] = []
    module = _module(*_sin(5), "aten.abs.default {}", "aten.mul.Tensor {}, -1.0")
    driver_of = RewriteIndex([SinAgain(), Back()])
    with watching(report=lambda one, op, error: reports.append(f"{one.name} {type(error)}")):
        applied = Driver(driver_of).rewrite(module)
    assert applied == MAX_GENERATIONS + 1
    assert len(reports) == 1
    assert reports[0].startswith("sin_again")
    assert [op.name for op in entry_graph(module).block.ops].count("aten.neg.default") == 1


def test_what_leaves_fewer_ops_each_time_comes_to_an_end() -> None:
    module = _module(*("aten.add.Tensor {}, 1.0",) * (3 * MAX_GENERATIONS))
    driver = Driver(RewriteIndex([FoldsConstants()]), "fast")
    assert driver.rewrite(module) == 3 * MAX_GENERATIONS - 1
    assert len(list(entry_graph(module).block.ops)) == 2


def test_a_compile_says_it_once_and_has_it_on_record() -> None:
    gm = make_fx(lambda x: x.sin().sin().cos().sin(), tracing_mode="fake")(torch.randn(4))
    now = settings.Settings(rewrites=(SinAgain,))
    with (
        settings.use(now),
        stage_records.record() as records,
        warnings.catch_warnings(record=True) as told,
    ):
        warnings.simplefilter("always")
        before = str(gm.graph)
        stages.joint_graph_passes(gm)
        stages.joint_graph_passes(gm)
        assert str(gm.graph) == before
    messages = [str(one.message) for one in told if one.category is ContractWarning]
    assert len(messages) == 1
    assert "rewrite sin_again matches its own result, and did not converge" in messages[0]
    assert "`once = True`" in messages[0]
    for record in records:
        (ran,) = [one for one in record.passes if one.unconverged]
        assert ran.unconverged == ("sin_again",)
        assert ran.counts() == {}


class CosToExp(Rewrite):
    stage = "joint"

    def pattern(self, x: Tensor) -> Any:
        return aten.cos(x)

    def replacement(self, x: Tensor) -> Any:
        return aten.exp(x)


def test_what_does_not_converge_is_undone_and_the_others_are_not() -> None:
    """The three stand in one walk; each is run alone when that does not end."""
    gm = make_fx(lambda x: x.relu().cos().neg(), tracing_mode="fake")(torch.randn(4))
    now = settings.Settings(rewrites=(CosToExp, Grows))
    with settings.use(now), stage_records.record() as records, pytest.warns(ContractWarning):
        stages.joint_graph_passes(gm)
    called = [str(node.target) for node in gm.graph.nodes if node.op == "call_function"]
    assert called == ["aten.relu.default", "aten.exp.default", "aten.neg.default"]
    assert records[0].counts()["cos_to_exp"] == 1
    assert [one.unconverged for one in records[0].passes if one.unconverged][-1] == ("grows",)
    x = torch.randn(4)
    torch.testing.assert_close(gm(x), -torch.exp(x.relu()))


def test_two_that_undo_each_other_leave_the_graph_as_it_was() -> None:
    gm = make_fx(lambda x: x.abs().neg(), tracing_mode="fake")(torch.randn(4))
    now = settings.Settings(rewrites=(There, Back))
    with settings.use(now), pytest.warns(ContractWarning):
        stages.joint_graph_passes(gm)
    called = [str(node.target) for node in gm.graph.nodes if node.op == "call_function"]
    assert len(called) == 2
    x = torch.randn(4)
    torch.testing.assert_close(gm(x), -x.abs())
