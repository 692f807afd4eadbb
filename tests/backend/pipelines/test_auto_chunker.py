"""The chunker in the joint stage, behind Inductor's flag, against Inductor's own."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
import torch._inductor.config as inductor_config
import torch.nn.functional as F
from torch._inductor import metrics
from torch._inductor.fx_passes import auto_chunker, joint_graph
from torch._inductor.fx_passes.auto_chunker.common import CantChunk
from torch.utils._pytree import tree_leaves
from torch.utils.checkpoint import checkpoint

from xductor.backend import stages
from xductor.backend.config import settings
from xductor.backend.records import stage_records
from xductor.backend.steps.typed_steps import all_bridged

_CALL = torch.ops.higher_order.invoke_subgraph
_SMALL: dict[str, Any] = {
    "auto_chunker.enable": True,
    "auto_chunker.output_size_threshold": 64,
    "auto_chunker.amplify_ratio_threshold": 1.0,
    "auto_chunker.num_chunk": 4,
}
ROWS, CLASSES = 64, 128
LABELS = torch.arange(ROWS) * 7 % CLASSES
Loss = Callable[..., torch.Tensor]


def _mean(x: Any, w: Any) -> Any:
    return F.cross_entropy(x @ w, LABELS)


def _inputs(dtype: torch.dtype = torch.float32) -> list[torch.Tensor]:
    torch.manual_seed(0)
    shapes = [(ROWS, 4), (4, CLASSES)]
    return [torch.randn(shape).to(dtype).requires_grad_() for shape in shapes]


def _joint(stage_graphs: Any, loss: Loss = _mean, dtype: torch.dtype = torch.float32) -> Any:
    graphs = stage_graphs(loss, *_inputs(dtype), train=True)
    (graph,) = [one for one in graphs if one.stage == "joint"]
    return graph


def _calls(gm: Any) -> int:
    return len(gm.graph.find_nodes(op="call_function", target=_CALL))


def _run(gm: Any) -> list[Any]:
    torch.manual_seed(0)
    values = [node.meta["val"] for node in gm.graph.find_nodes(op="placeholder")]
    inputs = [
        torch.full((), 1.5, dtype=one.dtype)
        if one.dim() == 0
        else torch.randn(one.shape).to(one.dtype)
        if one.is_floating_point()
        else LABELS
        for one in values
    ]
    return tree_leaves(torch.fx.Interpreter(gm).run(*inputs))


STOCK_CHUNKS: dict[str, Loss] = {
    "mean": _mean,
    "sum": lambda x, w: F.cross_entropy(x @ w, LABELS, reduction="sum"),
    "float": lambda x, w: F.cross_entropy((x @ w).float(), LABELS),
    "temperature": lambda x, w: F.cross_entropy((x @ w) / 2.5, LABELS),
    "soft cap": lambda x, w: F.cross_entropy(torch.tanh((x @ w) / 30) * 30, LABELS),
    "accumulation": lambda x, w: F.cross_entropy(x @ w, LABELS, reduction="sum") / 7,
    "nll": lambda x, w: F.nll_loss(F.log_softmax(x @ w, -1), LABELS),
    "bias": lambda x, w: F.cross_entropy(torch.addmm(w.sum(0), x, w), LABELS),
    "layers before": lambda x, w: F.cross_entropy((x.tanh() * 2) @ w, LABELS),
}
BOTH_REFUSE: dict[str, Loss] = {
    "dropout": lambda x, w: F.cross_entropy(F.dropout(x @ w, 0.1), LABELS),
    "softmax of rows": lambda x, w: F.softmax(x @ w, 0).square().sum(),
    "mean of rows": lambda x, w: (lambda y: F.cross_entropy(y - y.mean(0), LABELS))(x @ w),
    "sort": lambda x, w: F.cross_entropy((x @ w).sort(1)[0], LABELS),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", STOCK_CHUNKS)
def test_where_inductor_chunks(stage_graphs: Any, name: str, dtype: torch.dtype) -> None:
    graph = _joint(stage_graphs, STOCK_CHUNKS[name], dtype)
    whole = graph.run(joint_graph.joint_graph_passes)
    with inductor_config.patch(_SMALL):
        ours = graph.run(stages.joint_graph_passes)
        assert ("auto_chunker", "typed") in [
            (one.name, one.kind) for one in stage_records.recent()[-1].passes
        ]
        stock = graph.run(joint_graph.joint_graph_passes)
    assert [_calls(gm) for gm in (whole, ours, stock)] == [0, 4, 4]
    for one, other, expected in zip(_run(ours), _run(stock), _run(whole), strict=True):
        if expected is None:
            assert one is other is None
            continue
        assert one.stride() == expected.stride()
        _close([one], [expected], dtype)
        if dtype is torch.float32:
            assert torch.equal(one, other)


@pytest.mark.parametrize("name", BOTH_REFUSE)
def test_where_inductor_does_not(stage_graphs: Any, name: str) -> None:
    graph = _joint(stage_graphs, BOTH_REFUSE[name])
    with inductor_config.patch(_SMALL):
        for stage in (stages.joint_graph_passes, joint_graph.joint_graph_passes):
            assert _calls(graph.run(stage)) == 0


def test_bodies_have_values(stage_graphs: Any) -> None:
    """Code generation reads them. Inductor would chunk a graph with tangents again."""
    graph = _joint(stage_graphs)
    with inductor_config.patch(_SMALL):
        gm = graph.run(stages.joint_graph_passes)
    (child,) = [one for _, one in gm.named_children() if isinstance(one, torch.fx.GraphModule)]
    for node in child.graph.nodes:
        if node.op != "output":
            assert node.meta["val"].storage_offset() == 0
            assert "tangent" not in node.name


def test_off_by_default(stage_graphs: Any) -> None:
    gm = _joint(stage_graphs).run(stages.joint_graph_passes)
    assert _calls(gm) == 0
    assert "auto_chunker" not in [one.name for one in stage_records.recent()[-1].passes]


@pytest.mark.parametrize(
    "options",
    [
        {"auto_chunker.amplify_ratio_threshold": 1e9},
        {"auto_chunker.output_size_threshold": 1 << 30},
        {"auto_chunker.enable": False},
        {"cpp_wrapper": True},
    ],
    ids=str,
)
def test_a_graph_that_is_not_chunked(stage_graphs: Any, options: dict[str, Any]) -> None:
    """The stage goes on."""
    with inductor_config.patch({**_SMALL, **options}):
        gm = _joint(stage_graphs).run(stages.joint_graph_passes)
    assert _calls(gm) == 0


def test_eight_chunks_where_nobody_says(stage_graphs: Any) -> None:
    graph = _joint(stage_graphs)
    with inductor_config.patch({**_SMALL, "auto_chunker.num_chunk": None}):
        assert _calls(graph.run(stages.joint_graph_passes)) == 8


def test_metrics(stage_graphs: Any) -> None:
    graph = _joint(stage_graphs)
    before = metrics.num_auto_chunking
    with inductor_config.patch(_SMALL):
        graph.run(stages.joint_graph_passes)
    assert metrics.num_auto_chunking == before + 1


def test_disabled_by_name(stage_graphs: Any) -> None:
    graph = _joint(stage_graphs)
    off = settings.Settings(on_error="raise", disabled_passes=frozenset({"auto_chunker"}))
    with inductor_config.patch(_SMALL), settings.use(off):
        assert _calls(graph.run(stages.joint_graph_passes)) == 0


def test_somebody_elses_chunker(stage_graphs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = _joint(stage_graphs)
    seen: list[Any] = []

    def theirs(gm: Any) -> Any:
        seen.append(gm)
        raise CantChunk("not today")

    monkeypatch.setattr(auto_chunker, "chunk", theirs)
    with inductor_config.patch(_SMALL):
        assert _calls(graph.run(stages.joint_graph_passes)) == 0
    assert len(seen) == 1


def test_inductors_own_where_all_is_bridged(stage_graphs: Any) -> None:
    graph = _joint(stage_graphs)
    with inductor_config.patch(_SMALL), all_bridged():
        gm = graph.run(stages.joint_graph_passes)
    assert _calls(gm) == 4
    assert ("auto_chunker", "bridged") in [
        (one.name, one.kind) for one in stage_records.recent()[-1].passes
    ]


def test_the_log_says_why(stage_graphs: Any, caplog: pytest.LogCaptureFixture) -> None:
    from xductor.transforms.auto_chunker import auto_chunker as typed

    graph = _joint(stage_graphs, BOTH_REFUSE["sort"])
    log = typed._log()
    log.addHandler(caplog.handler)
    log.setLevel(logging.DEBUG)
    try:
        with inductor_config.patch(_SMALL):
            graph.run(stages.joint_graph_passes)
    finally:
        log.removeHandler(caplog.handler)
        log.setLevel(logging.NOTSET)
    (said,) = [one for one in caplog.messages if one.startswith("not chunked")]
    assert "aten.sort.default" in said
    assert "test_auto_chunker.py" in said


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_gradients_of_a_compile(our_stages: None, dtype: torch.dtype, scale: float) -> None:
    """Forward and backward through Dynamo, AOTAutograd and the partitioner."""
    found, expected = _inputs(dtype), _inputs(dtype)
    torch._dynamo.reset()
    with inductor_config.patch(_SMALL):
        before = metrics.num_auto_chunking
        loss = torch.compile(lambda x, w: _mean(x, w).float())(*found)
        (loss * scale).backward()
    assert metrics.num_auto_chunking == before + 1
    eager = _mean(*expected).float()
    (eager * scale).backward()
    _close((loss, *(one.grad for one in found)), (eager, *(one.grad for one in expected)), dtype)


def _close(found: Sequence[Any], expected: Sequence[Any], dtype: torch.dtype) -> None:
    rtol, atol = (0.05, 0.02) if dtype is torch.bfloat16 else (1e-5, 1e-6)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=rtol, atol=atol)


def test_under_a_checkpoint(our_stages: None) -> None:
    """The chunks hold the gradients, so that the backward does not run them again."""

    def loss(x: Any, w: Any) -> Any:
        return checkpoint(lambda x, w: _mean(x.tanh(), w), x, w, use_reentrant=False)

    calls: list[int] = []

    def count(graph: torch.fx.Graph) -> None:
        calls.append(len(graph.find_nodes(op="call_function", target=_CALL)))

    found, expected = _inputs(), _inputs()
    torch._dynamo.reset()
    with inductor_config.patch({**_SMALL, "post_grad_custom_pre_pass": count}):
        value = torch.compile(loss)(*found)
        value.backward()
    assert sorted(calls) == [0, 0, 4]  # the body, the backward, the forward
    eager = loss(*expected)
    eager.backward()
    _close(
        (value, *(one.grad for one in found)),
        (eager, *(one.grad for one in expected)),
        torch.float32,
    )
