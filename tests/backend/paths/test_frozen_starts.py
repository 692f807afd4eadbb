"""Frozen models in a second process: from Inductor's cache, and from a package."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.backend.paths.through_stages import run_script

# What freezing folds, packs and fuses, a sum in place and int8 weights among it. Each seed has
# other weights, and so other constants. Those of 8 elements or less would be part of the keys.
_MODEL = """
    import sys, warnings
    import torch
    from torch._dynamo.utils import counters
    from torch._inductor import config
    from xductor.backend.records import stage_records
    from xductor.backend.seam import dispatch
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.SiLU())
            self.second, self.last = nn.Conv2d(16, 16, 1), nn.Linear(64, 64)
            for tensor in (self.first[1].running_mean, self.first[1].weight):
                nn.init.normal_(tensor)
            self.register_buffer("narrow", torch.randint(-99, 99, (16, 64), dtype=torch.int8))
            self.register_buffer("scales", torch.rand(16).bfloat16() / 99)

        def forward(self, x):
            y = self.first(x)
            y = torch.tanh(self.last((self.second(y) + y * 2).flatten(1))).bfloat16()
            return torch.nn.functional.linear(y, self.narrow.bfloat16()) * self.scales

    def built(seed):
        torch.manual_seed(seed)
        return Net().eval().requires_grad_(False), torch.randn(2, 3, 4, 4)

    def check(found, model, x):
        torch.testing.assert_close(found, model(x), rtol=2e-2, atol=2e-2)

    strictly = {"xductor.on_error": "raise", "xductor.verify": "types"}
    warnings.simplefilter("ignore")
    dispatch.attach()
"""

_COMPILE = """
    config.cpp_wrapper, config.cpp.weight_prepack = CPP_WRAPPER, PACKS
    with torch.no_grad(), config.patch(freezing=True):
        for seed in (SEED, SEED + 1):
            torch._dynamo.reset()
            model, x = built(seed)
            with stage_records.record() as records:
                compiled = torch.compile(model, backend="xductor", options=strictly)
                check(compiled(x), model, x)
            check(compiled(x + 1), model, x + 1)
            packed = sum(one.applications("mkldnn_convolution_packing") for one in records)
            print(packed, counters["inductor"]["fxgraph_cache_hit"])
"""

_PACK = """
    model, x = built(0)
    quick = {
        "aot_inductor.compile_wrapper_opt_level": "O0",
        "aot_inductor.precompile_headers": False,
    }
    with torch.no_grad(), config.patch(freezing=True), dispatch.installed(strictly):
        with stage_records.record() as records:
            torch._inductor.aoti_compile_and_package(
                torch.export.export(model, (x,)), package_path=PACKAGE, inductor_configs=quick
            )
    for name in (
        "constant_fold", "mkldnn_convolution_packing", "mkldnn_linear_packing",
        "mkldnn_unary_fusion", "mkldnn_binary_fusion", "woq_lowerings",
    ):
        assert any(one.applications(name) for one in records), name
    torch.save((x, model(x)), PACKAGE + ".given")
"""

_LOAD = """
    import sys
    import torch
    x, wanted = torch.load(PACKAGE + ".given")
    found = torch._inductor.aoti_load_package(PACKAGE)(x)
    torch.testing.assert_close(found, wanted, rtol=2e-2, atol=2e-2)
    assert not any(name.partition(".")[0] == "xductor" for name in sys.modules)
    print("loaded")
"""


def started(script: str, cache: Path, **values: object) -> list[str]:
    """Run a script in a process of its own, with values for its names; the lines it printed."""
    for name, value in values.items():
        script = script.replace(name, repr(value))
    paths = [str(Path(__file__).resolve().parents[3]), os.environ.get("PYTHONPATH", "")]
    return run_script(script, cache, PYTHONPATH=os.pathsep.join(filter(None, paths))).splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("cpp_wrapper", [False, True])
def test_cached_code_reads_the_constants_of_each_start(tmp_path: Path, cpp_wrapper: bool) -> None:
    """Weights that are packed keep a graph out of the cache, as in Inductor; others do not."""
    values = {"CPP_WRAPPER": cpp_wrapper, "PACKS": False}
    assert started(_MODEL + _COMPILE, tmp_path, SEED=0, **values) == ["0 0", "0 1"]
    assert started(_MODEL + _COMPILE, tmp_path, SEED=1, **values) == ["0 1", "0 2"]


@pytest.mark.slow
@pytest.mark.parametrize("cpp_wrapper", [False, True])
def test_graphs_with_packed_weights_are_compiled_in_each_start(
    tmp_path: Path, cpp_wrapper: bool
) -> None:
    values = {"CPP_WRAPPER": cpp_wrapper, "PACKS": True}
    for seed in (0, 1):
        assert started(_MODEL + _COMPILE, tmp_path, SEED=seed, **values) == ["2 0", "2 0"]


@pytest.mark.slow
def test_a_package_runs_without_us(tmp_path: Path) -> None:
    package = str(tmp_path / "frozen.pt2")
    started(_MODEL + _PACK, tmp_path, PACKAGE=package)
    assert started(_LOAD, tmp_path, PACKAGE=package) == ["loaded"]
