"""Compiles that leave a library or an artifact behind, instead of a function of this process."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
import torch
from torch._inductor import config
from torch._inductor.standalone_compile import CompiledArtifact
from torch.fx import GraphModule
from torch.fx.experimental.proxy_tensor import make_fx

import xductor
from tests.backend.paths.through_stages import FORWARD, OPTIONS, Chain, StageRecords, chain, square
from tests.backend.pipelines.frozen_graphs import packing
from xductor.backend.config import versions
from xductor.backend.config.coverage_warnings import NotCoveredWarning
from xductor.backend.seam import dispatch
from xductor.backend.seam.compiler import Backend

# One library is made and built a test; how well it is optimised is nothing to us.
QUICK = {
    "aot_inductor.compile_wrapper_opt_level": "O0",
    "aot_inductor.precompile_headers": False,
    "cpp.simdlen": 1,
}


def traced() -> tuple[GraphModule, list[torch.Tensor]]:
    x, w = square(), square()
    return make_fx(lambda x, w: (chain(x, w),), tracing_mode="fake")(x, w), [x, w]


@pytest.mark.slow
def test_aoti_package(stages: StageRecords, tmp_path: Path) -> None:
    model, x = Chain(), square()
    exported = torch.export.export(model, (x,))
    with dispatch.installed(OPTIONS):
        package = torch._inductor.aoti_compile_and_package(
            exported, package_path=str(tmp_path / "model.pt2"), inductor_configs=QUICK
        )
    assert stages.names() == FORWARD
    assert stages.pairs_removed() == 1
    torch.testing.assert_close(torch._inductor.aoti_load_package(package)(x), model(x))


@pytest.mark.slow
def test_use_aoti_when_installed(stages: StageRecords) -> None:
    model, x = Chain(), square()
    with dispatch.installed(OPTIONS), torch.no_grad():
        out = torch.compile(model, options={"use_aoti": True, **QUICK})(x)
    assert stages.names() == FORWARD
    assert stages.pairs_removed() == 1
    torch.testing.assert_close(out, model(x))


@pytest.mark.slow
def test_use_aoti_of_a_backend(stages: StageRecords) -> None:
    """``torch.compile`` drops the option for backends it does not know; ours takes it itself."""
    model, x = Chain(), square()
    backend = Backend(options={"use_aoti": True, **OPTIONS, **QUICK})
    assert backend.get_compiler_config()["cpp_wrapper"]
    with torch.no_grad():
        out = torch.compile(model, backend=backend)(x)
    assert stages.names() == FORWARD
    assert stages.pairs_removed() == 1
    torch.testing.assert_close(out, model(x))


@pytest.mark.parametrize("aot", [False, True])
def test_standalone_compile(stages: StageRecords, tmp_path: Path, aot: bool) -> None:
    gm, inputs = traced()
    with dispatch.installed(OPTIONS):
        artifact = torch._inductor.standalone_compile(gm, inputs, aot=aot)
    assert stages.take() == FORWARD
    torch.testing.assert_close(artifact(*inputs)[0], chain(*inputs))
    artifact.save(path=str(tmp_path / "artifact"), format="binary")
    loaded = CompiledArtifact.load(path=str(tmp_path / "artifact"), format="binary")
    torch.testing.assert_close(loaded(*inputs)[0], chain(*inputs))
    assert stages.names() == []


def test_compile_of_a_graph(stages: StageRecords) -> None:
    gm, inputs = traced()
    with dispatch.installed(OPTIONS):
        compiled = torch._inductor.compile(gm, inputs)
    assert stages.names() == FORWARD
    torch.testing.assert_close(compiled(*inputs)[0], chain(*inputs))


@pytest.mark.parametrize("dynamic", [False, True])
def test_export_then_compile(stages: StageRecords, dynamic: bool) -> None:
    model, x = Chain(), square()
    shapes = ({0: torch.export.Dim("n", min=2)},) if dynamic else None
    exported = torch.export.export(model, (x,), dynamic_shapes=shapes)
    with torch.no_grad():
        compiled = torch.compile(exported.module(), backend="xductor", options=OPTIONS)
        torch.testing.assert_close(compiled(x), model(x))
    assert stages.names() == FORWARD
    assert stages.pairs_removed() == 1


@pytest.mark.parametrize("installed", [False, True], ids=["backend", "installed"])
def test_aot_compile_of_a_function(stages: StageRecords, installed: bool) -> None:
    """``torch.compile(f).aot_compile``: what it makes is bound to no frame of Dynamo's."""
    if not installed and versions.torch_release() < (2, 12):
        pytest.skip("this torch makes a serializable function of its own backend's result alone")
    x, w = square(), square()
    keywords = {} if installed else {"backend": "xductor", "options": OPTIONS}
    if installed:
        dispatch.install(OPTIONS)
    with torch._dynamo.config.patch(enable_aot_compile=True):
        compiled = torch.compile(chain, fullgraph=True, **keywords)
        out = compiled.aot_compile(((x, w), {}))(x, w)
    assert stages.names() == FORWARD
    torch.testing.assert_close(out, chain(x, w))


def test_freezing(stages: StageRecords) -> None:
    model, x = Chain().eval(), square()

    def check() -> None:
        torch._dynamo.reset()
        compiled = torch.compile(model, backend="xductor", options=OPTIONS)
        torch.testing.assert_close(compiled(x), model(x))

    with torch.no_grad(), config.patch(freezing=True):
        with pytest.warns(NotCoveredWarning, match="freezing"):
            check()
        assert stages.names() == [*FORWARD, "post_grad"]  # freezing's steps, then the stage
        assert stages.pairs_removed() == 1
        with warnings.catch_warnings(action="error", category=NotCoveredWarning):
            check()


class FrozenLayers(torch.nn.Module):
    """Arithmetic with constants behind layers, of which stock folds some wrongly."""

    def __init__(self) -> None:
        super().__init__()
        self.transposed = torch.nn.ConvTranspose1d(4, 4, 3, groups=2)
        self.divided = torch.nn.Conv1d(4, 4, 3)
        for name in ("mean", "scale", "beside"):
            self.register_buffer(name, torch.linspace(0.5, 2.0, 4).view(4, 1))
        self.weight = torch.nn.Parameter(torch.randn(6, 6))
        self.bias = torch.nn.Parameter(torch.randn(6))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        normalized = (self.transposed(x) - self.mean) * self.scale
        y = torch.add(normalized, self.beside, alpha=3)
        product = torch.addmm(self.bias, y[0], self.weight, beta=0.5, alpha=2.0) * self.bias
        return y, product, self.divided(x) / 0.0


def test_arithmetic_is_folded_into_frozen_weights() -> None:
    model, x = FrozenLayers().eval(), torch.linspace(-1, 1, 16).view(1, 4, 4)
    names = [name for name, _ in model.named_parameters()]
    frozen = config.patch(freezing=True, enable_linear_binary_folding=True)
    with torch.no_grad(), frozen, warnings.catch_warnings(action="ignore"):
        compiled = torch.compile(model, backend="xductor", options=OPTIONS)
        torch.testing.assert_close(compiled(x), model(x))
    assert xductor.last_compile().count("binary_folding") == 4
    assert [name for name, _ in model.named_parameters()] == names


class Scaled(torch.nn.Module):
    """A product with a constant that is computed of a parameter."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.w = torch.nn.Parameter(torch.full((4, 4), float(seed)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.mm(x, self.w * 2 + 1)


def test_cached_code_of_frozen_graphs_takes_each_models_own_constants(
    stages: StageRecords,
) -> None:
    """What is computed of parameters counts as one: its elements are in no cache."""
    from torch._dynamo.utils import counters

    x = square()
    counters.clear()
    for seed in (1, 2, 1):
        torch._dynamo.reset()
        model = Scaled(seed).eval()
        frozen = config.patch(freezing=True)
        quiet = warnings.catch_warnings(action="ignore")
        with torch.no_grad(), frozen, packing(False), quiet:
            compiled = torch.compile(model, backend="xductor", options=OPTIONS)
            for _ in range(2):
                torch.testing.assert_close(compiled(x), model(x))
        assert xductor.last_compile().count("constant_fold") == 1
    assert counters["inductor"]["fxgraph_cache_hit"] == 2


def test_use_aoti_by_name_is_dropped(stages: StageRecords) -> None:
    """``torch.compile`` takes the option out for everybody, and heeds it for its own backend."""
    options = {"use_aoti": True, **OPTIONS}
    x, w = square(), square()
    out = torch.compile(chain, backend="xductor", options=options)(x, w)
    assert "use_aoti" not in options
    assert stages.names() == FORWARD
    torch.testing.assert_close(out, chain(x, w))
