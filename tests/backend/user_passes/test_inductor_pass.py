"""Rewrites on the hooks of stock Inductor, and what its caches make of them."""

from __future__ import annotations

import copy
import importlib.util
import pickle
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch._dynamo.utils import counters
from torch._inductor import config
from torch._inductor.custom_graph_pass import CustomGraphPass

import xductor
from xductor import Rewrite, Tensor
from xductor.backend.config import cache_keys
from xductor.backend.config.settings import SettingsError
from xductor.backend.config.versions import inductor_version
from xductor.backend.config.warn_once import forget_warnings
from xductor.backend.records import stage_records
from xductor.backend.stage_runs.failures import FallbackWarning, StageError
from xductor.backend.user_passes.inductor_pass import HOOKS
from xductor.ir import aten, ops
from xductor.transforms import Stage


# Products of matrices alone: Inductor calls a library for them, and no compiler runs.
def chain(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.mm(torch.mm(x, w), w)


class MmOnce(Rewrite):
    """Wrong, and so visible: mm(mm(x, w), w) is mm(x, w)."""

    stage = ("joint", "post_grad")

    def pattern(self, x: Tensor, w: Tensor):
        return aten.mm(aten.mm(x, w), w)

    def replacement(self, x: Tensor, w: Tensor):
        return aten.mm(x, w)


class MmOnceBeforeGrad(Rewrite):
    """The same on Dynamo's graph."""

    stage = "pre_grad"

    def pattern(self, x: Tensor, w: Tensor):
        return ops.pyfn.torch.mm(ops.pyfn.torch.mm(x, w), w)

    def replacement(self, x: Tensor, w: Tensor):
        return ops.pyfn.torch.mm(x, w)


class PostGradOnly(MmOnce):
    stage = "post_grad"


class JointOnly(MmOnce):
    stage = "joint"


def compiled_with(hook: str, value: Any, **options: Any) -> torch.Tensor:
    """What `chain` gives, compiled by stock Inductor with something on a hook."""
    torch._dynamo.reset()
    counters.clear()
    x, w = _inputs()
    with config.patch({hook: value, **options}):
        return torch.compile(chain)(x, w)


def _inputs() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(4, 4, generator=generator), torch.randn(4, 4, generator=generator)


def _once() -> torch.Tensor:
    return torch.mm(*_inputs())


@pytest.mark.parametrize("hook", HOOKS)
def test_each_hook_of_stock_inductor_takes_it(hook: str, empty_cache: Path) -> None:
    one = MmOnceBeforeGrad if HOOKS[hook] == "pre_grad" else MmOnce
    with stage_records.record() as records:
        out = compiled_with(hook, xductor.inductor_pass(one))
    torch.testing.assert_close(out, _once())
    assert [record.stage for record in records] == [HOOKS[hook]]
    assert [a.rewrite for record in records for a in record.applications_made] == [one.name]


@pytest.mark.skipif(
    inductor_version().custom_pass_hooks == "callable", reason="this torch has no lists of passes"
)
def test_it_is_one_of_a_list(empty_cache: Path) -> None:
    seen: list[int] = []

    class Counts(CustomGraphPass):
        def __call__(self, graph: torch.fx.Graph) -> None:
            seen.append(len(graph.find_nodes(op="call_function", target=torch.ops.aten.mm.default)))

        def uuid(self) -> str:
            return "counts"

    ours = xductor.inductor_pass(PostGradOnly)
    out = compiled_with("post_grad_custom_post_pass", [Counts(), ours, Counts()])
    assert seen == [2, 1]
    torch.testing.assert_close(out, _once())


def test_it_works_in_our_pipeline_too(empty_cache: Path) -> None:
    x, w = _inputs()
    ours = xductor.inductor_pass(PostGradOnly)
    compiled = torch.compile(chain, backend="xductor", options={"post_grad_custom_post_pass": ours})
    torch.testing.assert_close(compiled(x, w), _once())


# Stages.


def test_the_stage_is_that_of_the_rewrites() -> None:
    assert xductor.inductor_pass(PostGradOnly, MmOnce).stages == ("post_grad",)
    assert xductor.inductor_pass(MmOnce).stages == ("post_grad", "joint")
    assert xductor.inductor_pass(MmOnce, stage="joint").stages == ("joint",)


@pytest.mark.parametrize(
    ("rewrites", "stage"),
    [((PostGradOnly, JointOnly), None), ((MmOnce,), "pre_grad"), ((JointOnly,), "post_grad")],
    ids=str,
)
def test_rewrites_of_other_stages_are_refused(rewrites: Any, stage: Stage | None) -> None:
    with pytest.raises(ValueError, match=r"make a pass for each stage:\n  \w+: "):
        xductor.inductor_pass(*rewrites, stage=stage)


def test_a_hook_of_another_stage_is_an_error(empty_cache: Path) -> None:
    message = "is for the joint stage, and is set on a hook of the post_grad stage; its hooks are"
    with pytest.raises(Exception, match=message):
        compiled_with("post_grad_custom_post_pass", xductor.inductor_pass(JointOnly))


def test_what_makes_no_pass_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        xductor.inductor_pass()
    with pytest.raises(SettingsError, match="is no rewrite or pass"):
        xductor.inductor_pass(int)
    with pytest.raises(SettingsError, match=r"Did you mean 'xductor\.numerics'"):
        xductor.inductor_pass(MmOnce, numerisc="fast")
    with pytest.raises(ValueError, match="no such places"):
        xductor.inductor_pass(xductor.placed(JointOnly, before="pointless_view"))


# Failures.


class Fails(PostGradOnly):
    def where(self) -> Any:
        raise RuntimeError("no idea")


@pytest.mark.filterwarnings("ignore::xductor.backend.stage_runs.applications.ContractWarning")
def test_one_that_fails_leaves_the_others_and_is_not_stored(empty_cache: Path) -> None:
    ours = xductor.inductor_pass(Fails, PostGradOnly)
    for _ in range(2):
        out = compiled_with("post_grad_custom_post_pass", ours)
        torch.testing.assert_close(out, _once())
        assert counters["inductor"]["fxgraph_cache_hit"] == 0
        assert counters["xductor"]["not_stored"] > 0


def test_a_failure_can_be_an_error(empty_cache: Path) -> None:
    forget_warnings()
    ours = xductor.inductor_pass(Fails, on_error="raise")
    with pytest.raises(Exception, match="no idea"):
        compiled_with("post_grad_custom_post_pass", ours)


# Identity.

SOURCE = """
from typing import Any

from xductor import Rewrite, Tensor
from xductor.ir import aten


class MmOnce(Rewrite):
    stage = "post_grad"

    def __init__(self, limit: int = 1) -> None:
        self.limit = limit

    def pattern(self, x: Tensor, w: Tensor):
        return aten.mm(aten.mm(x, w), w)

    def replacement(self, x: Tensor, w: Tensor):
        return aten.mm(x, w)
"""

PROGRAM = """
import json, sys
import torch
from torch._dynamo.utils import counters
from torch._inductor import config
import xductor
from library_of_rewrites import MmOnce

def chain(x, w):
    return torch.mm(torch.mm(x, w), w)

one = xductor.inductor_pass(MmOnce)
torch.manual_seed(0)
x, w = torch.randn(4, 4), torch.randn(4, 4)
with config.patch(post_grad_custom_post_pass=one):
    torch.testing.assert_close(torch.compile(chain)(x, w), torch.mm(x, w))
inductor = counters["inductor"]
print(json.dumps([one.uuid(), inductor["fxgraph_cache_hit"], inductor["fxgraph_cache_miss"]]))
"""


@pytest.fixture
def library(tmp_path: Path) -> Any:
    """Writes the library of rewrites and imports it as it is now."""

    def load(source: str = SOURCE) -> ModuleType:
        path = tmp_path / "library_of_rewrites.py"
        path.write_text(source)
        spec = importlib.util.spec_from_file_location("library_of_rewrites", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["library_of_rewrites"] = module
        spec.loader.exec_module(module)
        return module

    yield load
    sys.modules.pop("library_of_rewrites", None)


def test_another_process_hits_the_cache(
    library: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import json

    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "cache"))
    mine = xductor.inductor_pass(library().MmOnce).uuid()

    def process() -> tuple[str, int, int]:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        return tuple(json.loads(done.stdout.splitlines()[-1]))

    assert process() == (mine, 0, 1)
    assert process() == (mine, 1, 0)
    changed = SOURCE.replace("limit: int = 1", "limit: int = 2")
    (tmp_path / "library_of_rewrites.py").write_text(changed)
    other, hits, misses = process()
    assert (hits, misses) == (0, 1)
    assert other != mine


def test_uuid_changes_with_code_options_and_version(
    library: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = library()
    base = xductor.inductor_pass(module.MmOnce)
    uuids = [
        base.uuid(),
        xductor.inductor_pass(module.MmOnce(limit=2)).uuid(),
        xductor.inductor_pass(module.MmOnce(limit=3)).uuid(),
        xductor.inductor_pass(module.MmOnce, module.MmOnce(limit=2)).uuid(),
        xductor.inductor_pass(module.MmOnce, numerics="fast").uuid(),
        xductor.inductor_pass(library(SOURCE + "\n# changed\n").MmOnce).uuid(),
    ]
    monkeypatch.setattr(cache_keys, "package_version", lambda: "another")
    uuids.append(base.uuid())
    monkeypatch.undo()
    monkeypatch.setattr(cache_keys, "source_hash", lambda: "another")
    uuids.append(base.uuid())
    assert None not in uuids
    assert len(set(uuids)) == len(uuids)


def test_uuid_is_the_same_after_use(library: Any, empty_cache: Path) -> None:
    ours = xductor.inductor_pass(library().MmOnce(limit=2))
    before = ours.uuid()
    assert before is not None
    compiled_with("post_grad_custom_post_pass", ours)
    assert counters["inductor"]["fxgraph_cache_miss"] == 1
    assert ours.uuid() == before
    compiled_with("post_grad_custom_post_pass", ours)
    assert counters["inductor"]["fxgraph_cache_hit"] == 1


def test_a_rewrite_without_identity_bypasses_the_cache(empty_cache: Path) -> None:
    class Option(PostGradOnly):
        def __init__(self, live: object) -> None:
            self.live = live

    ours = xductor.inductor_pass(Option(object()))
    assert ours.uuid() is None
    out = compiled_with("post_grad_custom_post_pass", ours)
    torch.testing.assert_close(out, _once())
    assert counters["inductor"]["fxgraph_cache_bypass"] == 1


def test_it_is_copied_and_pickled_as_config_values_are() -> None:
    used = xductor.inductor_pass(MmOnce(), PostGradOnly, numerics="fast")
    assert used.passes
    for other in (copy.deepcopy(used), pickle.loads(pickle.dumps(used))):
        assert other.uuid() == used.uuid()
        assert repr(other) == repr(used) == "xductor.inductor_pass(<rewrite mm_once>, PostGradOnly)"


def test_warnings_name_the_procedural_pass_that_failed(empty_cache: Path) -> None:
    from tests.backend.user_passes.test_user_rewrites import RaisesAfterwards

    forget_warnings()
    ours = xductor.inductor_pass(RaisesAfterwards)
    gm = torch.fx.experimental.proxy_tensor.make_fx(torch.sin, tracing_mode="fake")(torch.ones(4))
    with pytest.warns(FallbackWarning, match="raises_afterwards failed"):
        ours(gm.graph)
    assert [str(n.target) for n in gm.graph.nodes if n.op == "call_function"] == [
        "aten.sin.default"
    ]
    with pytest.raises(StageError, match="half-way"):
        xductor.inductor_pass(RaisesAfterwards, on_error="raise")(gm.graph)
