"""What `explain` says of passes that have no pattern."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx
from xdsl.dialects.builtin import ModuleOp

import xductor
from xductor.ir import GraphOp
from xductor.transforms import TypedPass, graphs_of
from xductor.transforms.editing.replacement import Replacement
from xductor.transforms.explaining.explain import Entry
from xductor.transforms.passes.events import listeners_of
from xductor.transforms.passes.refusals import LeftAlone


def qkv() -> tuple[torch.Tensor, ...]:
    return tuple(torch.randn(2, 4, 16, 8) for _ in range(3))


def capped(q: Any, k: Any, v: Any) -> Any:
    scores = q @ k.transpose(-1, -2)
    scores = 30 * torch.tanh(scores / 30)
    return torch.softmax(scores, -1) @ v


def with_weights(q: Any, k: Any, v: Any) -> Any:
    weights = torch.softmax(q @ k.transpose(-1, -2), -1)
    return weights @ v, weights


def over_rows(q: Any, k: Any, v: Any) -> Any:
    return torch.softmax(q @ k.transpose(-1, -2), -2) @ v


def weighted(q: Any, k: Any, v: Any) -> Any:
    weights = torch.arange(16.0)
    scores = (q @ k.transpose(-1, -2)) * weights
    return torch.softmax(scores, -1) @ v


@pytest.mark.parametrize(
    ("function", "reason", "line", "remedy"),
    [
        (capped, "the scores go through pyfn.torch.tanh", "tanh(scores", "flex_attention"),
        (with_weights, "gives is returned too", "weights = torch.softmax", "does not ask for"),
        (over_rows, "the softmax is over another dim", "torch.softmax(q", "a softmax over the dim"),
        (weighted, "scale depends on the position", "torch.arange(16", "is one number"),
    ],
)
def test_an_attention_that_stays(
    function: Callable[..., Any], reason: str, line: str, remedy: str
) -> None:
    (entry,) = xductor.explain("fuse_attention", function, *qkv()).near
    assert entry.outcome == "refused"
    assert reason in entry.reason
    assert source(entry).endswith("@ v") or "@ v" in source(entry)
    assert entry.obstacle is not None
    assert line in source(entry.obstacle)
    assert remedy in entry.remedies[0]
    assert entry.obstacle.root in str(entry)


def source(entry: Entry) -> str:
    """The user's line of an entry."""
    assert entry.location is not None
    file, line = entry.location
    return Path(file).read_text().splitlines()[line - 1]


def test_where_a_pass_may_begin_and_says_nothing() -> None:
    def shifted(q: Any, k: Any, v: Any) -> Any:
        return (torch.softmax(q @ k.transpose(-1, -2), -1) + 1) @ v

    why = xductor.explain("fuse_attention", shifted, *qkv())
    (entry,) = why.near
    assert entry.outcome == "left alone"
    assert "softmax" in entry.root
    assert "torch.softmax" in source(entry)


def test_where_there_is_nothing_to_begin_at() -> None:
    why = xductor.explain("fuse_attention", lambda q, k, v: torch.sigmoid(q @ k.mT) @ v, *qkv())
    assert why.entries == ()
    assert "have none of the ops that it looks for" in str(why)
    assert "aten.softmax" in str(why)


def test_a_graph_of_another_stage_is_named() -> None:
    graph = make_fx(lambda q, k, v: torch.softmax(q @ k.mT, -1) @ v)(*qkv())
    why = xductor.explain("fuse_attention", xductor.from_fx(graph, stage="joint"))
    assert "it is for pre_grad graphs; this graph is of the joint stage" in str(why)


@dataclass(frozen=True)
class NegNeg(TypedPass):
    """A pass that has no reasons of its own."""

    name = "explained_neg_neg"
    stage = "joint"
    roots = frozenset(("aten.neg.default",))

    def rewrite(self, module: ModuleOp) -> int:
        return sum(map(self._graph, graphs_of(module)))

    def _graph(self, graph: GraphOp) -> int:
        replacement, applied = Replacement(graph), 0
        for outer in replacement.analyses.named(("aten.neg.default",)):
            inner: Any = outer.self_.owner
            if getattr(inner, "name", "") != "aten.neg.default":
                continue
            if replacement.may_replace(outer, inner.self_):
                replacement.replace(outer, inner.self_)
                applied += 1
        return applied


GRAPH = """
fx.graph @forward stage(joint) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  %a = aten.neg.default %x : !fx.tensor<f32[4], cpu>
  %b = aten.neg.default %a : !fx.tensor<f32[4], cpu>
  %sin = aten.sin.default %b : !fx.tensor<f32[4], cpu>
  %out = aten.neg.default %a : !fx.tensor<f32[4], cpu>
  fx.output (%sin, %out)
}
"""


def test_the_contract_that_kept_a_pass_from_replacing_is_told() -> None:
    why = xductor.explain(NegNeg, xductor.parse_ir(GRAPH))
    (matched,), (refused,) = why.matched, why.near
    assert matched.root.startswith("%b")
    assert refused.root.startswith("%out")
    assert "input" in refused.reason
    assert not listeners_of(LeftAlone)


def test_a_pass_says_the_same_with_and_without_a_listener() -> None:
    module = xductor.parse_ir(GRAPH)
    assert NegNeg().rewrite(module) == 1
