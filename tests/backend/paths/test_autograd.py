"""What PyTorch's autograd and its transforms make of a program: our stages run on all of it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils.checkpoint import (
    CheckpointPolicy,
    checkpoint,
    create_selective_checkpoint_contexts,
)

from tests.backend.paths.through_stages import (
    FORWARD,
    OPTIONS,
    StageRecords,
    chain,
    leaves,
    square,
)


def compiled(function: Callable[..., Any], **keywords: Any) -> Callable[..., Any]:
    return torch.compile(function, backend="xductor", options=OPTIONS, fullgraph=True, **keywords)


def check(function: Callable[..., Any], *inputs: torch.Tensor) -> None:
    """The compiled function against eager: results and gradients."""
    again = leaves(*inputs)
    out, expected = compiled(function)(*inputs), function(*again)
    torch.testing.assert_close(out, expected)
    out.backward(torch.ones_like(out))
    expected.backward(torch.ones_like(out))
    torch.testing.assert_close([x.grad for x in inputs], [x.grad for x in again])


def test_forward_and_backward(stages: StageRecords) -> None:
    check(chain, square(True), square(True))
    assert [(r.stage, r.direction) for r in stages.records[1:]] == [
        ("joint", "joint"),
        ("post_grad", "forward"),
        ("post_grad", "backward"),
    ]
    assert stages.pairs_removed() > 0


def test_compiled_autograd(stages: StageRecords) -> None:
    """The backward is a graph of its own, compiled by the backend of the enclosing compile."""
    x, w = square(True), square(True)
    forward = compiled(chain)

    def step() -> None:
        forward(x, w).backward(torch.ones(4, 4))

    with torch._dynamo.config.patch(compiled_autograd=True):
        torch.compile(step, backend="xductor", options=OPTIONS)()
    assert stages.names() == [*FORWARD, "joint", "post_grad"]
    x2, w2 = leaves(x, w)
    chain(x2, w2).backward(torch.ones(4, 4))
    torch.testing.assert_close((x.grad, w.grad), (x2.grad, w2.grad))


def save_products(_: Any, op: Any, *args: Any, **kwargs: Any) -> CheckpointPolicy:
    saved = op == torch.ops.aten.mm.default
    return CheckpointPolicy.MUST_SAVE if saved else CheckpointPolicy.PREFER_RECOMPUTE


@pytest.mark.parametrize("selective", [False, True], ids=["plain", "context_fn"])
def test_checkpointing(stages: StageRecords, selective: bool) -> None:
    """The checkpointed body is a child of its graph: the pre-grad stage sees both."""
    contexts = functools.partial(create_selective_checkpoint_contexts, save_products)
    keywords = {"context_fn": contexts} if selective else {}

    def with_checkpoint(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return torch.mm(checkpoint(chain, x, w, use_reentrant=False, **keywords), w)

    check(with_checkpoint, square(True), square(True))
    assert stages.names() == ["pre_grad", *FORWARD, "post_grad"]
    assert stages.pairs_removed() > 0


def half(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    with torch.autocast("cpu", torch.bfloat16):
        return chain(x, w)


@pytest.mark.slow
@pytest.mark.parametrize("inside", [True, False], ids=["inside", "outside"])
def test_autocast(stages: StageRecords, inside: bool) -> None:
    x, w = square(), square()
    if inside:
        out = compiled(half)(x, w)
    else:
        with torch.autocast("cpu", torch.bfloat16):
            out = compiled(chain)(x, w)
    assert out.dtype is torch.bfloat16
    assert stages.names() == FORWARD
    assert stages.pairs_removed() == 1
    torch.testing.assert_close(out, half(x, w))


def gradient(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.func.vjp(lambda x: chain(x, w), x)[1](w)[0]


def mapped(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.func.vmap(chain, in_dims=(0, None))(x.expand(2, 4, 4), w)


def directional(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.func.jvp(lambda x: chain(x, w), (x,), (w,))[1]


def differentiated(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.func.grad(lambda x: torch.dot(chain(x, w)[0], w[0]))(x)


@pytest.mark.parametrize("transform", [gradient, mapped, directional])
def test_functional_transforms(
    stages: StageRecords, transform: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
) -> None:
    x, w = square(), square()
    torch.testing.assert_close(compiled(transform)(x, w), transform(x, w))
    assert stages.names() == FORWARD


@pytest.mark.slow
def test_grad_transform(stages: StageRecords) -> None:
    x, w = square(), square()
    torch.testing.assert_close(compiled(differentiated)(x, w), differentiated(x, w))
    assert stages.names() == FORWARD
