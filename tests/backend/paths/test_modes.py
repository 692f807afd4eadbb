"""Modes and flags of Inductor that decide how, or whether, its stages run."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch
from torch._dynamo.utils import counters
from torch._inductor import config, cudagraph_trees

from tests.backend.paths.through_stages import FORWARD, OPTIONS, StageRecords, chain, square
from xductor.backend.config import versions
from xductor.backend.config.coverage_warnings import NotCoveredWarning
from xductor.backend.seam import dispatch
from xductor.backend.seam.compiler import Backend


def check(backend: Any, size: int = 4, **keywords: Any) -> None:
    x, w = torch.randn(size, size), torch.randn(size, size)
    torch._dynamo.reset()
    torch.testing.assert_close(torch.compile(chain, backend=backend, **keywords)(x, w), chain(x, w))


@pytest.mark.parametrize("installed", [False, True], ids=["backend", "installed"])
def test_lite(stages: StageRecords, installed: bool) -> None:
    """Lite mode turns the stages off, stock's and ours; a compile of ours says so once."""
    backend = "inductor" if installed else "xductor"
    if installed:
        dispatch.install(OPTIONS)
    with pytest.warns(NotCoveredWarning, match="pre_grad, joint, post_grad"):
        check(backend, mode="lite")
    with warnings.catch_warnings(action="error", category=NotCoveredWarning):
        check(backend, size=5, mode="lite")
    assert stages.names() == []


@pytest.mark.parametrize("stage", FORWARD)
def test_a_stage_turned_off(stages: StageRecords, stage: str) -> None:
    flag = {"joint": "use_joint_graph_passes"}.get(stage, f"use_{stage}_passes")
    with pytest.warns(NotCoveredWarning, match=f"no {stage} passes"):
        check("xductor", options={flag: False, **OPTIONS})
    assert stages.names() == [name for name in FORWARD if name != stage]


def test_stock_hears_nothing(stages: StageRecords) -> None:
    dispatch.attach()
    with warnings.catch_warnings(action="error", category=NotCoveredWarning):
        check("inductor", mode="lite")
    assert stages.names() == []


def test_other_process(stages: StageRecords, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inductor would compile elsewhere, with its own stages; ours compile here."""
    module = versions.compile_fx_module()
    monkeypatch.setattr(module, "fx_compile_mode", module.FxCompileMode.SUBPROCESS)
    with pytest.warns(NotCoveredWarning, match="SUBPROCESS"):
        check("xductor", options=OPTIONS)
    assert stages.names() == FORWARD
    assert stages.pairs_removed() == 1


def test_max_autotune(stages: StageRecords) -> None:
    with config.patch(max_autotune_gemm_backends="ATEN"):
        check(Backend(mode="max-autotune-no-cudagraphs", options=OPTIONS))
    assert stages.names() == FORWARD


@pytest.mark.gpu
def test_cudagraphs(stages: StageRecords) -> None:
    """A graph of CUDA's is recorded of what our stages left, and replayed."""
    backend = Backend(mode="reduce-overhead", options=OPTIONS)
    compiled = torch.compile(chain, backend=backend)
    x, w = square().cuda(), square().cuda()
    for _ in range(4):
        x = torch.randn_like(x)
        torch.compiler.cudagraph_mark_step_begin()
        torch.testing.assert_close(compiled(x, w), chain(x, w))
    assert stages.names() == FORWARD
    assert stages.pairs_removed() == 1
    assert counters["inductor"]["cudagraph_skips"] == 0
    assert cudagraph_trees.get_manager(0, create_if_none_exists=False) is not None


@pytest.mark.gpu
def test_cudagraphs_in_training(stages: StageRecords) -> None:
    compiled = torch.compile(chain, backend="xductor", mode="reduce-overhead")
    w = square().cuda().requires_grad_()
    for _ in range(4):
        x = torch.randn(4, 4, device="cuda")
        torch.compiler.cudagraph_mark_step_begin()
        out, expected = compiled(x, w), chain(x, w)
        torch.testing.assert_close(out, expected)
        (got,) = torch.autograd.grad(out, w, torch.ones_like(out))
        (wanted,) = torch.autograd.grad(expected, w, torch.ones_like(expected))
        torch.testing.assert_close(got, wanted)
    assert stages.names() == [*FORWARD, "post_grad"]
    assert counters["inductor"]["cudagraph_skips"] == 0
    assert cudagraph_trees.get_manager(0, create_if_none_exists=False) is not None
