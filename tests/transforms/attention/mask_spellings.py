"""Spellings of attention by their masks, causal ones among them."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from tests.transforms.attention.spelling import (
    NO_GRADIENT_OF_MASK,
    B,
    D,
    H,
    S,
    Spelling,
    attend,
    bhsd,
    bias,
    padding,
    with_more,
)

_INF = float("inf")
_LOWEST = torch.finfo(torch.float32).min
_HALF = torch.bfloat16
_HALF_ERROR = 4e-2

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
    Spelling(
        "mask first", attend(lambda q, k, m: m + q @ k.mT / 4.0), with_more(lambda: bias(S, S))
    ),
    Spelling(
        "mask of a batch, 4-D",
        attend(lambda q, k, m: q @ k.mT * 0.25 + m),
        with_more(lambda: bias(B, 1, S, S)),
    ),
    Spelling(
        "mask of a head, 3-D",
        attend(lambda q, k, m: q @ k.mT * 0.25 + m),
        with_more(lambda: bias(H, S, S)),
    ),
    Spelling(
        "mask of columns, 1-D",
        attend(lambda q, k, m: q @ k.mT * 0.25 + m),
        with_more(lambda: bias(S)),
    ),
    Spelling(
        "mask before the scale",
        attend(lambda q, k, m: (q @ k.mT + m) * 0.25),
        with_more(lambda: bias(S, S)),
    ),
    Spelling(
        "mask subtracted",
        attend(lambda q, k, m: q @ k.mT * 0.25 - m),
        with_more(lambda: bias(S, S)),
    ),
    Spelling(
        "two masks",
        attend(lambda q, k, m, n: q @ k.mT * 0.25 + m + n),
        with_more(lambda: bias(S, S), lambda: bias(B, 1, 1, S)),
    ),
    Spelling(
        "learned bias",
        attend(lambda q, k, m: q @ k.mT * 0.25 + m),
        with_more(lambda: torch.randn(H, S, S)),
        training=NO_GRADIENT_OF_MASK,
    ),
    Spelling(
        "mask in place",
        attend(lambda q, k, m: (q @ k.mT).mul_(0.25).add_(m)),
        with_more(lambda: bias(S, S)),
    ),
    Spelling(
        "masked_fill of booleans",
        attend(lambda q, k, m: (q @ k.mT * 0.25).masked_fill(~m, -_INF)),
        with_more(lambda: padding(B, 1, 1, S)),
    ),
    Spelling(
        "masked_fill in front of the scale",
        attend(lambda q, k, m: (q @ k.mT).masked_fill(m == 0, -_INF) * 0.25),
        with_more(lambda: padding(B, 1, 1, S).long()),
    ),
    Spelling(
        "masked_fill of a finite number",
        attend(lambda q, k, m: (q @ k.mT * 0.25).masked_fill(m == 0, -1e9)),
        with_more(lambda: padding(B, 1, 1, S).float()),
    ),
    Spelling(
        "where, scores first",
        attend(lambda q, k, m: torch.where(m, q @ k.mT * 0.25, -_INF)),
        with_more(lambda: padding(B, 1, 1, S)),
    ),
    Spelling(
        "where, scores last, expanded",
        attend(lambda q, k, m: torch.where(m.expand(B, H, S, S), -_INF, q @ k.mT * 0.25)),
        with_more(lambda: ~padding(B, 1, 1, S)),
    ),
    Spelling("padding as BERT does", attend(_bert), with_more(lambda: padding(B, S).long())),
    Spelling(
        "added, -inf where a boolean says",
        attend(_row_bias),
        with_more(lambda: padding(B, 1, 1, S)),
    ),
    Spelling(
        "float32 mask beside half scores",
        lambda q, k, v, m, training: (
            torch.softmax(q @ k.mT * 0.25 + m, -1, dtype=torch.float32).to(q.dtype) @ v
        ),
        with_more(lambda: bias(B, 1, S, S), make=lambda: bhsd(_HALF)),
        error=_HALF_ERROR,
    ),
    Spelling("alibi", attend(_alibi), bhsd),
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
    Spelling("causal, tril of booleans", attend(_tril), bhsd, causal=True),
    Spelling("causal, triu of -inf", attend(_triu), bhsd, causal=True),
    Spelling("causal, arange comparison", attend(_arange), bhsd, causal=True),
    Spelling("causal, tril of uint8", attend(_gpt_neo), bhsd, causal=True, error=1e-5),
    Spelling("causal, masked_fill of full", attend(_bart), bhsd, causal=True),
    Spelling("causal, one minus tril", attend(_ones_minus), bhsd, causal=True),
    Spelling("causal, positions gathered", attend(_gathered), bhsd, causal=True),
    Spelling("causal window", attend(_window), bhsd),
)


__all__ = ["CAUSAL", "MASKS"]
