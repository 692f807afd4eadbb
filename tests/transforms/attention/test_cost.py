"""What the attention pass costs: nothing without attention, and each call is read once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.fx as fx
from torch import Tensor

from tests.transforms.attention.fused import fused
from xductor.ir.python import targets
from xductor.transforms.attention.replacement import Options
from xductor.transforms.pre_grad.fuse_attention import FuseAttention


def _attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.softmax(q @ k.transpose(-1, -2), -1) @ v


def _classifier(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.softmax(q @ k + v, -1)


def _mlp(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.relu(q @ k) @ v


def _methods(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return q.matmul(k).softmax(-1).bmm(v)


def _einsum(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    scores = torch.einsum("bqd,bkd->bqk", q, k).exp()
    return torch.einsum("bqk,bkd->bqd", scores / scores.sum(-1, True), v)


@pytest.mark.parametrize(
    ("function", "expected"),
    [(_attention, True), (_methods, True), (_einsum, True), (_classifier, False), (_mlp, False)],
    ids=lambda one: getattr(one, "__name__", str(one)),
)
def test_only_graphs_with_products_and_a_softmax_are_lowered(
    function: Callable[..., Any], expected: bool
) -> None:
    assert FuseAttention.may_apply(fx.symbolic_trace(function).graph) is expected


def _blocks(count: int) -> Callable[..., Any]:
    def run(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        for _ in range(count):
            scores = (q @ k.transpose(-1, -2)) * 0.5
            q = torch.softmax(scores.float(), -1).to(q.dtype).matmul(v).tanh()
        return q

    return run


def test_calls_that_are_alike_are_bound_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight blocks bind as often as two: the cost of a further block is that of looking at it."""
    inputs = [torch.randn(2, 3, 8, 4) for _ in "qkv"]
    bound: Counter[str] = Counter()
    for name in ("bind", "bind_method"):
        stock = getattr(targets, name)

        def counting(target: Any, *args: Any, stock: Any = stock, name: str = name) -> Any:
            bound[name] += 1
            return stock(target, *args)

        monkeypatch.setattr(targets, name, counting)
    counts: list[int] = []
    for blocks in (2, 8):
        torch._dynamo.reset()
        bound.clear()
        run, outcome = fused(_blocks(blocks), Options())
        run(*inputs)
        assert outcome.count == blocks
        counts.append(bound.total())
    assert counts[1] <= counts[0]
