"""What looks like attention, and what no fused call computes: it must stay as it is."""

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
    padding,
)

_INF = float("inf")
_PATH = "the scores go through"


def _softmax(scores: Callable[..., Tensor], dim: int = -1) -> Callable[..., Tensor]:
    def function(q: Tensor, k: Tensor, v: Tensor, *more: Any, training: bool) -> Tensor:
        return torch.softmax(scores(q, k, *more), dim) @ v

    return function


def _with(*more: Callable[[], Any], make: Any = bhsd) -> Callable[[], tuple[Any, ...]]:
    return lambda: (*make(), *(one() for one in more))


def _square() -> tuple[Tensor, ...]:
    """As many heads as rows and sizes: a softmax over any dim fits."""
    return tuple(torch.randn(4, 4, 4, 4) for _ in "qkv")


def _stays(name: str, why: str, function: Any, inputs: Any = bhsd, **more: Any) -> Spelling:
    """`why` is in the reason given; without it the pass need not say that it looked."""
    return Spelling(name, function, inputs, **{"inference": why, "training": why, **more})


def _scores_returned(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Any:
    scores = q @ k.mT / 4.0
    return torch.softmax(scores, -1) @ v, scores


def _weights_returned(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Any:
    weights = torch.softmax(q @ k.mT / 4.0, -1)
    return weights @ v, weights


def _weights_used_twice(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    weights = torch.softmax(q @ k.mT / 4.0, -1)
    return weights @ v + weights @ (v * 2)


def _dropout_elsewhere(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Any:
    dropped = F.dropout(torch.softmax(q @ k.mT / 4.0, -1), 0.5, True)
    return dropped @ v, dropped.sum()


def _normalised(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    weights = torch.softmax(q @ k.mT / 4.0, -1)
    return (weights / weights.sum(-2, keepdim=True)) @ v


def _talking_heads(q: Tensor, k: Tensor, v: Tensor, w: Tensor, training: bool) -> Tensor:
    scores = torch.einsum("bhqk,hg->bgqk", q @ k.mT / 4.0, w)
    return torch.softmax(scores, -1) @ v


def _mixed_behind(q: Tensor, k: Tensor, v: Tensor, w: Tensor, training: bool) -> Tensor:
    weights = torch.softmax(q @ k.mT / 4.0, -1)
    return torch.einsum("bhqk,hg->bgqk", weights, w) @ v


def _top_k(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    scores = q @ k.mT / 4.0
    least = scores.topk(3, dim=-1).values[..., -1:]
    return torch.softmax(scores.masked_fill(scores < least, -_INF), -1) @ v


def _other_maximum(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    """exp of what is not the scores less their own maximum."""
    scores = q @ k.mT / 4.0
    e = torch.exp(scores - scores.amax(dim=-2, keepdim=True))
    return (e / e.sum(-1, keepdim=True)) @ v


def _other_sum(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    scores = q @ k.mT / 4.0
    e = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return (e / (e.sum(-1, keepdim=True) + 1.0)) @ v


def _written_later(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    """The values change between the scores and their use."""
    v = v.clone()
    weights = torch.softmax(q @ k.mT / 4.0, -1)
    v[0].mul_(2.0)
    return weights @ v


def _key_written(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    """The keys change behind the scores."""
    k = k.clone()
    scores = q @ k.mT / 4.0
    k.add_(1.0)
    return torch.softmax(scores, -1) @ v + k.sum()


def _part_written(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    """A part of the scores is set by an index."""
    scores = q @ k.mT / 4.0
    scores[..., 0] = 0.0
    return torch.softmax(scores, -1) @ v


def _mask_written(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    """The causal mask gets a hole after it was made: it is not the causal mask any more."""
    keep = torch.ones(S, S, dtype=torch.bool).tril()
    keep[3, 0] = False
    return torch.softmax((q @ k.mT / 4.0).masked_fill(~keep, -1e4), -1) @ v


def _log_softmax(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    return F.log_softmax(q @ k.mT / 4.0, -1) @ v


def _no_grad_inside(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    with torch.no_grad():
        weights = torch.softmax(q @ k.mT / 4.0, -1)
    return weights @ v


def _keys_viewed_in_no_grad(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    with torch.no_grad():
        kt = k.transpose(-1, -2)
    return torch.softmax(q @ kt / 4.0, -1) @ v


def _values_viewed_in_no_grad(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    with torch.no_grad():
        vt = v.permute(0, 1, 3, 2)
    return torch.einsum("bhqk,bhdk->bhqd", torch.softmax(q @ k.mT / 4.0, -1), vt)


def _computed_keys_viewed_in_no_grad(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    k = k * 1.5
    with torch.no_grad():
        kt = k.transpose(1, 2)
    return torch.softmax(q @ kt.permute(0, 2, 3, 1) / 4.0, -1) @ v


def _detached(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    return torch.softmax(q @ k.mT / 4.0, -1).detach() @ v


def _autocast_inside(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        scores = q @ k.mT / 4.0
    return torch.softmax(scores.float(), -1) @ v


def _random_between(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    weights = F.dropout(torch.softmax(q @ k.mT / 4.0, -1), 0.1, True)
    noise = torch.rand_like(v)
    return weights @ (v + noise)


LOOK_ALIKES = (
    _stays("softmax over rows", "another dim", _softmax(lambda q, k: q @ k.mT / 2, -2), _square),
    _stays("softmax over heads", "another dim", _softmax(lambda q, k: q @ k.mT / 2, 1), _square),
    _stays("softmax over batches", "another dim", _softmax(lambda q, k: q @ k.mT / 2, 0), _square),
    _stays(
        "softmax over rows, masked",
        "another dim",
        _softmax(lambda q, k, m: q @ k.mT / 2 + m, -2),
        _with(lambda: bias(4, 4), make=_square),
    ),
    _stays(
        "softcap",
        f"{_PATH} pyfn.torch.tanh",
        _softmax(lambda q, k: torch.tanh(q @ k.mT / 30.0) * 30.0),
    ),
    _stays(
        "softcap in place",
        f"{_PATH} method.tanh_",
        _softmax(lambda q, k: (q @ k.mT).div_(30.0).tanh_() * 30.0),
    ),
    _stays(
        "softcap below a mask",
        f"{_PATH} pyfn.torch.tanh",
        _softmax(lambda q, k, m: m + (torch.tanh(q @ k.mT / 30.0) * 30.0).float()),
        _with(lambda: bias(S, S)),
    ),
    _stays(
        "relu of scores",
        f"{_PATH} pyfn.torch.nn.functional.relu",
        _softmax(lambda q, k: F.relu(q @ k.mT)),
    ),
    _stays(
        "clamped scores",
        f"{_PATH} method.clamp",
        _softmax(lambda q, k: (q @ k.mT).clamp(max=5.0)),
    ),
    _stays("square of scores", _PATH, _softmax(lambda q, k: (q @ k.mT) ** 2)),
    _stays(
        "scale of each row",
        "the scale depends on the position",
        _softmax(lambda q, k, t: q @ k.mT * t),
        _with(lambda: torch.rand(S, 1)),
    ),
    _stays(
        "scale of each column",
        "the scale depends on the position",
        _softmax(lambda q, k, t: q @ k.mT * t),
        _with(lambda: torch.rand(S)),
    ),
    _stays(
        "scale by row numbers",
        "the scale depends on the position",
        _softmax(lambda q, k: q @ k.mT / (torch.arange(S)[:, None] + 1.0)),
    ),
    _stays(
        "multiplied mask",
        "the scale",
        _softmax(lambda q, k, m: q @ k.mT * m),
        _with(lambda: padding(S, S)),
    ),
    _stays("scale of zero", _PATH, _softmax(lambda q, k: q @ k.mT * 0.0)),
    _stays(
        "number of the scores' size in the denominator",
        _PATH,
        _softmax(lambda q, k: 1.0 / (q @ k.mT)),
    ),
    _stays(
        "masked scores of a moderate number",
        "masked scores become -5.0",
        _softmax(lambda q, k, m: (q @ k.mT).masked_fill(m, -5.0)),
        _with(lambda: ~padding(S, S)),
    ),
    _stays(
        "masked scores become positive",
        "masked scores become",
        _softmax(lambda q, k, m: (q @ k.mT).masked_fill(m, 1e9)),
        _with(lambda: ~padding(S, S)),
    ),
    _stays(
        "masked scores become those of others",
        _PATH,
        _softmax(lambda q, k, m, other: torch.where(m, q @ k.mT, other)),
        _with(lambda: padding(S, S), lambda: torch.randn(S, S)),
    ),
    _stays("scores are returned", "is returned too", _scores_returned),
    _stays("weights are returned", "is returned too", _weights_returned),
    _stays("weights are used twice", "is used by", _weights_used_twice),
    _stays("dropout is used elsewhere", "is used by", _dropout_elsewhere),
    _stays("weights are normalised again", "", _normalised),
    _stays(
        "talking heads in front of the softmax",
        "",
        _talking_heads,
        _with(lambda: torch.randn(H, H)),
    ),
    _stays("talking heads behind it", "", _mixed_behind, _with(lambda: torch.randn(H, H))),
    _stays("top k of the scores", "", _top_k),
    _stays("the maximum of another dim", "", _other_maximum),
    _stays("softmax plus one", "", _other_sum),
    _stays("log of softmax", "", _log_softmax),
    _stays("values are written between", "", _written_later),
    _stays("keys are written between", "writes to what", _key_written, training=None),
    _stays("a part of the scores is written", "", _part_written),
    _stays("no gradient within", "", _no_grad_inside, inference=None),
    _stays("keys viewed without gradient", "no_grad", _keys_viewed_in_no_grad, inference=None),
    _stays("values viewed without gradient", "no_grad", _values_viewed_in_no_grad, inference=None),
    _stays(
        "computed keys viewed without gradient",
        "no_grad",
        _computed_keys_viewed_in_no_grad,
        inference=None,
    ),
    _stays("weights are detached", "", _detached, inference=None),
    _stays("autocast within", "autocast", _autocast_inside),
    _stays("random numbers between", "no dropout", _random_between),
    _stays(
        "values of another size",
        "heads of one size",
        _softmax(lambda q, k: q @ k.mT / 4.0),
        lambda: (*bhsd(n=2), torch.randn(B, H, S, 2 * D)),
    ),
    _stays(
        "complex numbers",
        "",
        lambda q, k, v, training: torch.softmax((q @ k.mT).abs(), -1) @ v.real,
        lambda: tuple(torch.randn(B, H, S, D, dtype=torch.complex64) for _ in "qkv"),
        training=None,
    ),
    _stays(
        "a narrow result of wide scores",
        "scores of torch.float32",
        lambda q, k, v, training: (
            torch.softmax(q @ k.mT, -1).to(torch.bfloat16) @ v.to(torch.bfloat16)
        ),
    ),
    _stays(
        "quantised weights",
        "a cast to torch.float8_e4m3fn",
        lambda q, k, v, training: (
            torch.softmax(q @ k.mT, -1).to(torch.float8_e4m3fn).to(v.dtype) @ v
        ),
    ),
    _stays(
        "weights rounded to half precision",
        "a cast to torch.bfloat16",
        lambda q, k, v, training: torch.softmax(q @ k.mT, -1).bfloat16().float() @ v,
    ),
    _stays("no product", "", lambda q, k, v, training: torch.softmax(q, -1) @ v.mT @ k),
)

__all__ = ["LOOK_ALIKES", "_mask_written"]
