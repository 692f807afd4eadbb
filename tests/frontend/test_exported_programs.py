"""Programs of `torch.export`, before and after decompositions, are read, checked and put back."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim, ExportedProgram, export
from xdsl.utils.exceptions import VerifyException

import xductor
from xductor import Rewrite, Tensor
from xductor.backend.testing.graph_check import stage_of
from xductor.ir import XductorContext, aten
from xductor.transforms.rewriting.declared_pass import pass_of


class Counts(nn.Module):
    """Writes to a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 4)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls.add_(1)
        return torch.relu(self.linear(x) + 1).sum(-1)


class Branches(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,))


class Attends(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(x)
        return x + self.attention(y, y, y, need_weights=False)[0]


BATCH = Dim("batch", min=2, max=64)
PROGRAMS: dict[str, tuple[type[nn.Module], torch.Tensor, Any]] = {
    "writes": (Counts, torch.randn(2, 8), None),
    "dynamic": (Counts, torch.randn(2, 8), ({0: BATCH},)),
    "branches": (Branches, torch.randn(2, 8), None),
    "attention": (Attends, torch.randn(2, 5, 8), ({0: BATCH},)),
}


def program(name: str) -> tuple[ExportedProgram, nn.Module, torch.Tensor]:
    make, x, dynamic = PROGRAMS[name]
    model = make().eval()
    return export(model, (x,), dynamic_shapes=dynamic), model, x


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("decomposed", [False, True], ids=["as_exported", "decomposed"])
def test_a_program_is_read_and_put_back(name: str, decomposed: bool) -> None:
    exported, _, x = program(name)
    if decomposed:
        exported = exported.run_decompositions()
    expected = exported.module()(x)
    xductor.check(exported)
    xductor.check(exported.module())
    assert stage_of(exported.module()) == "post_grad"
    module = xductor.from_fx(exported)
    nodes = list(exported.graph.nodes)
    assert xductor.same(xductor.parse_ir(xductor.print_ir(module)), module)
    xductor.to_fx(module, into=exported)
    assert list(exported.graph.nodes) == nodes
    exported.validate()
    torch.testing.assert_close(exported.module()(x), expected)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_of_a_stage_once_it_is_decomposed(name: str) -> None:
    exported = program(name)[0]
    xductor.check(exported.run_decompositions(), level="stage")
    if name in ("writes", "dynamic"):
        with pytest.raises(VerifyException, match="graph is functional at this stage"):
            xductor.check(exported, level="stage")


class ReturnsReplaced(nn.Module):
    """Its result, and what it writes to a buffer and an input, are calls that are rewritten."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("kept", torch.zeros(2, 8))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, int, torch.Tensor]:
        self.kept.copy_(torch.relu(x))
        x.copy_(torch.relu(x - 1))
        return torch.relu(x + 1), 3, x


class ReluAsClamp(Rewrite):
    stage = "joint"

    def pattern(self, x: Tensor) -> Any:
        return aten.relu(x)

    def replacement(self, x: Tensor) -> Any:
        return aten.clamp_min(x, 0)


@pytest.mark.parametrize("name", ["writes", "dynamic"])
@pytest.mark.parametrize("decomposed", [False, True], ids=["as_exported", "decomposed"])
def test_a_program_is_rewritten(name: str, decomposed: bool) -> None:
    exported, model, x = program(name)
    if decomposed:
        exported = exported.run_decompositions()
    module = xductor.from_fx(exported)
    pass_of(ReluAsClamp)().apply(XductorContext(), module)
    xductor.to_fx(module, into=exported)
    exported.validate()
    targets = [str(node.target) for node in exported.graph.nodes]
    assert "aten.clamp_min.default" in targets
    assert "aten.relu.default" not in targets
    run, expected = exported.module(), model(x)
    before = float(run.calls)
    torch.testing.assert_close(run(x), expected)
    assert float(run.calls) == before + 1


@pytest.mark.parametrize("decomposed", [False, True], ids=["as_exported", "decomposed"])
def test_results_that_are_replaced_are_named_in_the_signature(decomposed: bool) -> None:
    model, x = ReturnsReplaced(), torch.randn(2, 8)
    exported = export(model, (x.clone(),))
    if decomposed:
        exported = exported.run_decompositions()
    module = xductor.from_fx(exported)
    pass_of(ReluAsClamp)().apply(XductorContext(), module)
    xductor.to_fx(module, into=exported)
    exported.validate()
    run, given, written = exported.module(), x.clone(), x.clone()
    torch.testing.assert_close(run(given), model(written))
    torch.testing.assert_close(given, written)
    torch.testing.assert_close(run.kept, model.kept)
    assert "aten.relu.default" not in str(exported.graph)
    if decomposed:  # a second time, and through another pass of torch's
        xductor.to_fx(xductor.from_fx(exported), into=exported)
        exported.run_decompositions().validate()


def test_what_is_no_graph_is_refused() -> None:
    message = r"takes an fx\.GraphModule.*ExportedProgram, not Linear"
    for take in (xductor.from_fx, xductor.check):
        with pytest.raises(TypeError, match=message):
            take(nn.Linear(2, 2))  # type: ignore[arg-type]
