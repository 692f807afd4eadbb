"""Spellings of attention by their grouped queries, layouts and products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.transforms.attention.spelling import (
    B,
    D,
    H,
    S,
    Spelling,
    bhsd,
    bias,
    bshd,
    three,
    with_more,
)

_INF = float("inf")
_LOWEST = torch.finfo(torch.float32).min
_HALF = torch.bfloat16
_HALF_ERROR = 4e-2

# Grouped queries.

_G = 2


def _kv() -> tuple[Tensor, ...]:
    return torch.randn(B, H, S, D), torch.randn(B, _G, S, D), torch.randn(B, _G, S, D)


def _repeat_kv(x: Tensor) -> Tensor:
    b, g, s, d = x.shape
    return x[:, :, None, :, :].expand(b, g, H // g, s, d).reshape(b, H, s, d)


def _grouped(repeat: Callable[[Tensor], Tensor]) -> Callable[..., Tensor]:
    def function(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
        scores = torch.matmul(q, repeat(k).transpose(2, 3)) * 0.25
        weights = F.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype)
        weights = F.dropout(weights, 0.0, training)
        return torch.matmul(weights, repeat(v)).transpose(1, 2).contiguous()

    return function


def _multi_query(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    return torch.softmax(q @ k.mT * 0.25, -1) @ v


def _five_dims(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    q = q.view(B, _G, H // _G, S, D)
    out = torch.softmax(q @ k.unsqueeze(2).mT * 0.25, -1) @ v.unsqueeze(2)
    return out.reshape(B, H, S, D)


def _grouped_rows(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    k, v = (x[:, :, :, None, :].expand(B, S, _G, H // _G, D).reshape(B, S, H, D) for x in (k, v))
    q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
    return (torch.softmax(q @ k.mT * 0.25, -1) @ v).transpose(1, 2)


GROUPED = (
    Spelling("grouped, expand and reshape", _grouped(_repeat_kv), _kv, grouped=True),
    Spelling(
        "grouped, repeat_interleave",
        _grouped(lambda x: x.repeat_interleave(H // _G, dim=1)),
        _kv,
        grouped=True,
    ),
    Spelling(
        "grouped, heads behind rows",
        _grouped_rows,
        lambda: (torch.randn(B, S, H, D), torch.randn(B, S, _G, D), torch.randn(B, S, _G, D)),
        grouped=True,
    ),
    Spelling("grouped, five dims", _five_dims, _kv),
    Spelling(
        "multi-query",
        _multi_query,
        lambda: (torch.randn(B, H, S, D), torch.randn(B, 1, S, D), torch.randn(B, 1, S, D)),
    ),
)


# Layouts and products.


def _einsum(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    weights = torch.softmax(torch.einsum("bqhd,bkhd->bhqk", q, k) * 0.25, -1)
    return torch.einsum("bhqk,bkhd->bqhd", weights, v)


def _einsum_heads_first(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    weights = torch.softmax(torch.einsum("bhid,bhjd->bhij", q, k) * 0.25, -1)
    return torch.einsum("bhij,bhjd->bhid", weights, v)


def _einsum_values_first(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    weights = torch.softmax(torch.einsum("b h i d, b h j d -> b h i j", q, k) * 0.25, -1)
    return torch.einsum("bhjd,bhij->bihd", v, weights)


def _einsum_conv(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    """Heads of channels by pixels, as in convolutional attention."""
    weights = torch.softmax(torch.einsum("bhdi,bhdj->bhij", q * 0.25, k), -1)
    return torch.einsum("bhij,bhdj->bhid", weights, v)


def _columns_first(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    """Scores as `[.., columns, rows]`, softmax over the columns."""
    weights = torch.softmax((k @ q.mT) * 0.25, dim=-2)
    return weights.mT @ v


def _baddbmm(q: Tensor, k: Tensor, v: Tensor, m: Tensor, training: bool) -> Tensor:
    scores = torch.baddbmm(m, q, k.transpose(1, 2), beta=1.0, alpha=0.25)
    return torch.bmm(torch.softmax(scores, -1), v)


def _baddbmm_empty(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    empty = torch.empty(B * H, S, S)
    scores = torch.baddbmm(empty, q, k.transpose(-1, -2), beta=0, alpha=0.25)
    return torch.bmm(scores.softmax(dim=-1), v)


def _bloom(q: Tensor, k: Tensor, v: Tensor, m: Tensor, training: bool) -> Tensor:
    """Scores with batch and heads in one dim for the products, in two for the mask."""
    scores = torch.baddbmm(torch.zeros(B * H, 1, S), q, k.mT, beta=1.0, alpha=0.25)
    weights = F.softmax(scores.view(B, H, S, S) + m, dim=-1)
    return torch.bmm(weights.view(B * H, S, S), v)


def _two_dims(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    return torch.softmax(q @ k.t() / 4.0, -1) @ v


def _five(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    return torch.softmax(q @ k.mT / 4.0, -1) @ v


def _clones(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    q, k, v = q.contiguous(), k.clone(), v.contiguous()
    scores = (q @ k.transpose(-1, -2).contiguous()).clone() * 0.25
    weights = torch.softmax(scores.contiguous(), -1).clone()
    return (weights.to(q.dtype) @ v).contiguous()


def _aten(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    """As a graph that was traced through autograd spells it."""
    aten = torch.ops.aten
    k = aten.permute.default(k, [0, 1, 3, 2])
    q = aten.view.default(aten.expand.default(q, [B, H, S, D]), [B * H, S, D])
    k = aten.reshape.default(aten.expand.default(k, [B, H, D, S]), [B * H, D, S])
    scores = aten.view.default(aten.bmm.default(q, k), [B, H, S, S])
    scores = aten.div.Tensor(scores, 4.0)
    e = aten.exp.default(aten.sub.Tensor(scores, aten.amax.default(scores, [-1], True)))
    weights = aten.div.Tensor(e, aten.sum.dim_IntList(e, [-1], True))
    weights = aten.view.default(aten.expand.default(weights, [B, H, S, S]), [B * H, S, S])
    v = aten.view.default(aten.expand.default(v, [B, H, S, D]), [B * H, S, D])
    return aten.view.default(aten.bmm.default(weights, v), [B, H, S, D])


def _aten_whole(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    """As an exported program spells it."""
    aten = torch.ops.aten
    scores = aten.matmul.default(q, aten.transpose.int(k, -2, -1))
    weights = aten.softmax.int(aten.mul.Tensor(scores, 0.25), -1)
    weights = aten.dropout.default(weights, 0.1, False)
    return aten.matmul.default(aten.to.dtype(weights, torch.float32), v)


def _reshapes(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    q, k, v = (x.flatten(0, 1) for x in (q, k, v))
    scores = torch.bmm(q, k.transpose(1, 2)).unflatten(0, (B, H)) * 0.25
    weights = torch.softmax(scores, -1).flatten(0, 1)
    return torch.bmm(weights, v).unflatten(0, (B, H))


def _returned(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Any:
    """The result goes on in several ways that show its layout."""
    out = torch.softmax(q @ k.mT / 4.0, -1) @ v
    return out, out * 2, out.view(B, H * S, D), out.transpose(1, 2).reshape(B, S, -1)


LAYOUTS = (
    Spelling("einsum, rows first", _einsum, bshd),
    Spelling("einsum, heads first", _einsum_heads_first, bhsd),
    Spelling("einsum, values first, spaces", _einsum_values_first, bhsd),
    Spelling(
        "einsum, sizes in front of rows",
        _einsum_conv,
        lambda: tuple(torch.randn(B, H, D, S) for _ in range(3)),
    ),
    Spelling("columns in front of rows", _columns_first, bhsd),
    Spelling("baddbmm with a bias", _baddbmm, with_more(lambda: bias(B * H, S, S), make=three)),
    Spelling("baddbmm of empty", _baddbmm_empty, three),
    Spelling(
        "products in 3-D, mask in 4-D", _bloom, with_more(lambda: bias(B, 1, S, S), make=three)
    ),
    Spelling("one head, one batch", _two_dims, lambda: tuple(torch.randn(S, D) for _ in "qkv")),
    Spelling("three batch dims", _five, lambda: tuple(torch.randn(2, 3, H, S, D) for _ in "qkv")),
    Spelling("clones and contiguous calls", _clones, bhsd),
    Spelling("operators of ATen, after decomposition", _aten, bhsd),
    Spelling("operators of ATen, before it", _aten_whole, bhsd),
    Spelling("reshapes of the batch", _reshapes, bhsd),
    Spelling("layout is seen", _returned, bhsd),
    Spelling(
        "more columns than rows",
        lambda q, k, v, training: torch.softmax(q @ k.mT / 4.0, -1) @ v,
        lambda: (torch.randn(B, H, S, D), torch.randn(B, H, 12, D), torch.randn(B, H, 12, D)),
    ),
)


__all__ = ["GROUPED", "LAYOUTS"]
