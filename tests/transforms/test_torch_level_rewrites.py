"""Declared rewrites of torch-level graphs: each spelling, and values and gradients as eager's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import xductor
from tests.before_autograd.captured import graph_module
from xductor.transforms.pieces.pre_grad.remove_split_with_size_one_pass import SPLITS_OF_ONE
from xductor.transforms.pre_grad.apply_gumbel_max_trick_pass import ApplyGumbelMaxTrickPass
from xductor.transforms.pre_grad.einsum_to_pointwise_pass import EinsumToPointwisePass
from xductor.transforms.pre_grad.normalization_pass import NormalizationPass
from xductor.transforms.pre_grad.numpy_compat_normalization import NumpyCompatNormalization
from xductor.transforms.pre_grad.sink_cat_after_pointwise import SINKS
from xductor.transforms.rewriting.declared_pass import pass_of

Function = Callable[..., Any]


def rewritten(one: Any, function: Function, *inputs: torch.Tensor) -> tuple[int, Any, Any]:
    gm = graph_module(function, *inputs)
    module = xductor.from_fx(gm, stage="pre_grad")
    applied = one.rewrite(module)
    xductor.verify(module, level="types")
    return applied, gm, xductor.to_fx(module)


def outcome(gm: Any, inputs: tuple[torch.Tensor, ...]) -> list[torch.Tensor]:
    leaves = [one.detach().clone().requires_grad_() for one in inputs]
    torch.manual_seed(0)
    (result,) = gm(*leaves)
    if not result.requires_grad:
        return [result]
    weights = torch.arange(1.0, result.numel() + 1).reshape(result.shape)
    return [result.detach(), *torch.autograd.grad((result * weights).sum(), leaves)]


def check(one: Any, function: Function, applied: int, *inputs: torch.Tensor) -> None:
    leaves = [one.detach().requires_grad_() for one in inputs]
    found, before, after = rewritten(one, function, *leaves)
    assert found == applied
    for a, b in zip(outcome(after, inputs), outcome(before, inputs), strict=True):
        torch.testing.assert_close(a, b, equal_nan=True)


x, y = torch.randn(3, 4), torch.randn(3, 4)

SINKING: list[tuple[Function, int]] = [
    (lambda x, y: torch.cat([x, y], 1).tanh(), 1),
    (lambda x, y: torch.tanh(torch.cat((x, y), axis=-1)), 1),
    (lambda x, y: F.relu(torch.concat([x, y])), 1),
    (lambda x, y: torch.relu(input=torch.concatenate([x, y, x], dim=1)), 1),
    (lambda x, y: torch.cat([x, y], 1).view(-1).relu(), 1),
    (lambda x, y: torch.cat([x, torch.zeros(0), y]).tanh(), 1),
    (lambda x, y: torch.cat([x, y.double()], 1).tanh(), 0),
    (lambda x, y: F.relu(torch.cat([x, y], 1), inplace=True), 0),
    (lambda x, y: (lambda c: c.tanh() + c)(torch.cat([x, y], 1)), 0),
]


@pytest.mark.parametrize(("function", "applied"), SINKING)
def test_sinking(function: Function, applied: int) -> None:
    check(pass_of(*SINKS)(), function, applied, x, y)


ONES: list[tuple[Function, int]] = [
    (lambda x: torch.split(x, 4, 1)[0] * 2, 1),
    (lambda x: x.split(9, dim=-1)[0] * 2, 1),
    (lambda x: x.split([3])[0] * 2, 1),
    (lambda x: torch.chunk(x, 1, dim=1)[0] * 2, 1),
    (lambda x: x.chunk(1)[0] * 2, 1),
    (lambda x: x.split(2, 1)[0] * 2, 0),
    (lambda x: x.chunk(2, 1)[1] * 2, 0),
]


@pytest.mark.parametrize(("function", "applied"), ONES)
def test_splits_of_one(function: Function, applied: int) -> None:
    check(pass_of(*SPLITS_OF_ONE)(), function, applied, x)


def test_a_split_of_one_that_is_returned() -> None:
    found, before, after = rewritten(pass_of(*SPLITS_OF_ONE)(), lambda x: x.split(4, 1)[0], x)
    assert found == 0
    (result,) = after(x)
    assert result is not x
    assert (before(x)[0] is x) is False


EINSUMS: list[tuple[Function, int]] = [
    (lambda x, w: torch.einsum("bni,bnio->bno", x, w) + 1, 1),
    (lambda x, w: torch.einsum("abc, abcd -> abd", [x, w]).add(1), 1),
    (lambda x, w: torch.add(torch.functional.einsum("xyz,xyzw->xyw", x, w), 2), 1),
    (lambda x, w: 1 + torch.einsum("bni,bnio->bno", x, w), 1),
    (lambda x, w: torch.einsum("bni,bnio->bno", x, w) * 2, 0),
    (lambda x, w: torch.einsum("bni,bnio->bo", x, w) + 1, 0),
    (lambda x, w: torch.einsum("bnn,bnno->bno", x[:, :, :3], w[:, :, :3]) + 1, 0),
]


@pytest.mark.parametrize(("function", "applied"), EINSUMS)
def test_einsum(function: Function, applied: int) -> None:
    check(pass_of(EinsumToPointwisePass)(), function, applied, torch.randn(2, 3, 4),
          torch.randn(2, 3, 4, 5))  # fmt: skip


GUMBELS: list[tuple[Function, int]] = [
    (lambda x: torch.argmax(F.softmax(x, -1) / torch.empty_like(x).exponential_(1.0), -1, True), 1),
    (lambda x: (x.softmax(1) / torch.empty_like(x).exponential_()).argmax(dim=-1), 1),
    (lambda x: torch.argmax(torch.softmax(input=x, dim=0) / torch.empty_like(x).exponential_(),
                            axis=0, keepdims=True), 1),
    (lambda x: torch.argmax(torch.div(x.softmax(-1), torch.empty_like(x).exponential_(1)), 1), 1),
    (lambda x: (x.softmax(0) / torch.empty_like(x).exponential_()).argmax(dim=-1), 0),
    (lambda x: (x.softmax(1) / torch.empty_like(x).exponential_(2.0)).argmax(dim=-1), 0),
    (lambda x: (x.softmax(1) / torch.empty_like(x).exponential_()).argmax(), 0),
]  # fmt: skip


@pytest.mark.parametrize(("function", "applied"), GUMBELS)
def test_gumbel(function: Function, applied: int) -> None:
    check(pass_of(ApplyGumbelMaxTrickPass)(policy="fast"), function, applied, torch.randn(16, 32))


def _many_words(x: torch.Tensor) -> Any:
    a, b = x.split(2, -1)
    c = torch.concat([a, b], axis=-1)
    d = torch.stack(tensors=x.unbind(1), dim=-1)
    e = c.squeeze(0).reshape(-1)
    f = x.clamp(0).detach()
    return c, d, e, f, torch.split(x, [1, 3], dim=-1)[1], torch.clip(x, max=1), torch.squeeze(x)


def test_normalization() -> None:
    one = NormalizationPass()
    found, before, after = rewritten(one, _many_words, x)
    assert found == 10
    for a, b in zip(after(x), before(x), strict=True):
        assert torch.equal(a, b)
    methods = [node.target for node in after.graph.nodes if node.op == "call_method"]
    assert methods == []
    dims = [node.kwargs["dim"] for node in after.graph.nodes if "dim" in node.kwargs]
    assert [dim for dim in dims if dim < 0] == []
    assert one.rewrite(xductor.from_fx(after, stage="pre_grad")) == 0


@pytest.mark.parametrize("dynamic", [False, True])
def test_normalization_of_symbolic_sizes(dynamic: bool) -> None:
    gm = graph_module(lambda x: x.split(2, 0)[0].reshape(-1) + 1, x, dynamic=dynamic)
    module = xductor.from_fx(gm, stage="pre_grad")
    assert NormalizationPass().rewrite(module) == 2
    xductor.verify(module, level="types")


def test_numpy_names() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        total = torch.sum(x, axis=1, keepdims=True)
        return torch.cat([total, torch.add(x1=x, x2=y)], axis=1)

    one = NumpyCompatNormalization()
    check(one, function, 3, x, y)
    gm = graph_module(function, x, y)
    assert one.may_fire(gm.graph)
    _, _, after = rewritten(one, function, x, y)
    words = [key for node in after.graph.nodes for key in node.kwargs]
    assert words == ["dim", "keepdim", "input", "other", "dim"]
    assert not one.may_fire(after.graph)
    module = xductor.from_fx(gm, stage="pre_grad")
    assert one.has_work(module)
    assert one.rewrite(module) == 3
    assert not one.has_work(module)


def test_a_view_made_under_no_grad_is_not_what_it_views() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            (view,) = x.split(9)
        return view * 2 + x

    check(pass_of(*SPLITS_OF_ONE)(), function, 0, torch.randn(3, 4))
