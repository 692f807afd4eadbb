"""`remove_assert_ops`."""

from __future__ import annotations

from typing import Any

import torch
from torch._inductor.fx_passes import post_grad
from torch.fx.experimental.proxy_tensor import make_fx

from xductor.transforms.post_grad.remove_assert_ops import RemoveAssertOps

aten = torch.ops.aten


def _asserting(x: Any) -> Any:
    y = x + 1
    aten._assert_tensor_metadata(y, None, None, torch.float32)
    aten._assert_async.msg(y.sum() > 0, "the sum is positive")
    aten._assert_tensor_metadata(x, None, None, torch.float32)
    return y * 2


def test_assertions_about_metadata_go(trace: Any) -> None:
    x = torch.ones(3)
    case = trace(_asserting, x, stage="post_grad")
    assert case.ops.count("aten._assert_tensor_metadata.default") == 2
    assert case.run(RemoveAssertOps()) == 2
    assert "aten._assert_tensor_metadata.default" not in case.ops
    case.check_values(x)


def test_assertions_about_values_stay(trace: Any) -> None:
    case = trace(_asserting, torch.ones(3), stage="post_grad")
    case.run(RemoveAssertOps())
    assert "aten._assert_async.msg" in case.ops


def test_nothing_to_do(trace: Any) -> None:
    assert trace(lambda x: x + 1, torch.ones(3)).run(RemoveAssertOps()) == 0
    assert not RemoveAssertOps.may_apply(make_fx(lambda x: x + 1)(torch.ones(3)).graph)


def test_parity_with_inductor(trace: Any) -> None:
    x = torch.ones(3)
    case = trace(_asserting, x)
    stock = make_fx(_asserting, tracing_mode="fake")(x)
    before = len(stock.graph.nodes)
    assert RemoveAssertOps.may_apply(stock.graph)
    post_grad.remove_assert_ops(stock.graph)
    assert case.run(RemoveAssertOps()) == before - len(stock.graph.nodes)
