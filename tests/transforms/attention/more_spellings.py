"""Ways to spell attention that models use and no pattern of Inductor's matches, or some of them."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.transforms.attention.layout_spellings import GROUPED, LAYOUTS
from tests.transforms.attention.mask_spellings import CAUSAL, MASKS
from tests.transforms.attention.spelling import (
    NO_GRADIENT_OF_ROW,
    NO_KERNEL_WITH_DROPOUT,
    B,
    D,
    H,
    S,
    Spelling,
    attend,
    bhsd,
    bias,
    constant,
    with_more,
)

_INF = float("inf")
_LOWEST = torch.finfo(torch.float32).min
_HALF = torch.bfloat16
_HALF_ERROR = 4e-2

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
    Spelling("scale on q, mul", attend(lambda q, k: (q * 0.25) @ k.mT), bhsd),
    Spelling("scale on q, div", attend(lambda q, k: (q / 4) @ k.mT), bhsd),
    Spelling("scale on k", attend(lambda q, k: q @ (k * 0.25).transpose(-1, -2)), bhsd),
    Spelling("scale on transposed k", attend(lambda q, k: q @ (k.mT / 4.0)), bhsd),
    Spelling("scale on both", attend(_scale_on_both), bhsd),
    Spelling("scale on the product, number first", attend(lambda q, k: 0.25 * (q @ k.mT)), bhsd),
    Spelling("scale twice", attend(lambda q, k: (q @ k.mT) * 0.5 / 2), bhsd),
    Spelling("scale of a constant tensor", attend(_tensor_scale), bhsd),
    Spelling(
        "scale of a tensor without dims",
        attend(lambda q, k, scale: q @ k.mT * scale),
        with_more(lambda: torch.tensor(0.3)),
    ),
    Spelling(
        "scale of each head",
        attend(lambda q, k, scale: (q @ k.mT) * scale.exp()),
        with_more(lambda: torch.randn(H, 1, 1)),
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
    Spelling("negative scale", attend(lambda q, k: q @ k.mT * -0.25), bhsd),
    Spelling("no scale", attend(lambda q, k: q @ k.mT), bhsd),
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


def _half_and_wide(
    q: Tensor, k: Tensor, v: Tensor, kept: Tensor, m: Tensor, training: bool
) -> Tensor:
    scores = torch.where(kept, q @ k.mT * 0.25, torch.finfo(torch.float16).min)
    return torch.softmax(scores + m, -1).to(v.dtype) @ v


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
        with_more(lambda: _empty_rows(B, 1, S, S)),
    ),
    Spelling(
        "safe softmax, masked_fill behind",
        _zeroed,
        with_more(lambda: ~_empty_rows(B, 1, S, S)),
    ),
    Spelling(
        "a row masked as a whole, -inf",
        attend(lambda q, k, m: (q @ k.mT * 0.25).masked_fill(~m, -_INF)),
        with_more(lambda: _empty_rows(B, 1, S, S)),
        training=None,
    ),
    Spelling(
        "a row masked as a whole, finite",
        attend(lambda q, k, m: torch.where(m, q @ k.mT * 0.25, _LOWEST)),
        with_more(lambda: _empty_rows(B, 1, S, S)),
    ),
    Spelling(
        "rows masked as a whole, of each head",
        attend(lambda q, k, m: (q @ k.mT * -0.25).masked_fill(~m, -1e9)),
        with_more(lambda: _empty_rows(B, H, S, S)),
    ),
    Spelling(
        "a row masked as a whole, finite, and a bias",
        attend(lambda q, k, m: (q @ k.mT * 0.25).masked_fill(~m, -1e9) + m.float()),
        with_more(lambda: _empty_rows(B, 1, S, S)),
        training=NO_GRADIENT_OF_ROW,
    ),
    Spelling(
        "a row masked as a whole in half, and a bias in float32",
        _half_and_wide,
        lambda: (*bhsd(torch.float16), _empty_rows(B, 1, S, S), bias(1, 1, S, S)),
        training=NO_GRADIENT_OF_ROW,
        error=_HALF_ERROR,
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
