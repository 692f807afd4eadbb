"""Operands that the program writes: through another tensor, or after a copy was kept of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import xductor
from xductor.backend.run_as_fx.without_codegen import without_codegen

Program = Callable[..., torch.Tensor]


def attention(q: Any, k: Any, v: Any) -> torch.Tensor:
    return torch.softmax(q @ k.mT, -1) @ v


def query_written_by_detached(q: Any, k: Any, v: Any) -> torch.Tensor:
    q2 = q.sin()
    q2.detach().mul_(3)
    return attention(q2, k, v)


def query_written_by_view_of_detached(q: Any, k: Any, v: Any) -> torch.Tensor:
    q2 = q.sin()
    q2.detach()[:].add_(3)
    return attention(q2, k, v)


def key_written_by_detached(q: Any, k: Any, v: Any) -> torch.Tensor:
    k2 = k.sin()
    k2.detach().mul_(3)
    return attention(q, k2, v)


def value_written_by_detached(q: Any, k: Any, v: Any) -> torch.Tensor:
    w = k * 2
    w.detach().mul_(2)
    return attention(k, v, w)


def detached_is_written_and_read(q: Any, k: Any, v: Any) -> torch.Tensor:
    q2 = q.sin()
    d = q2.detach()
    d.mul_(3)
    return attention(d, k, v) + q2


def written_without_grad(q: Any, k: Any, v: Any) -> torch.Tensor:
    q2 = q.sin()
    with torch.no_grad():
        q2.mul_(3)
    return attention(q2, k, v)


def written_in_place(q: Any, k: Any, v: Any) -> torch.Tensor:
    q2 = q.sin()
    q2.mul_(3)
    return attention(q2, k, v)


WRITTEN = [
    query_written_by_detached,
    query_written_by_view_of_detached,
    key_written_by_detached,
    value_written_by_detached,
    detached_is_written_and_read,
    written_without_grad,
    written_in_place,
]


def copy_is_read_after_write(q: Any, k: Any, v: Any) -> torch.Tensor:
    v1 = v.clone()
    o = attention(k, v1, q)
    v.zero_()
    return attention(v1, k, o)


def copy_is_read_after_write_to_part(q: Any, k: Any, v: Any) -> torch.Tensor:
    v1 = v.clone()
    o = attention(k, v1, q)
    v[..., 0].zero_()
    return attention(v1, k, o)


def copied_value(q: Any, k: Any, v: Any) -> torch.Tensor:
    v1 = v.contiguous().clone()
    v.mul_(2)
    return attention(q, k, v1)


def copied_intermediate_key(q: Any, k: Any, v: Any) -> torch.Tensor:
    k1 = k * 2
    k2 = k1.clone()
    k1.neg_()
    return attention(q, k2, v) + k1.sum()


def transposed_copy(q: Any, k: Any, v: Any) -> torch.Tensor:
    k1 = k.mT.clone()
    k.zero_()
    return torch.softmax(q @ k1, -1) @ v


COPIED = [
    copy_is_read_after_write,
    copy_is_read_after_write_to_part,
    copied_value,
    copied_intermediate_key,
    transposed_copy,
]


def inputs(requires_grad: bool) -> list[torch.Tensor]:
    made = torch.Generator().manual_seed(0)
    return [
        torch.randn(2, 4, 8, 16, generator=made).requires_grad_(requires_grad) for _ in range(3)
    ]


def compiled(program: Program) -> Program:
    torch._dynamo.reset()
    return torch.compile(program, backend="xductor", options={"xductor.on_error": "raise"})


@pytest.mark.parametrize("program", WRITTEN, ids=lambda one: one.__name__)
def test_gradients_go_where_they_go_in_eager(program: Program) -> None:
    ours, eager = inputs(True), inputs(True)
    with without_codegen():
        result = compiled(program)(*ours)
        result.square().sum().backward()
    expected = program(*eager)
    expected.square().sum().backward()
    torch.testing.assert_close(result, expected)
    for one, other in zip(ours, eager, strict=True):
        assert (one.grad is None) == (other.grad is None)
        if one.grad is not None:
            torch.testing.assert_close(one.grad, other.grad, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("program", [*COPIED, *WRITTEN], ids=lambda one: one.__name__)
def test_a_copy_keeps_what_was_there(program: Program) -> None:
    ours, eager = inputs(False), inputs(False)
    with without_codegen():
        result = compiled(program)(*ours)
    torch.testing.assert_close(result, program(*eager))
    torch.testing.assert_close(ours, eager)


def test_what_is_written_in_place_fuses_still() -> None:
    with without_codegen():
        compiled(written_in_place)(*inputs(True))
    assert xductor.last_compile().count("fuse_attention") == 1
