"""Rows that are masked as a whole: eager's numbers and gradients, from every kernel.

A finite number that is added leaves the gradient of the scores as it is, so eager gives the key a
share for each such row; the fused call gives none. All else is eager's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.transforms.attention.fused import fused
from xductor.transforms.attention.replacement import Options

Spelled = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]

_ROW = 3
_SHAPE = (2, 3, 8, 16)
_ERRORS = {torch.float32: 2e-6, torch.bfloat16: 2e-2, torch.float16: 2e-3}
_HALF = (torch.bfloat16, torch.float16)


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


def _kept(device: str) -> Tensor:
    """Which scores are kept: none of one row, and of others at least one."""
    keep = torch.rand(2, 1, 8, 8, device=device) > 0.3
    keep[..., 0] = True
    keep[0, :, _ROW] = False
    return keep


def _inputs(dtype: torch.dtype, device: str) -> list[Tensor]:
    return [torch.randn(_SHAPE, dtype=dtype, device=device) for _ in "qkv"]


def _scores(q: Tensor, k: Tensor, keep: Tensor) -> Tensor:
    """Scores whose key has no gradient from rows that keep none."""
    active = keep.any(-1, keepdim=True)
    return torch.where(active, q @ k.mT, q @ k.detach().mT) * 0.25


def _plain_scores(q: Tensor, k: Tensor, keep: Tensor) -> Tensor:
    return q @ k.mT * 0.25


def _added(fill: float, dtype: torch.dtype, scores: Any = _plain_scores) -> Spelled:
    """A mask of a dtype, 0 or a number, that is added."""

    def attend(q: Tensor, k: Tensor, v: Tensor, keep: Tensor) -> Tensor:
        mask = torch.zeros(keep.shape, dtype=dtype, device=q.device).masked_fill(~keep, fill)
        return torch.softmax(scores(q, k, keep) + mask, -1).to(v.dtype) @ v

    return attend


def _two_added(fill: float, dtype: torch.dtype, scores: Any = _plain_scores) -> Spelled:
    """The causal mask and another, added one after the other."""

    def attend(q: Tensor, k: Tensor, v: Tensor, keep: Tensor) -> Tensor:
        causal = torch.full((8, 8), fill, dtype=dtype, device=q.device).triu(1)
        mask = torch.where(keep, 0.0, fill).to(dtype)
        return torch.softmax(scores(q, k, keep) + causal + mask, -1).to(v.dtype) @ v

    return attend


def _filled(fill: float, dtype: torch.dtype, scores: Any = _plain_scores) -> Spelled:
    """A number in the place of scores."""

    def attend(q: Tensor, k: Tensor, v: Tensor, keep: Tensor) -> Tensor:
        return torch.softmax(scores(q, k, keep).to(dtype).masked_fill(~keep, fill), -1).to(v) @ v

    return attend


def _filled_after_a_bias(fill: float, dtype: torch.dtype, scores: Any = _plain_scores) -> Spelled:
    """A bias of each head is added, then a number takes the place of scores."""

    def attend(q: Tensor, k: Tensor, v: Tensor, keep: Tensor) -> Tensor:
        bias = torch.linspace(-3, 3, 192, device=q.device, dtype=q.dtype).view(3, 8, 8)
        biased = (scores(q, k, keep) + bias).to(dtype)
        return torch.softmax(biased.masked_fill(~keep, fill), -1).to(v) @ v

    return attend


def _given(mask: Tensor, scores: Any = _plain_scores) -> Spelled:
    """A mask from outside."""

    def attend(q: Tensor, k: Tensor, v: Tensor, keep: Tensor) -> Tensor:
        return torch.softmax(scores(q, k, keep) + mask, -1).to(v.dtype) @ v

    return attend


def _run(function: Spelled, inputs: list[Tensor], keep: Tensor, *, grad: bool) -> list[Tensor]:
    """The result and, with `grad`, the gradients of query, key and value."""
    given = [one.detach().clone().requires_grad_(grad) for one in inputs]
    out = function(*given, keep)  # type: ignore[call-arg]
    if not grad:
        return [out]
    weights = torch.linspace(-1.0, 1.0, out.numel(), device=out.device).view(out.shape)
    return [out, *torch.autograd.grad((out.float() * weights).sum(), given)]


def _check(found: list[Tensor], expected: list[Tensor], error: float) -> None:
    for one, other in zip(found, expected, strict=True):
        assert one.isfinite().all()
        bound = error * max(1.0, other.abs().max().item())
        torch.testing.assert_close(one, other, atol=bound, rtol=0)


def _error(dtype: torch.dtype, device: str) -> float:
    return 2e-3 if device == "cuda" and dtype is torch.float32 else _ERRORS[dtype]


@pytest.fixture
def _tf32(device: str) -> Any:
    before = torch.backends.cuda.matmul.fp32_precision
    torch.backends.cuda.matmul.fp32_precision = "tf32"
    yield
    torch.backends.cuda.matmul.fp32_precision = before


#: A dtype of operands, the dtype of the mask, and what it adds.
_NUMBERS = [
    *((torch.float32, torch.float32, fill) for fill in (torch.finfo(torch.float32).min, -1e9)),
    *((dtype, dtype, torch.finfo(dtype).min) for dtype in _HALF),
    *((dtype, torch.float32, torch.finfo(torch.float32).min) for dtype in _HALF),
    (torch.bfloat16, torch.bfloat16, -1e4),
    (torch.bfloat16, torch.float32, -1e9),
]


@pytest.mark.usefixtures("_tf32")
@pytest.mark.parametrize("grad", [False, True], ids=["inference", "training"])
@pytest.mark.parametrize(("dtype", "masks", "fill"), _NUMBERS)
@pytest.mark.parametrize("spelled", [_added, _two_added, _filled])
def test_numbers_that_swallow_scores(
    spelled: Any, dtype: torch.dtype, masks: torch.dtype, fill: float, grad: bool, device: str
) -> None:
    if spelled is _two_added and torch.finfo(masks).min == fill:
        fill /= 2  # together they are what the dtype holds
    if masks is torch.float16 and fill > -65504:
        pytest.skip("scores are seen beside it")
    inputs, keep = _inputs(dtype, device), _kept(device)
    run, outcome = fused(spelled(fill, masks))
    found = _run(run, inputs, keep, grad=grad)
    assert outcome.count == 1, outcome.reasons
    expected = _run(spelled(fill, masks, _scores), inputs, keep, grad=grad)
    _check(found, expected, _error(dtype, device))


@pytest.mark.parametrize(("fill", "dtype"), [(-1e9, torch.float32), (-1e4, torch.bfloat16)])
def test_in_inference_no_row_is_looked_for(fill: float, dtype: torch.dtype) -> None:
    """One number that swallows scores does so in the kernel: no query and no row is changed."""
    inputs, keep = _inputs(dtype, "cpu"), _kept("cpu")
    run, outcome = fused(_added(fill, dtype))
    _run(run, inputs, keep, grad=False)
    assert "amax" not in outcome.text
    run, outcome = fused(_two_added(fill, dtype))
    _run(run, inputs, keep, grad=False)
    assert "amax" in outcome.text


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("spelled", [_filled, _filled_after_a_bias])
@pytest.mark.parametrize("fill", [-1e4, -1e9, torch.finfo(torch.float32).min])
def test_in_inference_no_row_is_looked_for_where_a_number_takes_the_place_of_scores(
    spelled: Any, fill: float, dtype: torch.dtype, device: str
) -> None:
    inputs, keep = _inputs(dtype, device), _kept(device)
    run, outcome = fused(spelled(fill, torch.float32))
    found = _run(run, inputs, keep, grad=False)
    if device == "cpu" or dtype is torch.bfloat16:  # on CUDA float32 needs tf32
        assert outcome.count == 1, outcome.reasons
        assert "amax" not in outcome.text
        assert "any" not in outcome.text
    expected = _run(spelled(fill, torch.float32), inputs, keep, grad=False)
    _check(found, expected, _error(dtype, device))


@pytest.mark.usefixtures("_tf32")
@pytest.mark.parametrize("grad", [False, True], ids=["inference", "training"])
@pytest.mark.parametrize(("dtype", "masks", "fill"), _NUMBERS)
def test_numbers_from_outside(
    dtype: torch.dtype, masks: torch.dtype, fill: float, grad: bool, device: str
) -> None:
    inputs, keep = _inputs(dtype, device), _kept(device)
    mask = torch.zeros(keep.shape, dtype=masks, device=device).masked_fill(~keep, fill)
    run, outcome = fused(_given(mask))
    found = _run(run, inputs, keep, grad=grad)
    assert outcome.count == 1, outcome.reasons
    expected = _run(_given(mask, _scores), inputs, keep, grad=grad)
    _check(found, expected, _error(dtype, device))


@pytest.mark.usefixtures("_tf32")
def test_infinities_from_outside(device: str) -> None:
    inputs, keep = _inputs(torch.float32, device), _kept(device)
    mask = torch.zeros(keep.shape, device=device).masked_fill(~keep, -torch.inf)
    run, outcome = fused(_given(mask))
    found, *_ = _run(run, inputs, keep, grad=True)
    expected, *_ = _run(_given(mask), inputs, keep, grad=True)
    assert outcome.count == 1
    assert expected[0, :, _ROW].isnan().all()
    torch.testing.assert_close(
        found, expected, atol=_error(torch.float32, device), rtol=0, equal_nan=True
    )


def _infinite(how: str) -> Spelled:
    """-inf takes the place of scores, or is added, or both."""

    def attend(q: Tensor, k: Tensor, v: Tensor, keep: Tensor) -> Tensor:
        scores = q @ k.mT * 0.25
        if "two" in how:
            scores = scores.masked_fill(torch.ones_like(keep).triu(1), -torch.inf)
        if "added" in how:
            scores = scores + torch.where(keep, 0.0, -torch.inf).to(q.dtype)
        if "bias" in how:
            bias = torch.linspace(-1, 1, 3, device=q.device, dtype=q.dtype)
            scores = scores + bias[:, None, None]
        if "put in" in how:
            scores = torch.where(keep, scores, -torch.inf)
        return torch.softmax(scores, -1, dtype=torch.float32).to(v) @ v

    return attend


@pytest.mark.usefixtures("_tf32")
@pytest.mark.parametrize("infinite", ["put in", "added", "put in, two", "put in, bias"])
@pytest.mark.parametrize("dtype", [torch.float32, *_HALF])
def test_gradients_beside_infinities(infinite: str, dtype: torch.dtype, device: str) -> None:
    """NaN goes to the value; to query and key where it was added."""
    inputs, keep = _inputs(dtype, device), _kept(device)
    run, outcome = fused(_infinite(infinite))
    found = _run(run, inputs, keep, grad=True)
    assert outcome.count == 1, outcome.reasons
    expected = _run(_infinite(infinite), inputs, keep, grad=True)
    assert expected[0][0, :, _ROW].isnan().all()
    assert expected[1].isnan().any() == (infinite == "added")
    for one, other in zip(found, expected, strict=True):
        bound = _error(dtype, device) * max(1.0, other.nan_to_num().abs().max().item())
        torch.testing.assert_close(one, other, atol=bound, rtol=0, equal_nan=True)


def test_infinite_values_beside_a_row_of_nan() -> None:
    inputs, keep = _inputs(torch.float32, "cpu"), _kept("cpu")
    inputs[2][:, :, 0, 0] = torch.inf
    run, outcome = fused(_infinite("put in"))
    found, *_ = _run(run, inputs, keep, grad=True)
    expected, *_ = _run(_infinite("put in"), inputs, keep, grad=True)
    assert outcome.count == 1
    torch.testing.assert_close(found, expected, atol=2e-6, rtol=0, equal_nan=True)


def test_gradients_of_repeated_heads() -> None:
    """Where the kernel is given each head once, NaN goes back to the head that was repeated."""

    def attend(q: Tensor, k: Tensor, v: Tensor, keep: Tensor) -> Tensor:
        k, v = (one.repeat_interleave(3, 1) for one in (k, v))
        return _infinite("put in")(q, k, v, keep)

    q, k, v = _inputs(torch.float32, "cpu")
    inputs, keep = [q, k[:, :1], v[:, :1]], _kept("cpu")
    run, outcome = fused(attend)
    found = _run(run, inputs, keep, grad=True)
    expected = _run(attend, inputs, keep, grad=True)
    assert outcome.count == 1
    assert "enable_gqa" in outcome.text
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=0, equal_nan=True)


@pytest.mark.usefixtures("_tf32")
@pytest.mark.parametrize("dtype", [torch.float32, *_HALF])
def test_numbers_beside_which_scores_are_seen(dtype: torch.dtype, device: str) -> None:
    """Such a row is the softmax of its scores, as is its gradient."""
    inputs, keep = _inputs(dtype, device), _kept(device)
    run, outcome = fused(_added(-1e4, torch.float32))
    found = _run(run, inputs, keep, grad=True)
    assert outcome.count == 1
    expected = _run(_added(-1e4, torch.float32), inputs, keep, grad=True)
    _check(found, expected, max(1e-3, _error(dtype, device)))


def test_numbers_that_blur_scores() -> None:
    """What is left of the scores depends on how the sum is rounded."""
    inputs, keep = _inputs(torch.float32, "cpu"), _kept("cpu")
    run, outcome = fused(_added(-1e7, torch.float32))
    found = _run(run, inputs, keep, grad=False)
    assert outcome.count == 1
    _check(found, _run(_added(-1e7, torch.float32), inputs, keep, grad=False), 2e-3)
    run, outcome = fused(_added(-1e7, torch.float32))
    _run(run, inputs, keep, grad=True)
    assert (outcome.count, *outcome.reasons) == (
        0,
        "a row may be masked by numbers that blur the scores",
    )


def _safe(q: Tensor, k: Tensor, v: Tensor, keep: Tensor) -> Tensor:
    """A row that keeps no score is zeros, and has no gradient of NaN."""
    scores = (q @ k.mT * 0.25).masked_fill(~keep, -torch.inf)
    weights = torch.ops.aten._safe_softmax(scores, -1)
    return weights @ v


@pytest.mark.usefixtures("_tf32")
@pytest.mark.parametrize("grad", [False, True], ids=["inference", "training"])
@pytest.mark.parametrize("dtype", [torch.float32, *_HALF])
def test_rows_of_zeros(dtype: torch.dtype, grad: bool, device: str) -> None:
    inputs, keep = _inputs(dtype, device), _kept(device)
    run, outcome = fused(_safe)
    found = _run(run, inputs, keep, grad=grad)
    assert outcome.count == 1, outcome.reasons
    assert (found[0][0, :, _ROW] == 0).all()
    _check(found, _run(_safe, inputs, keep, grad=grad), _error(dtype, device))


def test_the_key_has_a_share_in_eager() -> None:
    """What the fused call leaves out is there in eager, and not small."""
    inputs, keep = _inputs(torch.float32, "cpu"), _kept("cpu")
    lowest = torch.finfo(torch.float32).min
    run, _ = fused(_added(lowest, torch.float32))
    found = _run(run, inputs, keep, grad=True)
    expected = _run(_added(lowest, torch.float32), inputs, keep, grad=True)
    far = [(a - b).abs().max().item() for a, b in zip(found, expected, strict=True)]
    assert far[0] < 2e-6
    assert far[1] < 2e-6
    assert far[2] > 1e-2
    assert far[3] < 2e-6


def test_rows_of_which_all_keep_a_score_cost_nothing() -> None:
    """Under `fast`, and where the mask is known to keep one or is a bias, it is what it was."""

    def causal(q: Tensor, k: Tensor, v: Tensor, bias: Tensor) -> Tensor:
        mask = torch.full((8, 8), -1e9).triu(1)
        return torch.softmax(q @ k.mT * 0.25 + mask + bias, -1) @ v

    inputs, keep = _inputs(torch.float32, "cpu"), _kept("cpu")
    run, outcome = fused(causal)
    _run(run, inputs, torch.randn(3, 8, 8), grad=True)
    assert outcome.count == 1
    assert "amax" not in outcome.text
    run, outcome = fused(_added(-1e9, torch.float32), Options("fast"))
    _run(run, inputs, keep, grad=True)
    assert outcome.count == 1
    assert "amax" not in outcome.text


def test_calls_with_one_mask_share_what_is_made_of_it() -> None:
    def layers(q: Tensor, k: Tensor, v: Tensor, keep: Tensor) -> Tensor:
        mask = torch.where(keep, 0.0, -1e9)
        v = torch.softmax(q @ k.mT * 0.25 + mask, -1) @ v
        v = torch.softmax(v @ k.mT * 0.25 + mask, -1) @ v
        mask.mul_(0.5)
        return torch.softmax(v @ q.mT * 0.25 + mask, -1) @ v

    inputs, keep = _inputs(torch.float32, "cpu"), _kept("cpu")
    run, outcome = fused(layers)
    found = _run(run, inputs, keep, grad=False)
    assert outcome.count == 3
    assert outcome.text.count("torch.gt") == 2
    _check(found, _run(layers, inputs, keep, grad=False), 2e-6)
