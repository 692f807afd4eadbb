"""What Inductor's thirty patterns stand for, each as a model would write it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.transforms.attention.spelling import (
    NO_KERNEL_WITH_DROPOUT,
    B,
    D,
    H,
    S,
    Spelling,
    bhsd,
    bias,
    bshd,
    padding,
    three,
)

_INF = float("inf")
_HALF = torch.bfloat16
_HALF_ERROR = 4e-2


def _heads_first(*tensors: Tensor) -> tuple[Tensor, ...]:
    return tuple(tensor.permute(0, 2, 1, 3) for tensor in tensors)


def _transposed(x: Tensor) -> Tensor:
    return x.transpose(-2, -1)


def _p1(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    return torch.matmul(q, _transposed(k)).div(4.0).softmax(dim=-1).matmul(v)


def _p2(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    return torch.matmul(q, _transposed(k)).mul(0.25).softmax(dim=-1).matmul(v)


def _p3(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    weights = torch.matmul(q, _transposed(k)).div(4.0).softmax(dim=-1)
    return F.dropout(weights, 0.1, training).matmul(v)


def _p4(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    weights = torch.matmul(q, _transposed(k)).mul(0.25).softmax(dim=-1)
    return F.dropout(weights, 0.1, training).matmul(v)


def _p5(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, training: bool) -> Tensor:
    return torch.softmax(q @ _transposed(k) / math.sqrt(D) + mask, dim=-1) @ v


def _p6(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, training: bool) -> Tensor:
    weights = torch.softmax(q @ _transposed(k) / math.sqrt(D) + mask, dim=-1)
    return torch.dropout(weights, 0.1, training) @ v


def _wide(scores: Tensor, v: Tensor, p: float, training: bool) -> Tensor:
    """A softmax in float32, and what follows in the dtype of the values."""
    weights = torch.softmax(scores.to(torch.float32), dim=-1)
    return torch.dropout(weights, p, training).to(v.dtype) @ v


def _p7(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    q, k, v = _heads_first(q, k, v)
    return _wide(q @ _transposed(k) / 4.0, v, 0.1, training)


def _p8(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    q, k, v = _heads_first(q, k, v)
    return _wide(q @ _transposed(k) / 4.0, v, 0.0, training)


def _p9(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    q, k, v = _heads_first(q, k, v)
    return _wide((q / 4.0) @ _transposed(k), v, 0.1, training)


def _p10(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    q, k, v = _heads_first(q, k, v)
    return _wide((q / 4.0) @ _transposed(k), v, 0.0, training)


def _p11(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    return _p1(*_heads_first(q, k, v), training=training)


def _p12(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    return _p3(*_heads_first(q, k, v), training=training)


def _p13(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    weights = torch.bmm(q, k.transpose(1, 2)).softmax(dim=-1)
    return torch.bmm(F.dropout(weights, 0.1, training), v)


def _p14(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, training: bool) -> Tensor:
    q, k, v = _heads_first(q, k, v)
    scores = torch.matmul(q, _transposed(k)).div(4.0) + mask
    return scores.softmax(dim=-1).matmul(v)


def _filled(scores: Tensor, mask: Tensor) -> Tensor:
    """Scores with -inf where a mask `[batch, columns]` is zero."""
    fill = torch.full((), -_INF, dtype=scores.dtype, device=scores.device)
    masked = (mask == 0).view(scores.shape[0], 1, 1, scores.shape[-1]).expand_as(scores)
    return scores.masked_fill(masked, fill)


def _p15(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, training: bool) -> Tensor:
    q, k, v = _heads_first(q, k, v)
    return torch.softmax(_filled((q @ _transposed(k)).div(4.0), mask), dim=-1) @ v


def _p16(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, training: bool) -> Tensor:
    q, k, v = _heads_first(q, k, v)
    weights = (torch.matmul(q, _transposed(k)).div(4.0) + mask).softmax(dim=-1)
    return F.dropout(weights, 0.1, training).to(dtype=q.dtype).matmul(v)


def _p17(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, training: bool) -> Tensor:
    q, k, v = _heads_first(q, k, v)
    weights = torch.softmax(_filled((q @ _transposed(k)).div(4.0), mask), dim=-1)
    return F.dropout(weights, 0.1, training) @ v


def _lowest(scores: Tensor) -> Tensor:
    lowest = torch.finfo(scores.dtype).min
    return torch.full((), lowest, dtype=scores.dtype, device=scores.device)


def _p18(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, training: bool) -> Any:
    q, k, v = _heads_first(q, k, v)
    scores = torch.matmul(q, k.permute(0, 1, 3, 2))
    scores = scores.div(torch.full([], 4.0, dtype=scores.dtype, device=scores.device))
    weights = torch.where(mask, scores, _lowest(scores)).softmax(dim=-1)
    return F.dropout(weights, 0.1, training).matmul(v), k, v


def _p19(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, added: Tensor, training: bool) -> Tensor:
    scores = torch.matmul(q, k.permute(0, 1, 3, 2))
    scores = scores.div(torch.full([], 4.0, dtype=scores.dtype, device=scores.device))
    scores = torch.where(mask, scores, _lowest(scores)) + added
    weights = scores.softmax(dim=-1).type(v.dtype)
    return F.dropout(weights, 0.1, training).matmul(v)


def _p20(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, training: bool) -> Tensor:
    q, k, v = _heads_first(q, k, v)
    weights = torch.softmax(_filled(q.div(4.0) @ _transposed(k), mask), dim=-1)
    return F.dropout(weights, 0.1, training) @ v


def _t5(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, narrow: bool, p: float) -> Any:
    q, k, v = _heads_first(q, k, v)
    scores = torch.matmul(q, k.permute(0, 1, 3, 2))
    if mask is not None:
        scores = scores + mask
    if narrow:
        scores = scores.type_as(q)
    weights = scores.float().softmax(dim=-1).type_as(q)
    return F.dropout(weights, p, p > 0).matmul(v), k, v


def _p21(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, training: bool) -> Any:
    return _t5(q, k, v, mask, True, 0.0)[0]


def _p22(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, training: bool) -> Any:
    return _t5(q, k, v, mask, True, 0.0)


def _p23(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Any:
    return _t5(q, k, v, None, True, 0.0)


def _p24(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, training: bool) -> Tensor:
    b, h, s, d = q.shape
    q, k, v = q.view(b * h, -1, d), k.reshape(b * h, -1, d), v.reshape(b * h, -1, d)
    weights = torch.bmm(q, k.transpose(1, 2)).view(b, h, s, -1) + mask
    weights = F.softmax(weights.view(b * h, s, -1), dim=-1).to(q.dtype)
    return torch.bmm(weights, v).view(b, h, s, d)


def _p25(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, training: bool) -> Any:
    return _t5(q, k, v, mask, False, 0.1 if training else 0.0)[0]


def _p26(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, training: bool) -> Any:
    return _t5(q, k, v, mask, False, 0.1 if training else 0.0)


def _p27(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Any:
    return _t5(q, k, v, None, False, 0.1 if training else 0.0)


def _safe(q: Tensor, k: Tensor, mask: Tensor | None) -> Tensor:
    """Attention weights, with the square root of the scale on both sides, and a safe softmax."""
    scores = torch.ops.aten.mul.Scalar(q, 0.5) @ torch.ops.aten.mul.Scalar(_transposed(k), 0.5)
    scores = scores if mask is None else scores + mask
    return torch.ops.aten._safe_softmax(scores, -1)


def _p29(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, training: bool) -> Tensor:
    q, k, v = _heads_first(q, k, v)
    return _safe(q, k, mask) @ v


def _p30(q: Tensor, k: Tensor, v: Tensor, training: bool) -> Tensor:
    q, k, v = _heads_first(q, k, v)
    return _safe(q, k, None) @ v


def _visformer() -> tuple[Tensor, ...]:
    return tuple(torch.randn(B, H, D, S).transpose(-2, -1) for _ in range(3))


def _with(make: Callable[[], tuple[Any, ...]], *more: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: (*make(), *(one() for one in more))


def _square() -> Tensor:
    return bias(1, 1, S, S)


def _columns() -> Tensor:
    return bias(B, 1, 1, S)


def _ones() -> Tensor:
    return padding(B, S).long()


def _rows_kept() -> Tensor:
    return torch.ones(S, S, dtype=torch.bool).tril().view(1, 1, S, S)


def _spelling(number: int, function: Any, inputs: Any, **more: Any) -> Spelling:
    return Spelling(f"pattern {number}", function, inputs, **more)


_DROPS = {"training": NO_KERNEL_WITH_DROPOUT}
_halves = {"error": _HALF_ERROR}

PATTERNS = (
    _spelling(1, _p1, bhsd),
    _spelling(2, _p2, bhsd),
    _spelling(3, _p3, bhsd, **_DROPS),
    _spelling(4, _p4, bhsd, **_DROPS),
    _spelling(5, _p5, _with(bhsd, _square)),
    _spelling(6, _p6, _with(bhsd, _square), **_DROPS),
    _spelling(7, _p7, lambda: bshd(_HALF), **_DROPS, **_halves),
    _spelling(8, _p8, lambda: bshd(_HALF), **_halves),
    _spelling(9, _p9, lambda: bshd(_HALF), **_DROPS, **_halves),
    _spelling(10, _p10, lambda: bshd(_HALF), **_halves),
    _spelling(11, _p11, bshd),
    _spelling(12, _p12, bshd, **_DROPS),
    _spelling(13, _p13, three, **_DROPS),
    _spelling(14, _p14, _with(bshd, _columns)),
    _spelling(15, _p15, _with(bshd, _ones)),
    _spelling(16, _p16, _with(bshd, _columns), **_DROPS),
    _spelling(17, _p17, _with(bshd, _ones), **_DROPS),
    _spelling(18, _p18, _with(bshd, _rows_kept), **_DROPS),
    _spelling(19, _p19, _with(bhsd, _rows_kept, _square), **_DROPS),
    _spelling(20, _p20, _with(bshd, _ones), **_DROPS),
    _spelling(21, _p21, _with(bshd, _square)),
    _spelling(22, _p22, _with(bshd, _square)),
    _spelling(23, _p23, bshd),
    _spelling(24, _p24, _with(bhsd, _square)),
    _spelling(25, _p25, _with(bshd, _square), **_DROPS),
    _spelling(26, _p26, _with(bshd, _square), **_DROPS),
    _spelling(27, _p27, bshd, **_DROPS),
    _spelling(28, _p4, _visformer, **_DROPS),
    _spelling(29, _p29, _with(bshd, _columns)),
    _spelling(30, _p30, bshd),
)


def _half(spelling: Spelling) -> Spelling:
    def inputs() -> tuple[Any, ...]:
        narrowed = []
        for one in spelling.inputs():
            if isinstance(one, Tensor) and one.dtype is torch.float32:
                made = one.to(_HALF)
                made.wants_grad = getattr(one, "wants_grad", True)  # type: ignore[attr-defined]
                narrowed.append(made)
            else:
                narrowed.append(one)
        return tuple(narrowed)

    return Spelling(
        f"{spelling.name}, half",
        spelling.function,
        inputs,
        spelling.inference,
        spelling.training,
        _HALF_ERROR,
    )


_ALREADY_HALF = (7, 8, 9, 10)
HALF_PATTERNS = tuple(
    _half(one) for number, one in enumerate(PATTERNS, 1) if number not in _ALREADY_HALF
)

__all__ = ["HALF_PATTERNS", "PATTERNS"]
