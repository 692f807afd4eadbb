"""Inductor's chunker, behind its flag, in our joint stage: through the bridge, at its place."""

from __future__ import annotations

from typing import Any

import torch
import torch._inductor.config as inductor_config
import torch.nn.functional as F
from torch._inductor.fx_passes import joint_graph

from xductor.backend import ledger, stages

_CALL = torch.ops.higher_order.invoke_subgraph
_SMALL: dict[str, Any] = {
    "auto_chunker.enable": True,
    "auto_chunker.output_size_threshold": 64,
    "auto_chunker.amplify_ratio_threshold": 1.0,
    "auto_chunker.num_chunk": 4,
}


def _loss(x: Any, w: Any, labels: Any) -> Any:
    return F.cross_entropy(x @ w, labels)


def _joint(stage_graphs: Any) -> Any:
    x = torch.randn(64, 4, requires_grad=True)
    w = torch.randn(4, 128, requires_grad=True)
    graphs = stage_graphs(_loss, x, w, torch.arange(64), train=True)
    (graph,) = [one for one in graphs if one.stage == "joint"]
    return graph


def test_as_inductor(stage_graphs: Any) -> None:
    graph = _joint(stage_graphs)
    with inductor_config.patch(_SMALL):
        ours = graph.run(stages.joint_graph_passes)
        names = [(one.name, one.kind) for one in ledger.recent()[-1].passes]
        stock = graph.run(joint_graph.joint_graph_passes)
    calls = [len(gm.graph.find_nodes(op="call_function", target=_CALL)) for gm in (ours, stock)]
    assert calls == [4, 4]
    assert ("auto_chunker", "bridged") in names
    torch.manual_seed(0)
    inputs = [torch.randn(64, 4), torch.randn(4, 128), torch.arange(64), torch.tensor(1.0)]
    found, expected = (torch.fx.Interpreter(gm).run(*inputs) for gm in (ours, stock))
    for one, other in zip(found, expected, strict=True):
        assert one is other is None or torch.equal(one, other)


def test_off_by_default(stage_graphs: Any) -> None:
    gm = _joint(stage_graphs).run(stages.joint_graph_passes)
    assert not gm.graph.find_nodes(op="call_function", target=_CALL)
    assert "auto_chunker" not in [one.name for one in ledger.recent()[-1].passes]


def test_a_graph_that_cannot_be_chunked(stage_graphs: Any) -> None:
    """Nothing is amplified here: the stage goes on."""
    with inductor_config.patch({**_SMALL, "auto_chunker.amplify_ratio_threshold": 1e9}):
        gm = _joint(stage_graphs).run(stages.joint_graph_passes)
    assert not gm.graph.find_nodes(op="call_function", target=_CALL)
