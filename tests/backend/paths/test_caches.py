"""Inductor's caches, cold and warm, over processes: each pipeline finds its own and no other's."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.backend.paths.through_stages import run_script
from xductor.backend.config import versions

# Compiles forward and backward, and says what of it was found and what our stages did.
_TRAIN = """
    import sys
    import torch
    from torch._dynamo.utils import counters
    from xductor.backend.records import stage_records
    from xductor.backend.seam import dispatch
    from tests.backend.paths.through_stages import chain, square
    backend = sys.argv[1] if len(sys.argv) > 1 else BACKEND
    dispatch.attach()
    x, w = square(True), square(True)
    {setup}
    with stage_records.record() as records:
        out = torch.compile(chain, backend=backend)(x, w)
        out.backward(torch.ones(4, 4))
    torch.testing.assert_close(out, chain(x, w))
    torch.testing.assert_close(x.grad, torch.mm(torch.mm(torch.ones(4, 4), w.T), w.T))
    {teardown}
    print(
        "hits", counters["aot_autograd"]["autograd_cache_hit"],
        "graphs", counters["inductor"]["fxgraph_cache_hit"],
        "stages", len(records),
    )
"""


def train(backend: str, cache: Path, setup: str = "", teardown: str = "") -> str:
    script = _TRAIN.format(setup=setup, teardown=teardown).replace("BACKEND", repr(backend))
    paths = [str(Path(__file__).resolve().parents[3]), os.environ.get("PYTHONPATH", "")]
    said = run_script(script, cache, PYTHONPATH=os.pathsep.join(filter(None, paths)))
    return said.strip().splitlines()[-1]


COLD = {"xductor": "hits 0 graphs 0 stages 4", "inductor": "hits 0 graphs 0 stages 0"}
# Before 2.12 the pre-grad stage stands before the lookup in AOTAutograd's cache.
WARM = f"hits 1 graphs 2 stages {int(not versions.pre_grad_runs_late())}"


@pytest.mark.slow
def test_a_second_process(tmp_path: Path) -> None:
    """What one process stored, the next one finds; what stock stored is not ours."""
    assert train("inductor", tmp_path) == COLD["inductor"]
    assert train("xductor", tmp_path) == COLD["xductor"]
    assert train("xductor", tmp_path) == WARM


@pytest.mark.slow
def test_artifacts_carried_to_another_cache(tmp_path: Path) -> None:
    """``save_cache_artifacts`` of one process, loaded by another with an empty cache."""
    artifacts = tmp_path / "artifacts"
    save = (
        f"artifacts, _ = torch.compiler.save_cache_artifacts(); "
        f"open({str(artifacts)!r}, 'wb').write(artifacts)"
    )
    load = f"torch.compiler.load_cache_artifacts(open({str(artifacts)!r}, 'rb').read())"
    assert train("xductor", tmp_path / "first", teardown=save) == COLD["xductor"]
    assert train("xductor", tmp_path / "second", setup=load) == WARM


_PRECOMPILE = {
    "setup": "torch._dynamo.config.caching_precompile = True",
    "teardown": "from torch._dynamo.precompile_context import PrecompileContext; "
    "PrecompileContext.save_to_dynamo_cache()",
}


@pytest.mark.slow
def test_caching_precompile(tmp_path: Path) -> None:
    """The second process installs what the first one stored, and asks for no backend."""
    assert train("xductor", tmp_path, **_PRECOMPILE) == COLD["xductor"]
    assert train("xductor", tmp_path, **_PRECOMPILE).endswith("stages 0")


@pytest.mark.slow
def test_caching_precompile_of_another_backend(tmp_path: Path) -> None:
    """Dynamo stores by function alone: what stock compiled is found for our backend too."""
    assert train("inductor", tmp_path, **_PRECOMPILE) == COLD["inductor"]
    assert train("xductor", tmp_path, **_PRECOMPILE).endswith("stages 0")


def test_scripts_run_with_this_python(tmp_path: Path) -> None:
    assert run_script("import sys; print(sys.executable)", tmp_path).strip() == sys.executable
