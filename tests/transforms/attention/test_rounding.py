"""Casts and scales on the way: what they lose, and the numbers of masks that they make infinite."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.transforms.attention.fused import compare, difference, fused
from tests.transforms.attention.spelling import constant
from xductor.transforms.attention.replacement import Options
from xductor.transforms.attention.rounding import (
    Step,
    arrived,
    before,
    blurs,
    gap,
    holds,
    may_overflow,
    overflow_of,
)

F32, F16, BF16 = torch.float32, torch.float16, torch.bfloat16
FP8 = (torch.float8_e4m3fn, torch.float8_e5m2)
LOWEST = torch.finfo(F32).min

Attend = Callable[..., Tensor]


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


def _inputs(dtype: torch.dtype = F32) -> list[Tensor]:
    return [torch.randn(1, 2, 8, 16, dtype=dtype) for _ in "qkv"]


def _softmax(scores: Tensor, **more: Any) -> Tensor:
    return torch.softmax(scores, -1, **more)


def _weights(*dtypes: torch.dtype) -> Attend:
    """Probabilities go through dtypes."""

    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        weights = _softmax(q @ k.mT / 4)
        for dtype in dtypes:
            weights = weights.to(dtype)
        return weights.to(v.dtype) @ v

    return attend


def _scores(*dtypes: torch.dtype) -> Attend:
    """Scores go through dtypes, the last of which is that of the softmax."""

    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        scores = q @ k.mT / 4
        for dtype in dtypes:
            scores = scores.to(dtype)
        return _softmax(scores).to(v.dtype) @ v

    return attend


def _wide_softmax(dtype: torch.dtype) -> Attend:
    return lambda q, k, v: _softmax(q @ k.mT / 4, dtype=dtype).to(v.dtype) @ v


# Casts that lose something.

_LOSSY = [
    *((F32, _weights(dtype)) for dtype in (*FP8, BF16, F16)),
    *((BF16, _weights(dtype)) for dtype in (*FP8, F16)),
    (F16, _weights(BF16)),
    (F16, _weights(F32, FP8[0])),
    *((F32, _scores(dtype, F32)) for dtype in (*FP8, BF16, F16)),
    *((BF16, _scores(dtype, F32)) for dtype in FP8),
    (F16, _scores(F32, BF16, F32)),
    (F32, _wide_softmax(BF16)),
    (torch.float64, _weights(F32)),
]


@pytest.mark.parametrize("policy", ["default", "fast"])
@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize(("dtype", "function"), _LOSSY)
def test_a_cast_that_loses_something(
    dtype: torch.dtype, function: Attend, grad: bool, policy: Any
) -> None:
    found = compare(function, _inputs(dtype), Options(policy), grad=grad)
    assert found.outcome.count == 0
    assert "loses what a kernel keeps" in found.outcome.reasons[0]
    assert found.forward == 0


def test_values_wider_than_what_the_probabilities_were_cast_to() -> None:
    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return _softmax(q @ k.mT / 4, dtype=F32).half().float() @ v

    q, k, _ = _inputs(F16)
    assert compare(attend, (q, k, torch.randn(1, 2, 8, 16))).outcome.count == 0


_LOSSLESS = [
    *((dtype, _wide_softmax(F32)) for dtype in (F16, BF16)),
    *((dtype, _weights()) for dtype in (F32, F16, BF16)),
    *((dtype, _weights(F32)) for dtype in (F16, BF16)),
    *((dtype, _scores(F32)) for dtype in (F16, BF16)),
    *((dtype, _scores(F32, dtype)) for dtype in (F16, BF16)),
    *((dtype, _scores(F32, dtype, F32)) for dtype in (F16, BF16)),
    (F32, _scores(torch.float64, F32)),
]


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize(("dtype", "function"), _LOSSLESS)
def test_casts_as_models_have_them(dtype: torch.dtype, function: Attend, grad: bool) -> None:
    found = compare(function, _inputs(dtype), grad=grad)
    assert found.outcome.count == 1, found.outcome.reasons
    assert found.forward < (2e-6 if dtype is F32 else 2e-2)


def test_operands_that_were_cast_for_the_scores() -> None:
    """Scores in float32 of half operands, rounded to half: no operand is wider."""

    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return _softmax((q.float() @ k.float().mT / 4).half()) @ v

    found = compare(attend, _inputs(F16))
    assert found.outcome.count == 1
    assert found.forward < 2e-3


# Numbers of masks that become infinite.


def _rows_masked(fill: float, dtype: torch.dtype = F32) -> Tensor:
    """Rows 0 to 2 keep nothing, the others keep something."""
    return torch.full((8, 8), fill, dtype=dtype).triu(-2)


_Masked = Callable[[Tensor, Tensor], Tensor]


def _cast(dtype: torch.dtype) -> _Masked:
    return lambda scores, mask: (scores + mask).to(dtype)


def _times(factor: float) -> _Masked:
    return lambda scores, mask: (scores + mask) * factor


def _half_and_back(scores: Tensor, mask: Tensor) -> Tensor:
    return (scores + mask).half().float()


def _in_place(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.add_(mask)


def _multiplied(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.add(scores, mask, alpha=4)


def _twice(scores: Tensor, mask: Tensor) -> Tensor:
    return (scores + mask) * 4 * 0.5


#: A dtype of operands, what masks their scores, and the number of the mask.
_INFINITE = [
    (F16, _cast(F16), -1e9),
    (F16, _cast(F16), LOWEST),
    (F16, _half_and_back, -1e9),
    (F16, _in_place, -1e9),
    (BF16, _cast(BF16), LOWEST),
    (F32, _times(2.0), LOWEST),
    (F32, _times(1e30), -1e9),
    (F32, _twice, LOWEST),
    (F32, _multiplied, LOWEST),
]


def _attending(how: _Masked, make: Callable[[], Tensor] | None) -> Attend:
    def attend(q: Tensor, k: Tensor, v: Tensor, *given: Tensor) -> Tensor:
        mask = make() if make is not None else given[0]
        return _softmax(how(q @ k.mT / 4, mask)).to(v.dtype) @ v

    return attend


def _error(dtype: torch.dtype) -> float:
    return 2e-6 if dtype is F32 else 2e-2


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("outside", [False, True])
@pytest.mark.parametrize(("dtype", "how", "fill"), _INFINITE)
def test_a_row_whose_number_becomes_infinite(
    dtype: torch.dtype, how: _Masked, fill: float, outside: bool, grad: bool
) -> None:
    mask = _rows_masked(fill)
    attend = _attending(how, None if outside else lambda: _rows_masked(fill))
    q, k, v = (one.requires_grad_(grad) for one in _inputs(dtype))
    more = (mask,) if outside else ()
    run, outcome = fused(attend)
    found, expected = run(q, k, v, *more), attend(q, k, v, *more)
    assert expected[..., :3, :].isnan().all()
    assert difference(found, expected) < _error(dtype)
    assert outcome.count == 1, outcome.reasons


@pytest.mark.parametrize("dtype", [F32, F16])
def test_a_number_put_in_that_becomes_infinite(dtype: torch.dtype) -> None:
    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        masked = _rows_masked(1.0).bool()
        scores = (q @ k.mT / 4).float().masked_fill(masked, LOWEST)
        return _softmax(scores.half() if dtype is F16 else scores * 2).to(dtype) @ v

    found = compare(attend, _inputs(dtype))
    assert found.outcome.count == 1
    assert found.forward < _error(dtype)


def test_numbers_that_are_infinite_together() -> None:
    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        mask, causal = (torch.full((8, 8), -4e4).half().triu(place) for place in (-2, 1))
        return _softmax(q @ k.mT / 4 + mask + causal) @ v

    found = compare(attend, _inputs(F16))
    assert found.outcome.reasons == ["masks together may be infinite in half precision"]


def test_numbers_that_stay_finite() -> None:
    """What does not overflow is what it was: the mean of the values."""

    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return _softmax((q @ k.mT / 4 + _rows_masked(-6e4)).half()).to(v.dtype) @ v

    found = compare(attend, _inputs(F16))
    assert found.outcome.count == 1
    assert found.forward < 2e-3


def test_a_cast_that_swallows_scores() -> None:
    """Beside -1e4 float32 has scores, bfloat16 has none."""

    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return _softmax((q @ k.mT / 4 + _rows_masked(-1e4)).to(v.dtype)) @ v

    q, k, v = _inputs(BF16)
    run, outcome = fused(attend)
    found = run(q, k, v)
    assert outcome.count == 1
    mean = v.float().mean(-2, keepdim=True).expand(1, 2, 3, 16)
    torch.testing.assert_close(attend(q, k, v)[..., :3, :].float(), mean, atol=2e-2, rtol=0)
    torch.testing.assert_close(found[..., :3, :].float(), mean, atol=2e-2, rtol=0)


def test_what_keeps_a_score_is_not_looked_for() -> None:
    def causal(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return _softmax((q @ k.mT / 4 + torch.full((8, 8), LOWEST).triu(1)).half()) @ v

    found = compare(causal, _inputs(F16))
    assert "is_causal" in found.outcome.text
    assert found.forward < 2e-3


def test_in_generated_code() -> None:
    """Inductor leaves out the cast that makes the number infinite; it must not hide the NaN."""
    attend = _attending(_cast(F16), lambda: _rows_masked(-1e9))
    given = _attending(_cast(F16), None)
    q, k, v = _inputs(F16)
    torch._dynamo.reset()
    options: dict[str, Any] = {"xductor.on_error": "raise"}
    run: Any = torch.compile(attend, backend="xductor", options=options)
    assert difference(run(q, k, v), attend(q, k, v)) < 2e-3
    run = torch.compile(given, backend="xductor", options=options)
    mask = _rows_masked(-1e9)
    assert difference(run(q, k, v, mask), given(q, k, v, mask)) < 2e-3


@pytest.mark.parametrize("number", [-1e9, 1e9, 1e7])
@pytest.mark.parametrize("tensor", [False, True])
def test_a_number_added_to_all_scores_that_blurs_them(number: float, tensor: bool) -> None:
    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        more = torch.full((8, 8), number) if tensor else number
        return _softmax(q @ k.mT / 4 + more) @ v

    found = compare(attend, _inputs())
    assert found.outcome.count == 0
    assert "is added to all scores" in found.outcome.reasons[0]


def test_a_number_added_to_all_scores_that_does_not() -> None:
    found = compare(lambda q, k, v: _softmax(q @ k.mT / 4 + 3.0) @ v, _inputs())
    assert found.outcome.count == 1
    assert found.forward < 2e-6


def test_a_bias_that_a_later_cast_rounds() -> None:
    def attend(q: Tensor, k: Tensor, v: Tensor, bias: Tensor) -> Tensor:
        return _softmax((q @ k.mT / 4 + bias).half()) @ v

    found = compare(attend, (*_inputs(F16), constant(torch.randn(2, 8, 8) * 4)), grad=True)
    assert found.outcome.count == 1
    assert found.forward < 5e-3


# The path of a number.


def test_paths() -> None:
    path = (Step(1.0, F32), Step(2.0, F32), Step(1.0, F16))
    assert arrived(-1e4, path) == -2e4
    assert arrived(-1e9, path) == -math.inf
    assert arrived(LOWEST, path[:2]) == -math.inf
    assert arrived(LOWEST, (Step(2.0, F32), Step(0.25, F32))) == -math.inf
    assert arrived(0.0, path) == 0.0
    assert before(Step(1.0, F32), path) == path
    assert before(Step(2.0, F32), path) == (Step(2.0, F32), *path)
    assert gap(-1e4, path[:1]) == 2.0**-10
    assert gap(-1e4, path) == 8.0  # 16 between numbers near -2e4, of scores that were doubled
    assert gap(0.0, path) == 0.0
    assert blurs(-1e9, path)
    assert blurs(1e7, path[:1])
    assert not blurs(1e3, path[:1])


def test_ranges() -> None:
    assert not may_overflow(F32, (Step(0.5, F32),))
    assert may_overflow(F32, (Step(2.0, F32),))
    assert may_overflow(F32, (Step(1.0, F32), Step(1.0, BF16)))
    assert not may_overflow(F16, (Step(1.0, BF16),))
    for dtype in (F16, BF16):
        limit = torch.tensor(overflow_of(dtype), dtype=F32)
        assert limit.to(dtype).isinf()
        assert limit.nextafter(torch.zeros(())).to(dtype).isfinite()


def test_what_holds_what() -> None:
    assert holds(F32, BF16)
    assert holds(F32, FP8[0])
    assert holds(F16, F16)
    assert not holds(F16, BF16)
    assert not holds(BF16, F16)
    assert not holds(BF16, F32)
    assert not holds(FP8[0], BF16)
    assert not holds(FP8[1], FP8[0])
