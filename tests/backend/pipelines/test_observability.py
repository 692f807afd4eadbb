"""What watches Inductor's passes sees ours: events, names, counters, artifacts, logs."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
import torch._inductor.config as inductor_config
from torch._dynamo.utils import counters
from torch._inductor.fx_passes import joint_graph, post_grad
from torch._logging._internal import LazyTraceHandler, trace_log

from xductor.backend import stages
from xductor.backend.config import settings
from xductor.backend.records import stage_records
from xductor.backend.records.record_content import stage_of
from xductor.transforms.rows import registry

STOCK = {"joint": joint_graph.joint_graph_passes, "post_grad": post_grad.post_grad_passes}
OURS = {"joint": stages.joint_graph_passes, "post_grad": stages.post_grad_passes}


def _function(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Something for each pass: constants, neutral elements, views, permutes, casts, clones."""
    y = x * torch.ones_like(x) - torch.zeros(8)
    y = y.permute(1, 0).permute(1, 0).view(3, 16).view(6, 8)
    late = x.exp()
    y = (y.to(torch.float64).to(torch.float32) @ w).clone()
    return y.neg() * late + torch.rand_like(y)


def _idle(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return (x @ w).relu()


_captured: dict[Any, list[Any]] = {}


@pytest.fixture(scope="module", autouse=True)
def _forget() -> Iterator[None]:
    yield
    _captured.clear()


@pytest.fixture
def graphs(stage_graphs: Any) -> Callable[..., list[Any]]:
    """What the joint and the post-grad stage get for a function; captured once."""

    def capture(function: Callable[..., Any] = _function) -> list[Any]:
        if function not in _captured:
            found = stage_graphs(function, torch.randn(6, 8), torch.randn(8, 8))
            _captured[function] = [graph for graph in found if graph.stage in STOCK]
        return _captured[function]

    return capture


@pytest.fixture
def timed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The events that `dynamo_timed` records of passes."""
    import torch._dynamo.utils as utils

    events: list[str] = []
    stock = utils.dynamo_timed

    @contextmanager
    def recording(key: str, *args: Any, **kwargs: Any) -> Iterator[Any]:
        if key.startswith("pass."):
            events.append(key)
        with stock(key, *args, **kwargs) as inner:
            yield inner

    monkeypatch.setattr(utils, "dynamo_timed", recording)
    return events


@pytest.mark.parametrize("function", [_function, _idle])
def test_events_are_stocks(graphs: Any, timed: list[str], function: Any) -> None:
    """Every event of Inductor's, in its order, whether a pass has something to do or not."""
    for graph in graphs(function):
        timed.clear()
        graph.run(STOCK[graph.stage])
        stock = list(timed)
        timed.clear()
        graph.run(OURS[graph.stage])
        assert [event for event in timed if event in stock] == stock
        # Passes that Inductor keeps in tables have events of their own with us.
        names = {event.rpartition(".")[2] for event in timed} - {
            event.rpartition(".")[2] for event in stock
        }
        declared = {row.name for row in registry.rows() if row.kind == "declared"}
        procedural = {"fix_iota_device", "dead_code_elimination", "stable_topological_sort"}
        ours = {row.name for row in registry.rows() if row.origin == "ours"}
        assert names <= declared | procedural | ours


DISABLED = {
    "joint": ("remove_noop_ops", "constant_fold_uniform_value", "pass_pattern_0"),
    "post_grad": ("reorder_for_locality", "remove_profiler_ops", "remove_noop_ops"),
}


@pytest.mark.parametrize(("stage", "name"), [(s, name) for s in DISABLED for name in DISABLED[s]])
def test_disabled_passes(graphs: Any, stage: str, name: str) -> None:
    (graph,) = [graph for graph in graphs() if graph.stage == stage]
    typed = {
        "constant_fold_uniform_value": {
            "constant_fold_uniform_value", "remove_no_ops", "remove_redundant_views",
        },
        "pass_pattern_0": {"pointless_convert", "fix_iota_device"},
    }.get(name, {name})  # fmt: skip
    with stage_records.record() as records:
        graph.run(OURS[stage])
        with inductor_config.patch(disabled_passes=name):
            graph.run(OURS[stage])
    on, off = ({one.name for one in record.passes} for record in records)
    assert not typed & off
    if name not in ("remove_profiler_ops", "remove_noop_ops"):
        assert typed & on


@pytest.mark.parametrize("part", ["remove_no_ops", "constant_fold_uniform_value"])
def test_a_part_can_be_disabled_alone(graphs: Any, part: str) -> None:
    (graph,) = [graph for graph in graphs() if graph.stage == "joint"]
    with (
        settings.use(settings.current().replace(disabled_passes=[part])),
        stage_records.record() as (records),
    ):
        graph.run(OURS["joint"])
    names = {one.name for one in records[0].passes}
    assert {"remove_no_ops", "constant_fold_uniform_value"} & names == (
        {"remove_no_ops", "constant_fold_uniform_value"} - {part}
    )


def test_a_patched_part_runs_with_the_whole(graphs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody's own `remove_no_ops` is called where Inductor's would be."""
    called: list[int] = []

    def own(gm: Any, zeros: Any, ones: Any) -> None:
        called.append(len(ones))

    (graph,) = [graph for graph in graphs() if graph.stage == "joint"]
    monkeypatch.setattr(joint_graph, "remove_no_ops", own)
    graph.run(OURS["joint"])
    assert called == [1]


def test_the_bisector_can_stop_before_ours(graphs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from torch._inductor.compiler_bisector import CompilerBisector

    def disable(backend: str, subsystem: str, debug_info: Callable[[], str] | None = None) -> bool:
        return debug_info is not None and debug_info() == "constant_fold_uniform_value"

    (graph,) = [graph for graph in graphs() if graph.stage == "joint"]
    monkeypatch.setattr(CompilerBisector, "disable_subsystem", disable)
    with stage_records.record() as records:
        graph.run(OURS["joint"])
    assert "constant_fold_uniform_value" not in {one.name for one in records[0].passes}


def _counted(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Inductor counts what it matches, though it may do nothing then: here it always does."""
    y = (x * torch.ones_like(x)).permute(1, 0).permute(1, 0)
    return y.to(torch.float64).to(torch.float32).view(6, 8) @ w + torch.rand_like(y)


def test_counters_are_stocks(graphs: Any) -> None:
    for graph in graphs(_counted):
        counters.clear()
        graph.run(STOCK[graph.stage])
        stock = dict(counters["inductor"])
        counters.clear()
        with settings.use(settings.current().replace(numerics="fast")):
            graph.run(OURS[graph.stage])
        assert dict(counters["inductor"]) == stock, graph.stage
        assert graph.stage != "joint" or stock["pattern_matcher_count"] >= 2


def test_provenance_names_the_pass(graphs: Any) -> None:
    (graph,) = [graph for graph in graphs() if graph.stage == "joint"]
    with inductor_config.patch({"trace.provenance_tracking_level": 1}):
        gm = graph.run(OURS["joint"])
    sources = {
        source.pass_name for node in gm.graph.nodes for source in node.meta.get("from_node", [])
    }
    assert sources & {"replace_random_passes", "constant_fold_uniform_value", "pass_pattern_0",
                      "pointless_convert", "remove_noop_ops"}  # fmt: skip


# --------------------------------------------------------------------------------- tlparse


class _Artifacts(LazyTraceHandler):
    """Names of the artifacts that go to TORCH_TRACE, and the last payload of each."""

    def __init__(self) -> None:
        super().__init__("a folder that is never made")
        self.names: list[str] = []
        self.payloads: dict[str, str] = {}

    def emit(self, record: logging.LogRecord) -> None:
        metadata = getattr(record, "metadata", {})
        if "artifact" in metadata:
            name = metadata["artifact"]["name"]
            self.names.append(name)
            self.payloads[name] = record.__dict__.get("payload") or ""


@pytest.fixture
def artifacts() -> Iterator[_Artifacts]:
    handler = _Artifacts()
    trace_log.addHandler(handler)
    yield handler
    trace_log.removeHandler(handler)


def _artifacts_of_a_compile(
    artifacts: _Artifacts, function: Callable[..., Any] | None = None
) -> list[str]:
    torch._dynamo.reset()
    artifacts.names.clear()
    with torch.no_grad():
        torch.compile(function or _function)(torch.randn(6, 8), torch.randn(8, 8))
    return list(artifacts.names)


def test_artifacts_are_stocks(
    passes_only: None, artifacts: _Artifacts, request: pytest.FixtureRequest
) -> None:
    stock = _artifacts_of_a_compile(artifacts)
    request.getfixturevalue("our_stages")
    ours = _artifacts_of_a_compile(artifacts)
    assert [name for name in ours if not name.startswith("xductor_")] == stock
    assert "before_joint_graph" in stock


def _of_pieces(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.cat(torch.split(torch.relu(x @ y), [1, 2, 5], 1), dim=1) * 2


def test_an_option_that_fires_has_an_artifact_of_the_graph_behind_it(
    our_stages: None, artifacts: _Artifacts
) -> None:
    options = ("normalization_pass", "split_cat_pass", "merge_splits_pass")
    with inductor_config.patch(pre_grad_fusion_options={one: {} for one in options}):
        names = _artifacts_of_a_compile(artifacts, _of_pieces)
    assert [one for one in options if f"{one}_pre_grad" in names] == ["split_cat_pass"]
    assert "mul: " in artifacts.payloads["split_cat_pass_pre_grad"]
    assert "torch.cat(split" not in artifacts.payloads["split_cat_pass_pre_grad"]


def test_each_stage_goes_to_the_trace(our_stages: None, artifacts: _Artifacts) -> None:
    names = _artifacts_of_a_compile(artifacts)
    ours = [name for name in names if name.startswith("xductor_")]
    assert ours == [
        f"xductor_{what}_{stage}"
        for stage in ("pre_grad", "joint", "post_grad")
        for what in ("before", "after", "record")
    ]
    assert "before the joint stage" not in artifacts.payloads["xductor_before_joint"]
    assert artifacts.payloads["xductor_before_joint"].count("aten.permute.default") == 2
    record = stage_of(json.loads(artifacts.payloads["xductor_record_joint"]))
    assert record.counts()["pointless_permute_pair"] == 1
    assert (record.nodes_before, record.nodes_after) > (record.nodes_after, 0)


def test_a_trace_can_be_read_from_its_folder(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", TRACED],
        env={**os.environ, "TORCH_TRACE": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (log,) = tmp_path.glob("*.log")
    assert '"name": "xductor_record_joint", "encoding": "json"' in log.read_text()


# ------------------------------------------------------------------------------------ logs


def test_the_log_shows_each_stage(
    our_stages: None, caplog: pytest.LogCaptureFixture, artifacts: _Artifacts
) -> None:
    caplog.set_level(logging.DEBUG, logger="xductor")
    _artifacts_of_a_compile(artifacts)
    messages = [one.getMessage() for one in caplog.records if one.name.startswith("xductor.")]
    texts = {
        (when, stage): next(m for m in messages if m.startswith(f"{when} the {stage} "))
        for stage in ("pre_grad", "joint", "post_grad")
        for when in ("before", "after")
    }
    assert "pyfn.torch.ones_like" in texts["before", "pre_grad"]
    assert texts["before", "joint"].count("aten.permute.default") == 2
    assert "aten.permute.default" not in texts["after", "joint"]
    assert all("fx.graph @forward stage(" in text for text in texts.values())


def test_nothing_is_printed_when_log_and_trace_are_off(
    our_stages: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from xductor.backend.stage_runs import ir_logging

    def fail(run: Any) -> str:
        raise AssertionError("log and trace are off")

    monkeypatch.setattr(ir_logging, "_text", fail)
    monkeypatch.setattr(ir_logging._log, "disabled", True)
    assert not ir_logging.is_traced()
    torch._dynamo.reset()
    torch.compile(_function)(torch.randn(6, 8), torch.randn(8, 8))


TRACED = """
import torch
from xductor.backend.run_as_fx.without_codegen import without_codegen

with without_codegen():
    torch.compile(lambda x: x.sin(), backend="xductor")(torch.randn(4))
"""

SCRIPT = """
import torch
import torch._inductor.config as config
from torch.fx.experimental.proxy_tensor import make_fx
import xductor

gm = make_fx(lambda x: (x.exp(), x.neg().abs())[::-1], tracing_mode="fake")(torch.randn(4))
with config.patch(pattern_matcher=False):
    xductor.post_grad_passes(gm, is_inference=True)
print([str(n.target) for n in gm.graph.nodes if n.op == "call_function"][0])
"""


@pytest.mark.parametrize(
    ("variables", "first", "logged"),
    [
        ({"TORCH_LOGS": "+xductor"}, "aten.neg.default", True),
        (
            {"TORCH_LOGS": "xductor", "TORCHINDUCTOR_DISABLED_PASSES": "reorder_for_locality"},
            "aten.exp.default",
            False,
        ),
    ],
)
def test_environment(variables: dict[str, str], first: str, logged: bool) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [first]
    assert ("before the post_grad inference stage" in done.stderr) is logged
    assert ("%exp = aten.exp.default" in done.stderr) is logged
