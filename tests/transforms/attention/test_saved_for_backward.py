"""Attention whose operands or result are written after it: what autograd keeps must not be.

The graphs run under autograd as they come out of the pass, so a value that is kept and written
raises as it does in eager.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.transforms.attention.fused import compare, copies, fused
from tests.transforms.attention.spelling import bhsd
from xductor.backend.run_as_fx.without_codegen import without_codegen

Function = Callable[..., Any]
_REASON = "for its backward"


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


def _attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.softmax(q @ k.mT * 0.3, -1) @ v


def _inputs(wanting: str) -> tuple[Tensor, ...]:
    """Query, key and value, of which those named want a gradient."""
    given = bhsd()
    for name, one in zip("qkv", given, strict=True):
        one.wants_grad = name in wanting  # type: ignore[attr-defined]
    return given


# What eager computes, and a fused call would raise for.


def _result(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return _attend(q, k, v * 1.0).mul_(2)


def _result_under_no_grad(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    o = _attend(q, k, v * 1.0)
    with torch.no_grad():
        o.clamp_(-0.1, 0.1)
    return o


def _view_of_the_result(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    o = _attend(q, k, v * 1.0)
    o.transpose(1, 2)[:, 1:].zero_()
    return o


def _sliced_result(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    o = _attend(q, k, v)
    o[:, 0] = 1.0
    return o.sin()


def _detached_result(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    o = _attend(q, k, v)
    o.detach().add_(1.0)
    return o


def _query(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    o = _attend(q, k, v * 1.0)
    q[0].zero_()
    return o + q


def _computed_query(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    scaled = q.sin()
    o = _attend(scaled, k, v)
    scaled += 1.0
    return o + scaled


def _key(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    o = _attend(q, k, v)
    k.transpose(-1, -2).mul_(2)
    return o


def _value(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    w = v.clone()
    weights = torch.softmax(q @ k.mT, -1)
    o = weights @ w
    w.zero_()
    return o


def _cache_of_keys(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    cache = torch.zeros_like(k)
    cache.copy_(k)
    o = _attend(q, cache, v)
    cache[:, :, 0].fill_(3.0)
    return o


@pytest.mark.parametrize(
    ("function", "wanting"),
    [
        (_result, "v"),
        (_result, "qkv"),
        (_result_under_no_grad, "v"),
        (_view_of_the_result, "v"),
        (_sliced_result, "v"),
        (_sliced_result, "qk"),
        (_detached_result, "v"),
        (_query, "v"),
        (_computed_query, "v"),
        (_key, "v"),
        (_cache_of_keys, "v"),
    ],
)
@pytest.mark.parametrize("dynamic", [False, True])
def test_what_is_kept_and_written_stays_spelled_out(
    function: Function, wanting: str, dynamic: bool
) -> None:
    found = compare(function, _inputs(wanting), grad=True, dynamic=dynamic)
    assert found.outcome.count == 0
    assert any(_REASON in reason for reason in found.outcome.reasons), found.outcome.reasons
    assert max(found.forward, found.backward or 0.0) == 0


@pytest.mark.parametrize("function", [_result, _view_of_the_result, _query, _computed_query, _key])
def test_without_gradients_they_are_fused(function: Function) -> None:
    found = compare(function, _inputs(""))
    assert found.outcome.count == 1
    assert found.forward < 2e-6


# What eager raises for: the error stays.


def _weights(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    weights = torch.softmax(q @ k.mT, -1)
    return weights.mul_(2) @ v


def _query_that_is_kept(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    scaled = q.sin()
    o = _attend(scaled, k, v)
    scaled.zero_()
    return o


@pytest.mark.parametrize(
    ("function", "wanting"),
    [(_query_that_is_kept, "k"), (_query_that_is_kept, "qkv"), (_value, "q"), (_value, "qkv")],
)
def test_what_eager_raises_for(function: Function, wanting: str) -> None:
    run, outcome = fused(function)
    for call in (function, run):
        given = copies(_inputs(wanting), grad=True)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            call(*given).sum().backward()
    assert outcome.count == 0


def test_weights_that_are_written() -> None:
    """The softmax keeps its result; were it fused, the write would be part of what is fused."""
    run, _ = fused(_weights)
    for call in (_weights, run):
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            call(*copies(_inputs("qkv"), grad=True)).sum().backward()


# What is written, and concerns nobody who keeps it.


def _earlier_write(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    q = q * 1.0
    q.mul_(0.5)
    return _attend(q, k, v)


def _scores_in_place(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    scores = q @ k.mT
    scores *= 0.3
    return torch.softmax(scores, -1) @ v


def _other_write(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    o = _attend(q, k, v)
    return o.sin().mul_(2)


def _copy_is_written(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    o = _attend(q, k, v)
    return o.clone().mul_(2) + o


def _query_without_need(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    with torch.no_grad():
        o = _attend(q, k, v)
    q = q * 1.0
    return o + v + q.add_(1.0)


@pytest.mark.parametrize(
    "function",
    [_earlier_write, _scores_in_place, _other_write, _copy_is_written, _query_without_need],
)
@pytest.mark.parametrize("wanting", ["v", "qkv"])
def test_other_writes_do_not_keep_it_from_being_fused(function: Function, wanting: str) -> None:
    found = compare(function, _inputs(wanting), grad=True)
    assert found.outcome.count == 1, found.outcome.reasons
    assert max(found.forward, found.backward or 0.0) < 2e-6


def test_a_buffer_that_is_written_beside_it() -> None:
    """Inputs with storages of their own are told apart: statistics may be kept."""

    class Counting(torch.nn.Module):
        seen: Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("seen", torch.zeros(()))

        def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            o = _attend(q, k, v)
            self.seen += 1
            return o

    run, outcome = fused(Counting())
    run(*copies(_inputs("qkv"), grad=True)).sum().backward()
    assert outcome.count == 1, outcome.reasons


def test_inputs_that_overlap() -> None:
    """The query is a part of what is written: they share the counter that autograd looks at."""

    def overlapping(whole: Tensor, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        o = _attend(q, k, v)
        whole.zero_()
        return o

    _, k, v = bhsd()
    whole = torch.randn(2, *k.shape)
    run, outcome = fused(overlapping)
    run(whole, whole[0], k, v.requires_grad_()).sum().backward()
    assert outcome.count == 0


def test_a_caller_that_writes_a_result_is_told() -> None:
    """What happens behind the graph is not known to it: never silently wrong gradients."""
    compiled = torch.compile(_attend, backend="xductor", options={"xductor.on_error": "raise"})
    inputs = [one.requires_grad_() for one in bhsd()]
    with without_codegen():
        written, copied = compiled(*inputs), compiled(*inputs).clone()
        with torch.no_grad():
            written.mul_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            written.sum().backward()
        copied.mul_(2).sum().backward()
    found = [one.grad for one in inputs]
    expected = torch.autograd.grad(_attend(*inputs).mul(2).sum(), inputs)
    torch.testing.assert_close(found, list(expected), atol=1e-5, rtol=1e-5)
