"""Attention in the bodies of activation checkpoints, from Dynamo to the graph that is generated.

What is fused in there may be computed again, whether AOTAutograd partitions the graph or not: with
gradients, with none though grad mode is on, with a result that is detached, and where the backward
is part of the graph. Values and gradients against eager; the graphs run as FX.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._dynamo.utils import counters
from torch._inductor import config
from torch.utils.checkpoint import (
    CheckpointPolicy,
    checkpoint,
    create_selective_checkpoint_contexts,
)

from tests.transforms.attention.spelling import bhsd
from xductor.backend.run_as_fx.without_codegen import without_codegen

Function = Callable[..., Any]


def _attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.softmax(q @ k.mT * 0.25, -1) @ v


def _in_checkpoint(body: Function, *inputs: Tensor, **keywords: Any) -> Any:
    return checkpoint(body, *inputs, use_reentrant=False, **keywords)


def _leaves(result: Any) -> list[Tensor]:
    return list(result) if isinstance(result, tuple | list) else [result]


def _run(function: Function, wanting: str, writes: bool) -> list[Tensor]:
    """Results and gradients, from the same numbers each time.

    What is written to must not be a leaf, and is one of the results.
    """
    torch.manual_seed(0)
    inputs = [
        one.clone().requires_grad_(name in wanting) for name, one in zip("qkv", bhsd(), strict=True)
    ]
    given = [one * 1.0 for one in inputs] if writes else inputs
    found = _leaves(function(*given)) + (given if writes else [])
    wanted = [one for one in inputs if one.requires_grad]
    graded = [one.square().sum() for one in found if one.requires_grad]
    gradients: Sequence[Any] = ()
    if graded:
        gradients = torch.autograd.grad(sum(graded), wanted, allow_unused=True)  # type: ignore[arg-type]
    return [one.detach() for one in (*found, *gradients) if one is not None]


def _compare(
    function: Function, wanting: str, *, fused: int, dynamic: bool = False, writes: bool = False
) -> None:
    torch._dynamo.reset()
    counters.clear()
    options = {"xductor.on_error": "raise"}
    compiled = torch.compile(
        function, backend="xductor", options=options, fullgraph=True, dynamic=dynamic
    )
    with without_codegen():
        found = _run(compiled, wanting, writes)
    torch.testing.assert_close(found, _run(function, wanting, writes), atol=1e-5, rtol=1e-5)
    assert counters["inductor"]["fuse_attention"] == fused


def _plain(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return _in_checkpoint(_attend, q, k, v) + 1


def _nested(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    def outer(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return _in_checkpoint(_attend, q.sin(), k, v).cos()

    return _in_checkpoint(outer, q, k, v)


def _detached(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return _in_checkpoint(_attend, q, k, v).detach() * 2


def _no_grad_inside(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    def body(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        with torch.no_grad():
            return _attend(q, k, v)

    return _in_checkpoint(body, q, k, v) * q


def _one_after_another(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return _in_checkpoint(_attend, _in_checkpoint(_attend, q, k, v), k, v)


def _beside_a_draw(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return _in_checkpoint(_attend, torch.nn.functional.dropout(q, 0.0), k, v)


@pytest.mark.parametrize(
    ("function", "wanting", "fused"),
    [
        (_plain, "", 1),
        (_plain, "v", 1),
        (_nested, "", 1),
        (_nested, "qkv", 1),
        (_detached, "qkv", 1),
        (_no_grad_inside, "", 1),
        (_no_grad_inside, "qkv", 1),
        (_one_after_another, "qk", 2),
        (_beside_a_draw, "", 1),
    ],
)
def test_what_is_fused_may_be_computed_again(function: Function, wanting: str, fused: int) -> None:
    _compare(function, wanting, fused=fused)


@pytest.mark.parametrize(("function", "wanting"), [(_plain, ""), (_plain, "qkv"), (_detached, "v")])
def test_symbolic_sizes(function: Function, wanting: str) -> None:
    _compare(function, wanting, fused=1, dynamic=True)


def test_grad_mode_within_no_grad() -> None:
    def with_grad(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        with torch.enable_grad():
            return _plain(q, k, v)

    with torch.no_grad():
        _compare(with_grad, "", fused=1)


@pytest.mark.parametrize("wanting", ["qkv", "v"])
def test_the_backward_is_part_of_the_graph(wanting: str) -> None:
    """What is computed again there gives the gradients of what was computed first."""

    def step(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, ...]:
        wanted = [one for one, name in ((q, "q"), (k, "k"), (v, "v")) if name in wanting]
        return torch.autograd.grad(_in_checkpoint(_attend, q, k, v).square().sum(), wanted)

    with torch._dynamo.config.patch(trace_autograd_ops=True):
        _compare(step, wanting, fused=1)


def test_a_draw_is_refused_still() -> None:
    """As by Inductor: nothing keeps the state of the generator in a graph without a partition."""

    def drops(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        def body(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            return torch.nn.functional.dropout(_attend(q, k, v), 0.5)

        return _in_checkpoint(body, q, k, v)

    with pytest.raises(Exception, match="does not support RNG ops"):
        _compare(drops, "", fused=1)


# Policies.


def _policy(_: Any, op: Any, *args: Any, **kwargs: Any) -> CheckpointPolicy:
    saved = op in (torch.ops.aten.bmm.default, torch.ops.aten.mm.default)
    return CheckpointPolicy.MUST_SAVE if saved else CheckpointPolicy.PREFER_RECOMPUTE


def _contexts() -> Any:
    return create_selective_checkpoint_contexts(_policy)


def _selective(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return _in_checkpoint(_attend, q, k, v, context_fn=_contexts)


def _within_a_selective_one(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return _in_checkpoint(_plain, q, k, v, context_fn=_contexts)


def _around_a_selective_one(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return _in_checkpoint(lambda *inputs: _selective(*inputs).sin(), q, k, v)


def _beside_a_selective_one(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return _selective(q, k, v) + _plain(q, k, v)


@pytest.mark.parametrize("wanting", ["", "qkv"])
@pytest.mark.parametrize(
    ("function", "fused"),
    [
        (_selective, 0),
        (_within_a_selective_one, 0),
        (_around_a_selective_one, 0),
        (_beside_a_selective_one, 1),
    ],
)
def test_a_policy_names_the_ops_of_the_body(function: Function, fused: int, wanting: str) -> None:
    _compare(function, wanting, fused=fused)


# What the graph around a body writes.


def _result_is_written(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return _in_checkpoint(_attend, q, k, v * 1.0).mul_(2)


def _part_of_the_result_is_written(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    o = _in_checkpoint(_attend, q, k, v)
    o[:, 1].zero_()
    return o


def _written_two_graphs_up(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    def outer(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return _in_checkpoint(_attend, q, k, v)

    return _in_checkpoint(outer, q, k, v).add_(1)


def _written_inside(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return _in_checkpoint(lambda q, k, v: _attend(q, k, v).clamp_(min=-0.1), q, k, v)


@pytest.mark.parametrize("wanting", ["v", "qkv"])
@pytest.mark.parametrize(
    "function",
    [
        _result_is_written,
        _part_of_the_result_is_written,
        _written_two_graphs_up,
        _written_inside,
    ],
)
def test_what_is_written_around_it_is_not_kept(function: Function, wanting: str) -> None:
    _compare(function, wanting, fused=0)


def test_what_is_written_beside_it_does_not_matter() -> None:
    def beside(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        o = torch.nn.functional.relu(_in_checkpoint(_attend, q, k, v))
        return torch.add(o.sin().mul_(2), o)

    _compare(beside, "qkv", fused=1)


# Results that nobody uses.

# Eager computes a body again where it keeps something for the backward: these keep nothing.


def _unused(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    def body(q: Tensor, v: Tensor) -> Tensor:
        _attend(q * 1.0, q * 1.0, q * 1.0)
        q.zero_()
        return v * 2.0

    return _in_checkpoint(body, q, v)


def _unused_and_written_later(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    def body(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        q.mul_(2)
        _attend(q * 1.0, k * 1.0, k * 1.0)
        return v.transpose(0, 1)

    out = _in_checkpoint(body, q, k, v)
    k.add_(q)
    return out


def _used_by_what_is_unused(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    def body(q: Tensor, v: Tensor) -> Tensor:
        _attend(_attend(q * 1.0, q * 1.0, q * 1.0) * 2.0, q * 1.0, q * 1.0).sum()
        q[0] = 1.0
        return -v

    return _in_checkpoint(body, q, v)


def _unused_in_the_body_of_a_view(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    def body(q: Tensor, v: Tensor) -> Tensor:
        _attend(q * 1.0, q * 1.0, v * 1.0)
        return q.mul_(2).mT

    return _in_checkpoint(body, q, v)


def _unused_in_an_inner_one(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return _in_checkpoint(lambda q, v: _unused(q, q, v) * 2.0, q, v)


def _unused_in_one_of_two(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return _unused(q, k, v) + _attend(v * 1.0, v * 1.0, v * 1.0)


@pytest.mark.parametrize(
    ("function", "fused"),
    [
        (_unused, 1),
        (_unused_and_written_later, 1),
        (_used_by_what_is_unused, 2),
        (_unused_in_the_body_of_a_view, 1),
        (_unused_in_an_inner_one, 1),
        (_unused_in_one_of_two, 2),
    ],
)
def test_what_nobody_uses_keeps_nothing(function: Function, fused: int) -> None:
    """Its operands are not kept for the backward, so that they may be written."""
    with config.patch(fallback_random=True):
        _compare(function, "qkv", fused=fused, writes=True)


# Results that the backward does not need, of operands that are computed again.


def _of_the_forward_alone(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    copy = _in_checkpoint(lambda v, q: q + 0, v, q)
    y = q.add_(q).sin()
    with torch.no_grad():
        return _attend(q * 1.0, copy, copy), y


def _of_the_forward_alone_and_called_so(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    copy = _in_checkpoint(lambda v, q: q + 0, v, q)
    y = q.add_(q).sin()
    with torch.no_grad():
        return torch.nn.functional.scaled_dot_product_attention(q, copy, copy), y


def _beside_a_kept_product(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """The backward needs what is computed of the copy, which a product keeps it from."""
    copy = _in_checkpoint(lambda v, q: q + 0, v, q)
    y = (copy @ k.detach().mT).sin()
    q.add_(q)
    with torch.no_grad():
        return _attend(copy, copy, copy), y


def _in_the_checkpoint_and_detached(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    def body(q: Tensor, v: Tensor) -> Tensor:
        return _attend(q + 0, v * 1.0, v + 0).detach()

    o = _in_checkpoint(body, q, v)
    return o.cos(), q.add_(v).sin()


@pytest.mark.parametrize(
    ("function", "fused"),
    [
        (_of_the_forward_alone, 1),
        (_of_the_forward_alone_and_called_so, 0),
        (_beside_a_kept_product, 1),
        (_in_the_checkpoint_and_detached, 1),
    ],
)
def test_what_the_backward_does_not_need_is_not_kept(function: Function, fused: int) -> None:
    with config.patch(fallback_random=True):
        _compare(function, "qkv", fused=fused, writes=True)


def test_an_unused_draw_stays() -> None:
    """As in Inductor, and so do the numbers of those behind it."""

    def draws(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        torch.nn.functional.scaled_dot_product_attention(q, k, v, dropout_p=0.5)
        return torch.nn.functional.dropout(q, 0.5)

    with config.patch(fallback_random=True):
        _compare(draws, "q", fused=0)
