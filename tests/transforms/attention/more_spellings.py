"""Ways to spell attention that models use and no pattern of Inductor's matches, or some of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.transforms.attention.spelling import (
    NO_GRADIENT_OF_MASK,
    NO_GRADIENT_OF_ROW,
    NO_KERNEL_WITH_DROPOUT,
    B,
    D,
    H,
    S,
    Spelling,
    bhsd,
    bias,
    bshd,
    constant,
    padding,
    three,
)

_INF = float("inf")
_LOWEST = torch.finfo(torch.float32).min
_HALF = torch.bfloat16
_HALF_ERROR = 4e-2

Scores = Callable[..., Tensor]


def _attend(scores: Scores) -> Callable[..., Tensor]:
    """Attention with these scores."""

    def function(q: Tensor, k: Tensor, v: Tensor, *more: Any, training: bool) -> Tensor:
        return F.softmax(scores(q, k, *more), dim=-1) @ v

    return function


def _with(*more: Callable[[], Any], make: Any = bhsd) -> Callable[[], tuple[Any, ...]]:
    return lambda: (*make(), *(one() for one in more))


# Scales.


def _scale_on_both(q: Tensor, k: Tensor) -> Tensor:
    factor = D**-0.25
    return (q * factor) @ (k * factor).mT


def _scale_of_weights(x: Tensor, wq: Tensor, wk: Tensor, wv: Tensor, training: bool) -> Tensor:
    """The scale right behind the projection, in front of the view."""
    q = (F.linear(x, wq) * D**-0.5).view(B, S, H, D).transpose(1, 2)
    k = F.linear(x, wk).view(B, S, H, D).transpose(1, 2)
    v = F.linear(x, wv).view(B, S, H, D).transpose(1, 2)
    out = torch.softmax(q @ k.transpose(-1, -2) * 1.0, -1) @ v
    return out.transpose(1, 2).contiguous().reshape(B, S, -1)


def _tensor_scale(q: Tensor, k: Tensor) -> Tensor:
    return q @ k.mT / torch.sqrt(torch.tensor(float(D)))


SCALES = (
    Spelling("scale on q, mul", _attend(lambda q, k: (q * 0.25) @ k.mT), bhsd),
    Spelling("scale on q, div", _attend(lambda q, k: (q / 4) @ k.mT), bhsd),
    Spelling("scale on k", _attend(lambda q, k: q @ (k * 0.25).transpose(-1, -2)), bhsd),
    Spelling("scale on transposed k", _attend(lambda q, k: q @ (k.mT / 4.0)), bhsd),
    Spelling("scale on both", _attend(_scale_on_both), bhsd),
    Spelling("scale on the product, number first", _attend(lambda q, k: 0.25 * (q @ k.mT)), bhsd),
    Spelling("scale twice", _attend(lambda q, k: (q @ k.mT) * 0.5 / 2), bhsd),
    Spelling("scale of a constant tensor", _attend(_tensor_scale), bhsd),
    Spelling(
        "scale of a tensor without dims",
        _attend(lambda q, k, scale: q @ k.mT * scale),
        _with(lambda: torch.tensor(0.3)),
    ),
    Spelling(
        "scale of each head",
        _attend(lambda q, k, scale: (q @ k.mT) * scale.exp()),
        _with(lambda: torch.randn(H, 1, 1)),
        error=1e-5,
    ),
    Spelling(
        "scale behind the projection",
        _scale_of_weights,
        lambda: (
            torch.randn(B, S, H * D),
            *(torch.randn(H * D, H * D) / 8 for _ in range(3)),
        ),
        error=1e-5,
    ),
    Spelling("negative scale", _attend(lambda q, k: q @ k.mT * -0.25), bhsd),
    Spelling("no scale", _attend(lambda q, k: q @ k.mT), bhsd),
)


# Masks.


def _alibi(q: Tensor, k: Tensor) -> Tensor:
    slopes = torch.tensor([0.5, 0.25, 0.125, 0.0625]).view(H, 1, 1)
    distance = torch.arange(S)[None, :] - torch.arange(S)[:, None]
    return q @ k.mT * 0.25 + slopes * distance


def _bert(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    extended = (1.0 - mask[:, None, None, :].to(q.dtype)) * torch.finfo(q.dtype).min
    return (q @ k.mT) / math.sqrt(D) + extended


def _row_bias(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    added = torch.zeros(B, 1, S, S).masked_fill(~mask, -_INF)
    return q @ k.mT * 0.25 + added


MASKS = (
    Spelling("mask first", _attend(lambda q, k, m: m + q @ k.mT / 4.0), _with(lambda: bias(S, S))),
    Spelling(
        "mask of a batch, 4-D",
        _attend(lambda q, k, m: q @ k.mT * 0.25 + m),
        _with(lambda: bias(B, 1, S, S)),
    ),
    Spelling(
        "mask of a head, 3-D",
        _attend(lambda q, k, m: q @ k.mT * 0.25 + m),
        _with(lambda: bias(H, S, S)),
    ),
    Spelling(
        "mask of columns, 1-D",
        _attend(lambda q, k, m: q @ k.mT * 0.25 + m),
        _with(lambda: bias(S)),
    ),
    Spelling(
        "mask before the scale",
        _attend(lambda q, k, m: (q @ k.mT + m) * 0.25),
        _with(lambda: bias(S, S)),
    ),
    Spelling(
        "mask subtracted",
        _attend(lambda q, k, m: q @ k.mT * 0.25 - m),
        _with(lambda: bias(S, S)),
    ),
    Spelling(
        "two masks",
        _attend(lambda q, k, m, n: q @ k.mT * 0.25 + m + n),
        _with(lambda: bias(S, S), lambda: bias(B, 1, 1, S)),
    ),
    Spelling(
        "learned bias",
        _attend(lambda q, k, m: q @ k.mT * 0.25 + m),
        _with(lambda: torch.randn(H, S, S)),
        training=NO_GRADIENT_OF_MASK,
    ),
    Spelling(
        "mask in place",
        _attend(lambda q, k, m: (q @ k.mT).mul_(0.25).add_(m)),
        _with(lambda: bias(S, S)),
    ),
    Spelling(
        "masked_fill of booleans",
        _attend(lambda q, k, m: (q @ k.mT * 0.25).masked_fill(~m, -_INF)),
        _with(lambda: padding(B, 1, 1, S)),
    ),
    Spelling(
        "masked_fill in front of the scale",
        _attend(lambda q, k, m: (q @ k.mT).masked_fill(m == 0, -_INF) * 0.25),
        _with(lambda: padding(B, 1, 1, S).long()),
    ),
    Spelling(
        "masked_fill of a finite number",
        _attend(lambda q, k, m: (q @ k.mT * 0.25).masked_fill(m == 0, -1e9)),
        _with(lambda: padding(B, 1, 1, S).float()),
    ),
    Spelling(
        "where, scores first",
        _attend(lambda q, k, m: torch.where(m, q @ k.mT * 0.25, -_INF)),
        _with(lambda: padding(B, 1, 1, S)),
    ),
    Spelling(
        "where, scores last, expanded",
        _attend(lambda q, k, m: torch.where(m.expand(B, H, S, S), -_INF, q @ k.mT * 0.25)),
        _with(lambda: ~padding(B, 1, 1, S)),
    ),
    Spelling("padding as BERT does", _attend(_bert), _with(lambda: padding(B, S).long())),
    Spelling(
        "added, -inf where a boolean says",
        _attend(_row_bias),
        _with(lambda: padding(B, 1, 1, S)),
    ),
    Spelling(
        "float32 mask beside half scores",
        lambda q, k, v, m, training: (
            torch.softmax(q @ k.mT * 0.25 + m, -1, dtype=torch.float32).to(q.dtype) @ v
        ),
        _with(lambda: bias(B, 1, S, S), make=lambda: bhsd(_HALF)),
        error=_HALF_ERROR,
    ),
    Spelling("alibi", _attend(_alibi), bhsd),
)


# Causal masks.


def _tril(q: Tensor, k: Tensor) -> Tensor:
    keep = torch.ones(S, S, dtype=torch.bool).tril()
    return (q @ k.mT * 0.25).masked_fill(keep.logical_not(), -_INF)


def _triu(q: Tensor, k: Tensor) -> Tensor:
    return q @ k.mT * 0.25 + torch.triu(torch.full((S, S), -_INF), diagonal=1)


def _arange(q: Tensor, k: Tensor) -> Tensor:
    place = torch.arange(S)
    return torch.where(place[:, None] >= place[None, :], q @ k.mT * 0.25, _LOWEST)


def _gpt_neo(q: Tensor, k: Tensor) -> Tensor:
    keep = torch.tril(torch.ones((S, S), dtype=torch.uint8)).view(1, 1, S, S).bool()
    return torch.where(keep, q @ k.mT, torch.tensor(_LOWEST))


def _bart(q: Tensor, k: Tensor) -> Tensor:
    mask = torch.full((S, S), _LOWEST)
    place = torch.arange(S)
    mask = mask.masked_fill(place < (place + 1).view(S, 1), 0.0)
    return q @ k.mT * 0.25 + mask[None, None].expand(B, 1, S, S)


def _ones_minus(q: Tensor, k: Tensor) -> Tensor:
    keep = torch.ones(S, S).tril()
    return q @ k.mT * 0.25 + (1.0 - keep) * -10000.0


def _gathered(q: Tensor, k: Tensor) -> Tensor:
    """Positions looked up in a table of positions, and packed sequences told apart."""
    place = (torch.arange(S) + 0).unsqueeze(0).expand(B, -1)
    packed = (torch.diff(place, prepend=place[:, :1] - 1, dim=-1) != 1).cumsum(-1)
    batch = torch.arange(B)[:, None, None, None]
    row, column = torch.arange(S)[None, None, :, None], torch.arange(S)[None, None, None, :]
    keep = row.new_ones((), dtype=torch.bool) & (place[batch, column] <= place[batch, row])
    keep = keep & (packed[batch, row] == packed[batch, column])
    mask = torch.where(keep.expand(B, -1, S, S), torch.zeros(()), _LOWEST)
    return q @ k.mT * 0.25 + mask


def _window(q: Tensor, k: Tensor) -> Tensor:
    place = torch.arange(S)
    back = place[:, None] - place[None, :]
    return (q @ k.mT * 0.25).masked_fill(~((back >= 0) & (back < 3)), -_INF)


CAUSAL = (
    Spelling("causal, tril of booleans", _attend(_tril), bhsd, causal=True),
    Spelling("causal, triu of -inf", _attend(_triu), bhsd, causal=True),
    Spelling("causal, arange comparison", _attend(_arange), bhsd, causal=True),
    Spelling("causal, tril of uint8", _attend(_gpt_neo), bhsd, causal=True, error=1e-5),
    Spelling("causal, masked_fill of full", _attend(_bart), bhsd, causal=True),
    Spelling("causal, one minus tril", _attend(_ones_minus), bhsd, causal=True),
    Spelling("causal, positions gathered", _attend(_gathered), bhsd, causal=True),
    Spelling("causal window", _attend(_window), bhsd),
)


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
    Spelling("baddbmm with a bias", _baddbmm, _with(lambda: bias(B * H, S, S), make=three)),
    Spelling("baddbmm of empty", _baddbmm_empty, three),
    Spelling("products in 3-D, mask in 4-D", _bloom, _with(lambda: bias(B, 1, S, S), make=three)),
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


# Softmax.


def _spelled_out(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    scores = q @ k.mT * 0.25
    e = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return (e / e.sum(dim=-1, keepdim=True)) @ v


def _spelled_out_max(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    scores = q @ k.mT * 0.25
    e = (scores - scores.max(dim=-1, keepdim=True)[0].detach()).exp()
    return torch.div(e, torch.sum(e, -1, keepdim=True)) @ v


def _wide(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    weights = F.softmax(q @ k.mT * 0.25, dim=-1, dtype=torch.float32)
    return weights.type_as(v) @ v


def _all_wide(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    scores = torch.matmul(q.float(), k.float().mT) * 0.25
    return torch.softmax(scores, -1).to(v.dtype) @ v


def _nan_to_num(q: Tensor, k: Tensor, v: Tensor, m: Tensor, training: bool) -> Tensor:
    scores = (q @ k.mT * 0.25).masked_fill(~m, -_INF)
    return torch.nan_to_num(torch.softmax(scores, -1)) @ v


def _zeroed(q: Tensor, k: Tensor, v: Tensor, m: Tensor, training: bool) -> Tensor:
    scores = (q @ k.mT * 0.25).masked_fill(m, -_INF)
    return torch.softmax(scores, -1).masked_fill(m, 0.0) @ v


def _empty_rows(*shape: int) -> Tensor:
    kept = torch.rand(*shape) > 0.3
    kept[..., 2, :] = False
    return kept


SOFTMAX = (
    Spelling("softmax spelled out, amax", _spelled_out, bhsd),
    Spelling("softmax spelled out, max", _spelled_out_max, bhsd),
    Spelling("softmax in float32", _wide, lambda: bhsd(_HALF), error=_HALF_ERROR),
    Spelling("scores in float32", _all_wide, lambda: bhsd(_HALF), error=_HALF_ERROR),
    Spelling(
        "safe softmax, nan_to_num",
        _nan_to_num,
        _with(lambda: _empty_rows(B, 1, S, S)),
    ),
    Spelling(
        "safe softmax, masked_fill behind",
        _zeroed,
        _with(lambda: ~_empty_rows(B, 1, S, S)),
    ),
    Spelling(
        "a row masked as a whole, -inf",
        _attend(lambda q, k, m: (q @ k.mT * 0.25).masked_fill(~m, -_INF)),
        _with(lambda: _empty_rows(B, 1, S, S)),
        training=None,
    ),
    Spelling(
        "a row masked as a whole, finite",
        _attend(lambda q, k, m: torch.where(m, q @ k.mT * 0.25, _LOWEST)),
        _with(lambda: _empty_rows(B, 1, S, S)),
    ),
    Spelling(
        "rows masked as a whole, of each head",
        _attend(lambda q, k, m: (q @ k.mT * -0.25).masked_fill(~m, -1e9)),
        _with(lambda: _empty_rows(B, H, S, S)),
    ),
    Spelling(
        "a row masked as a whole, finite, and a bias",
        _attend(lambda q, k, m: (q @ k.mT * 0.25).masked_fill(~m, -1e9) + m.float()),
        _with(lambda: _empty_rows(B, 1, S, S)),
        training=NO_GRADIENT_OF_ROW,
    ),
    Spelling(
        "dropout of zero, and in evaluation",
        lambda q, k, v, training: (
            F.dropout(F.dropout(torch.softmax(q @ k.mT, -1), 0.5, False), 0.0, training) @ v
        ),
        bhsd,
    ),
    Spelling(
        "dropout behind a cast",
        lambda q, k, v, training: (
            F.dropout(torch.softmax((q @ k.mT).float(), -1).to(q.dtype), 0.1, training) @ v
        ),
        lambda: bhsd(_HALF),
        training=NO_KERNEL_WITH_DROPOUT,
        error=_HALF_ERROR,
    ),
)

SPELLINGS = (*SCALES, *MASKS, *CAUSAL, *GROUPED, *LAYOUTS, *SOFTMAX)

__all__ = ["SPELLINGS", "constant"]
