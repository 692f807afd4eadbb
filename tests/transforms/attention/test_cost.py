"""What the attention pass costs: nothing without attention, and each call is read once."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.fx as fx
import torch.nn.functional as F
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.passes.fake_tensor_prop import FakeTensorProp

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


def _of_no_product(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.softmax(q, -1) @ k @ v


def _capped(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.softmax((q @ k).tanh().mul(50.0) + v, -1) @ v


def _capped_and_not(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return _capped(q, k, v) + _attention(q, k, v)


def _recurrence(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.exp(q @ k) @ v


def _added_in_place(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    bias = torch.zeros_like(q)
    bias.add_(q @ k)
    return torch.softmax(bias, -1) @ v


def _of_packets(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    bias = torch.zeros_like(q)
    torch.ops.aten.add_.Tensor(bias, q @ k)
    exponents = torch.ops.aten.exp.default(bias)
    return exponents / torch.ops.aten.sum.dim_IntList(exponents, [-1], True) @ v


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (_attention, True),
        (_methods, True),
        (_einsum, True),
        (_added_in_place, True),
        (_of_packets, True),
        (_capped_and_not, True),
        (_classifier, False),
        (_mlp, False),
        (_of_no_product, False),
        (_capped, False),
        (_recurrence, False),
    ],
    ids=lambda one: getattr(one, "__name__", str(one)),
)
def test_only_graphs_with_products_and_a_softmax_are_lowered(
    function: Callable[..., Any], expected: bool
) -> None:
    assert FuseAttention.may_apply(fx.symbolic_trace(function).graph) is expected


def _with_dropout(p: Any = 0.1, training: Any = True, **kwargs: Any) -> Callable[..., Any]:
    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        weights = torch.softmax(q @ k.transpose(-1, -2), -1)
        return F.dropout(F.dropout(weights, p, training, **kwargs) @ v, 0.1, True)

    return attend


def _dropped_with_a_sum(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    scores = torch.exp(q @ k.transpose(-1, -2))
    return torch.dropout(scores / scores.sum(-1, True), 0.1, True).to(q.dtype) @ v


def _written_to_another(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    held = torch.ones_like(q)
    held.mul_(torch.softmax(q @ k.transpose(-1, -2), -1))
    return held @ v


def _two(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return _with_dropout()(q, k, v) + _attention(q, k, v)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (_attention, True),
        (_with_dropout(), False),
        (_with_dropout(p=1), False),
        (_with_dropout(inplace=True), False),
        (_with_dropout(p=0.0), True),
        (_with_dropout(training=False), True),
        (_dropped_with_a_sum, False),
        (_written_to_another, True),
        (_two, True),
    ],
)
@pytest.mark.parametrize("device", ["cpu", "cuda", "mtia"])
def test_only_what_a_kernel_may_take_is_lowered(
    function: Callable[..., Any], expected: bool, device: str
) -> None:
    with FakeTensorMode() as mode:
        inputs = [torch.empty(2, 4, 4, device=device, dtype=torch.float16) for _ in "qkv"]
        gm = fx.symbolic_trace(function)
        FakeTensorProp(gm, mode=mode).propagate_dont_convert_inputs(*inputs)
    takes_dropout = device == "cuda"
    wanted = device != "mtia" and (expected or takes_dropout)
    assert FuseAttention.may_apply(gm.graph) is wanted


def test_a_write_by_an_operator_is_followed() -> None:
    graph = fx.symbolic_trace(_written_to_another).graph
    (write,) = graph.find_nodes(op="call_method", target="mul_")
    with graph.inserting_before(write):
        write.replace_all_uses_with(graph.call_function(operator.imul, write.args))
    graph.erase_node(write)
    assert FuseAttention.may_apply(graph)


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
