"""The tutorial's fusion: RMSNorm and quantisation into a custom op."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
import torch
from torch._dynamo.utils import counters

PROGRAM = Path(__file__).with_name("rms_norm_quant.py")


@pytest.fixture(scope="module")
def fusion() -> Any:
    name = "tests_rms_norm_quant"
    spec = spec_from_file_location(name, PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_it_has_twelve_lines_at_most() -> None:
    (rewrite,) = (
        node
        for node in ast.walk(ast.parse(PROGRAM.read_text()))
        if isinstance(node, ast.ClassDef) and node.name == "FuseRMSNormQuant"
    )
    lines = PROGRAM.read_text().splitlines()[rewrite.lineno - 1 : rewrite.end_lineno]
    assert len([line for line in lines if line.strip()]) <= 12
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("how", ["xductor", "inductor"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32], ids=str)
def test_it_fires_in_both_pipelines(fusion: Any, how: str, dtype: torch.dtype) -> None:
    model = fusion.RMSNormQuant().to(dtype)
    x, scale = torch.randn(8, 64, dtype=dtype), torch.tensor(0.05)
    with torch.no_grad():
        expected = model(x, scale)
        fusion.calls.clear()
        found = fusion.compiled(model, how)(x, scale)
    assert fusion.calls == ["cpu"]
    assert counters["xductor"][fusion.FuseRMSNormQuant.qualified_name()] in (0, 1)  # 0: cached
    assert torch.equal(found.float(), expected.float())


def test_it_fires_for_every_number_of_rows(fusion: Any) -> None:
    model, scale = fusion.RMSNormQuant(), torch.tensor(0.05)
    compiled = fusion.compiled(model, "xductor", dynamic=True)
    fusion.calls.clear()
    with torch.no_grad():
        for rows in (3, 8):
            x = torch.randn(rows, 64)
            assert torch.equal(compiled(x, scale).float(), model(x, scale).float())
    assert fusion.calls == ["cpu", "cpu"]


class OtherDim(torch.nn.Module):
    """Means over rows: no norm of the kind that the op computes."""

    def forward(self, x: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        normed = x * torch.rsqrt(x.pow(2).mean(0, keepdim=True) + 1e-6)
        return (weight * normed / scale).clamp(-448.0, 448.0).to(torch.float8_e4m3fn)


class OtherRange(torch.nn.Module):
    """Quantised to another range than the op has."""

    def forward(self, x: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        normed = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        return (weight * normed / scale).clamp(-240.0, 240.0).to(torch.float8_e4m3fn)


class NoRounding(torch.nn.Module):
    """The normed value is not rounded to bf16 before the weight, as the op would for bf16."""

    def forward(self, x: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        wide = x.float()
        normed = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
        return (weight * normed / scale).clamp(-448.0, 448.0).to(torch.float8_e4m3fn)


def test_it_takes_the_wide_value_where_nothing_is_rounded(
    fusion: Any, xductor_capture: Any
) -> None:
    inputs = torch.randn(8, 64).bfloat16(), torch.rand(64), torch.tensor(0.05)
    stages = xductor_capture(NoRounding(), *inputs, rewrites=[fusion.FuseRMSNormQuant])
    (application,) = stages.one("post_grad").record.applications_made
    assert application.bindings["x"] == "!fx.tensor<f32[8, 64], cpu>"
    assert torch.equal(stages.output.float(), NoRounding()(*inputs).float())


@pytest.mark.parametrize("model", [OtherDim(), OtherRange()], ids=str)
def test_what_is_another_computation_stays(
    fusion: Any, model: Any, xductor_capture: Any, xductor_fired: Any
) -> None:
    inputs = torch.randn(8, 64), torch.rand(64), torch.tensor(0.05)
    stages = xductor_capture(model, *inputs, rewrites=[fusion.FuseRMSNormQuant])
    assert "rms_norm_quant" not in stages.one("post_grad").after_text
    xductor_fired(fusion.FuseRMSNormQuant, 0)


def program(how: str, device: str, cache: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(PROGRAM), how, device],
        env={**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    ("how", "device"),
    [
        pytest.param("inductor", "cpu", marks=pytest.mark.slow),
        pytest.param("xductor", "cpu", marks=pytest.mark.slow),
        pytest.param("inductor", "cuda", marks=pytest.mark.gpu),
        pytest.param("xductor", "cuda", marks=pytest.mark.gpu),
    ],
)
def test_a_second_process_hits_the_cache(how: str, device: str, tmp_path: Path) -> None:
    first = program(how, device, tmp_path)
    assert first == {"fired": 1, "hits": 0, "misses": 1, "calls": [device]}
    second = program(how, device, tmp_path)
    assert second == {"fired": 0, "hits": 1, "misses": 0, "calls": [device]}
