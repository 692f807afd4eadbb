"""Attention put together at random from what may stand where: it is fused, and right."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from tests.transforms.attention.fused import compare
from tests.transforms.attention.spelling import constant

_B, _H, _R, _C, _D = 2, 3, 5, 7, 8
_INF = float("inf")


def _operand(order: str, sizes: dict[str, int]) -> Tensor:
    return torch.randn(*(sizes[label] for label in order))


def _mask_shape(pick: random.Random) -> tuple[int, ...]:
    """A shape that broadcasts to [batch, heads, rows, columns]."""
    full = (_B, _H, _R, _C)
    shape = tuple(size if pick.random() < 0.6 else 1 for size in full)
    return shape[pick.randrange(3) :] if pick.random() < 0.5 else shape


def _scaled(choice: int, x: Tensor, per_head: Tensor) -> Tensor:
    match choice % 5:
        case 0:
            return x * 0.3
        case 1:
            return x / 3
        case 2:
            return 0.3 * x
        case 3:
            return x * torch.tensor(0.3)
        case _:
            return x * per_head


def _masked(choice: int, x: Tensor, added: Tensor, kept: Tensor) -> Tensor:
    match choice % 7:
        case 0:
            return x + added
        case 1:
            return added + x
        case 2:
            return x.masked_fill(~kept, -_INF)
        case 3:
            return torch.where(kept, x, -_INF)
        case 4:
            return torch.where(~kept, torch.full((), -_INF), x)
        case 5:
            causal = torch.arange(_R)[:, None] >= torch.arange(_C)[None, :]
            return x.masked_fill(causal.logical_not(), -_INF)
        case _:
            return x + torch.triu(torch.full((_R, _C), -_INF), diagonal=2)


def _made(seed: int) -> tuple[Callable[..., Tensor], tuple[Any, ...]]:
    """A function that computes attention in one of many ways, and inputs for it."""
    pick = random.Random(seed)
    sizes = {"b": _B, "h": _H, "r": _R, "c": _C, "d": _D}
    orders = [pick.choice([f"bh{x}d", f"b{x}hd", f"hb{x}d", f"bhd{x}"]) for x in "rcc"]
    shape = _mask_shape(pick)
    kept = torch.rand(shape) > 0.3
    if kept.shape[-1] == _C:
        kept[..., 0] = True
    else:
        kept[:] = True
    added = constant(torch.randn(shape))
    inputs = (*(_operand(order, sizes) for order in orders), added, kept, torch.rand(_H, 1, 1))
    drawn = tuple(pick.randrange(10**6) for _ in range(16))  # Dynamo does not trace the drawing

    def function(q: Tensor, k: Tensor, v: Tensor, added: Tensor, kept: Tensor, t: Tensor) -> Tensor:
        choices = iter(drawn)
        q, k, v = (
            x.permute([order.index(label) for label in wanted])
            for x, order, wanted in zip((q, k, v), orders, ("bhrd", "bhcd", "bhcd"), strict=True)
        )
        if next(choices) % 10 < 3:
            q = _scaled(next(choices), q, t)
        turned = next(choices) % 10 < 3
        match next(choices) % 3:
            case 0:
                scores = q @ k.mT
            case 1:
                scores = torch.einsum("bhrd,bhcd->bhrc", q, k)
            case _:
                flat = torch.bmm(q.reshape(-1, _R, _D), k.reshape(-1, _C, _D).mT)
                scores = flat.view(_B, _H, _R, _C)
        if next(choices) % 10 < 7:
            scores = _scaled(next(choices), scores, t)
        for _ in range(next(choices) % 3):
            scores = _masked(next(choices), scores, added, kept)
        if next(choices) % 10 < 3:
            scores = scores.clone().contiguous()
        if turned:
            weights = F.softmax(scores.transpose(2, 3), dim=2).transpose(2, 3)
        elif next(choices) % 10 < 3:
            e = (scores - scores.amax(-1, keepdim=True)).exp()
            weights = e / e.sum(-1, keepdim=True)
        else:
            weights = F.softmax(scores, dim=-1)
        match next(choices) % 4:
            case 0:
                return weights @ v
            case 1:
                return torch.einsum("bhrc,bhcd->brhd", weights, v)
            case 2:
                flat = torch.bmm(weights.view(-1, _R, _C), v.reshape(-1, _C, _D))
                return flat.view(_B, _H, _R, _D).transpose(1, 2).reshape(_B, _R, -1)
            case _:
                return torch.matmul(weights, v).permute(0, 2, 1, 3).contiguous() * 2

    return function, inputs


@pytest.mark.parametrize("seed", range(24))
def test_random_spelling(seed: int) -> None:
    torch.manual_seed(seed)
    function, inputs = _made(seed)
    found = compare(function, inputs, grad=seed % 2 == 0)
    assert found.outcome.count == 1, found.outcome.reasons
    assert found.forward < 1e-5
    assert (found.backward or 0.0) < 1e-5
