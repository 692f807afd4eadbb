"""Biases of a wider dtype than the kernel's, and numbers that take the place of biased scores.

What positions times a slope give is as large as a row is long, and bfloat16 rounds it to whole
numbers. Scores of single precision hold it, as in MPT and in BLOOM under autocast.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.transforms.attention.fused import compare, fused
from xductor.transforms.attention.replacement import Options

Spelled = Callable[..., Tensor]

_BATCH, _HEADS, _ROWS, _HEAD = 2, 4, 160, 16
_HALF = (torch.bfloat16, torch.float16)


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


def _inputs(dtype: torch.dtype, device: str) -> list[Tensor]:
    """Query, key, value, and a bias in float32 that falls with the position of the key."""
    sizes = (_BATCH, _HEADS, _ROWS, _HEAD)
    drawn = [torch.randn(sizes, device=device).to(dtype) for _ in "qkv"]
    slopes = 1.0 / torch.arange(1, _HEADS + 1, device=device)
    positions = torch.arange(1 - _ROWS, 1, device=device).float()
    return [*drawn, positions * slopes[:, None, None] + torch.rand(1, device=device)]


def _keep(device: str) -> Tensor:
    """The causal mask, without the last columns in one batch entry, and with one row empty."""
    keep = torch.ones(_ROWS, _ROWS, dtype=torch.bool, device=device).tril()
    keep = keep.expand(_BATCH, 1, _ROWS, _ROWS).clone()
    keep[1, ..., -_ROWS // 3 :] = False
    keep[0, :, 7] = False
    return keep


def _biased(q: Tensor, k: Tensor, bias: Tensor) -> Tensor:
    return q @ k.mT * 0.25 + bias


def _weighted(scores: Tensor, v: Tensor) -> Tensor:
    return torch.softmax(scores.to(torch.promote_types(scores.dtype, torch.float32)), -1).to(v) @ v


def _alone(q: Tensor, k: Tensor, v: Tensor, bias: Tensor, keep: Tensor) -> Tensor:
    return _weighted(_biased(q, k, bias), v)


def _causal(q: Tensor, k: Tensor, v: Tensor, bias: Tensor, keep: Tensor) -> Tensor:
    causal = torch.ones(_ROWS, _ROWS, dtype=torch.bool, device=q.device).tril()
    return _weighted(_biased(q, k, bias).masked_fill(~causal, -torch.inf), v)


def _filled(q: Tensor, k: Tensor, v: Tensor, bias: Tensor, keep: Tensor) -> Tensor:
    scores = _biased(q, k, bias)
    return _weighted(scores.masked_fill(~keep, torch.finfo(scores.dtype).min), v)


def _padded(q: Tensor, k: Tensor, v: Tensor, bias: Tensor, keep: Tensor) -> Tensor:
    padding = torch.where(keep.any(-2, keepdim=True), 0.0, -1e9)
    return _weighted(_biased(q, k, bias) + padding, v)


def _infinite(q: Tensor, k: Tensor, v: Tensor, bias: Tensor, keep: Tensor) -> Tensor:
    keep = keep | torch.eye(_ROWS, dtype=torch.bool, device=q.device)
    return _weighted(_biased(q, k, bias).masked_fill(~keep, -torch.inf), v)


def _from_outside(q: Tensor, k: Tensor, v: Tensor, bias: Tensor, keep: Tensor) -> Tensor:
    return _weighted(_biased(q, k, bias) + keep, v)  # one more for each score that is kept


SPELLED = (_alone, _causal, _filled, _padded, _infinite, _from_outside)


def _run(function: Spelled, inputs: list[Tensor], keep: Tensor, grad: bool) -> list[Tensor]:
    """The result and, with `grad`, the gradients of query, key and value, in double.

    On a GPU there is one of the bias too; the kernel of a CPU gives none.
    """
    wanted = 0 if not grad else 4 if keep.is_cuda else 3
    given = [one.detach().clone() for one in inputs]
    asking = [one.requires_grad_() for one in given[:wanted]]
    out = function(*given, keep)
    if not grad:
        return [out.double()]
    weights = torch.linspace(-1.0, 1.0, out.numel(), device=out.device).view(out.shape)
    found = torch.autograd.grad((out.double() * weights).sum(), asking)
    return [out.double(), *(one.double() for one in found)]


def _check(found: list[Tensor], eager: list[Tensor], exact: list[Tensor], kind: Any) -> None:
    """Check errors against eager's; the kernel rounds the gradient of a bias to its own dtype."""
    errors, usual = _error(found, exact), _error(eager, exact)
    for error, other, one in zip(errors, usual, exact, strict=True):
        assert error <= 2 * other + torch.finfo(kind).eps * one.abs().mean().item()


def _check_fused(
    spelled: Spelled, inputs: list[Tensor], keep: Tensor, grad: bool, kind: torch.dtype
) -> None:
    run, outcome = fused(spelled)
    found = _run(run, inputs, keep, grad)
    assert outcome.count == 1, outcome.reasons
    exact = _run(spelled, [one.double() for one in inputs], keep, grad)
    _check(found, _run(spelled, inputs, keep, grad), exact, kind)


def _error(found: list[Tensor], exact: list[Tensor]) -> list[float]:
    return [(one - other).abs().mean().item() for one, other in zip(found, exact, strict=True)]


@pytest.mark.parametrize("grad", [False, True], ids=["inference", "training"])
@pytest.mark.parametrize("dtype", _HALF)
@pytest.mark.parametrize("spelled", SPELLED)
def test_no_further_from_the_exact_result_than_eager(
    spelled: Spelled, dtype: torch.dtype, grad: bool, device: str
) -> None:
    inputs, keep = _inputs(dtype, device), _keep(device)
    _check_fused(spelled, inputs, keep, grad, dtype)


def test_rounded_where_fast_is_asked_for() -> None:
    inputs, keep = _inputs(torch.bfloat16, "cpu"), _keep("cpu")
    run, outcome = fused(_alone, Options(policy="fast"))
    found = _run(run, inputs, keep, grad=False)
    assert outcome.count == 1, outcome.reasons
    assert "amax" not in outcome.text
    exact = _run(_alone, [one.double() for one in inputs], keep, grad=False)
    assert _error(found, exact)[0] < 0.1


@pytest.mark.parametrize("dtype", [torch.float32, *_HALF])
def test_a_bias_that_the_kernel_holds_is_passed_as_it_is(dtype: torch.dtype) -> None:
    *qkv, bias = _inputs(dtype, "cpu")
    run, outcome = fused(_alone)
    _run(run, [*qkv, bias.to(dtype)], _keep("cpu"), grad=False)
    assert outcome.count == 1, outcome.reasons
    assert "amax" not in outcome.text


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("wide", [torch.float32, torch.bfloat16])
def test_a_number_in_the_place_of_biased_scores_has_no_gradient(
    dtype: torch.dtype, wide: torch.dtype, device: str
) -> None:
    """Rows without a score give the value a gradient, and neither query, key nor bias."""
    *qkv, bias = _inputs(dtype, device)
    inputs, keep = [*qkv, bias.to(wide)], torch.zeros(1, 1, _ROWS, _ROWS, device=device).bool()
    keep[..., :4, :] = True
    run, outcome = fused(_filled)
    found = _run(run, inputs, keep, grad=True)
    if device == "cpu" or dtype is torch.bfloat16:  # on CUDA float32 needs tf32
        assert outcome.count == 1, outcome.reasons
    assert not found[1][..., 4:, :].any()
    exact = _run(_filled, [one.double() for one in inputs], keep, grad=True)
    _check(found, _run(_filled, inputs, keep, grad=True), exact, dtype)


def test_numbers_over_biases_that_a_mask_follows_stay() -> None:
    def attend(q: Tensor, k: Tensor, v: Tensor, bias: Tensor, keep: Tensor) -> Tensor:
        filled = (q @ k.mT).masked_fill(~keep, -1e9)
        return torch.softmax(filled + bias, -1).to(v) @ v

    run, outcome = fused(attend)
    _run(run, _inputs(torch.float32, "cpu"), _keep("cpu"), grad=True)
    assert outcome.count == 0
    assert any("masked as a whole" in reason for reason in outcome.reasons)


@pytest.mark.parametrize("value", [torch.nan, torch.inf, -torch.inf])
def test_numbers_that_are_not_finite(value: float) -> None:
    inputs, keep = _inputs(torch.bfloat16, "cpu"), _keep("cpu")
    inputs[3] = inputs[3].expand(_HEADS, _ROWS, _ROWS).clone()
    inputs[3][0, 3, 5] = inputs[3][1, 9, -1] = value
    run, outcome = fused(_alone)
    (found,) = _run(run, inputs, keep, grad=False)
    (expected,) = _run(_alone, inputs, keep, grad=False)
    assert outcome.count == 1, outcome.reasons
    torch.testing.assert_close(found, expected, atol=2e-2, rtol=2e-2, equal_nan=True)


def test_symbolic_sizes() -> None:
    run, outcome = fused(_filled, dynamic=True)
    inputs, keep = _inputs(torch.bfloat16, "cpu"), _keep("cpu")
    given: list[Any] = [*(one[:, :, :120] for one in inputs[:3]), inputs[3][..., :120]]
    keep = keep[..., :120, :120]
    found = _run(run, given, keep, grad=True)
    assert outcome.count == 1, outcome.reasons
    exact = _run(_filled, [one.double() for one in given], keep, grad=True)
    _check(found, _run(_filled, given, keep, grad=True), exact, torch.bfloat16)


def _steps(kind: torch.dtype) -> Tensor:
    return torch.arange(1 - _ROWS, 1).to(kind)


def _wide(q: Tensor, k: Tensor) -> Tensor:
    scores = q @ k.mT * 0.25
    return scores.to(torch.promote_types(scores.dtype, torch.float32))


def _of_integers(q: Tensor, k: Tensor, v: Tensor, bias: Tensor, keep: Tensor) -> Tensor:
    return _weighted(_wide(q, k) + (_steps(torch.long) + 5000), v)


def _of_two(q: Tensor, k: Tensor, v: Tensor, bias: Tensor, keep: Tensor) -> Tensor:
    return _weighted(_wide(q, k) + bias.amax() + (_steps(q.dtype) / 64), v)


def _scaled(q: Tensor, k: Tensor, v: Tensor, bias: Tensor, keep: Tensor) -> Tensor:
    return _weighted((_wide(q, k) + (_steps(q.dtype) + 250)) * 0.3, v)


def _doubled(q: Tensor, k: Tensor, v: Tensor, bias: Tensor, keep: Tensor) -> Tensor:
    numbers = (_steps(q.dtype) * 32 - 57344).expand(_HEADS, 1, _ROWS)
    return _weighted((_wide(q, k) + numbers) * 2, v)  # -inf in float16


@pytest.mark.parametrize("grad", [False, True], ids=["inference", "training"])
@pytest.mark.parametrize("dtype", _HALF)
@pytest.mark.parametrize("spelled", [_of_integers, _of_two, _scaled, _doubled])
def test_numbers_that_fit_until_they_are_summed_or_scaled(
    spelled: Spelled, dtype: torch.dtype, grad: bool
) -> None:
    if spelled is _doubled and dtype is torch.bfloat16:
        pytest.skip("the steps are rounded away")
    *qkv, bias = _inputs(dtype, "cpu")
    inputs, keep = [*qkv, (bias + 5000).to(dtype)], _keep("cpu")
    _check_fused(spelled, inputs, keep, grad, dtype)


@pytest.mark.parametrize("grad", [False, True], ids=["inference", "training"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_bias_far_below_zero_masks_no_row(dtype: torch.dtype, grad: bool) -> None:
    *qkv, bias = _inputs(dtype, "cpu")
    inputs, keep = [*qkv, bias - 8192.0], _keep("cpu")
    _check_fused(_padded, inputs, keep, grad, dtype)


def test_numbers_that_become_huge_stay() -> None:
    """A mask times a negative scale keeps what it should leave out."""

    def attend(q: Tensor, k: Tensor, v: Tensor, bias: Tensor, keep: Tensor) -> Tensor:
        causal = torch.ones(_ROWS, _ROWS, dtype=torch.bool).tril()
        low = torch.zeros(_ROWS, _ROWS).masked_fill(~causal, -1e9)
        return torch.softmax((q @ k.mT + low) * -0.25, -1) @ v

    run, outcome = fused(attend)
    _run(run, _inputs(torch.float32, "cpu"), _keep("cpu"), grad=True)
    assert outcome.count == 0
    assert "250000000.0 is added to some scores" in outcome.reasons


@pytest.mark.parametrize("shape", [(_BATCH, 1, _ROWS, 1), (_ROWS, 1), (_BATCH, 1, 1, 1)])
@pytest.mark.parametrize("low", [-torch.inf, -1e9, torch.finfo(torch.float32).min])
def test_one_number_a_row_from_outside_may_mask_it(shape: tuple[int, ...], low: float) -> None:
    *inputs, _ = _inputs(torch.float32, "cpu")
    given = torch.zeros(shape)
    given[-1] = low
    run, outcome = fused(_alone)
    found = _run(run, [*inputs, given], _keep("cpu"), grad=True)
    assert outcome.count == 1, outcome.reasons
    out, query, key, value = _run(_alone, [*inputs, given], _keep("cpu"), grad=True)
    torch.testing.assert_close(found[0], out, atol=1e-5, rtol=1e-5, equal_nan=True)
    torch.testing.assert_close(found[1], query, atol=1e-4, rtol=1e-4, equal_nan=True)
    torch.testing.assert_close(found[3], value, atol=1e-4, rtol=1e-4, equal_nan=True)
    assert torch.equal(found[2].isnan(), key.isnan())  # its numbers may lack the row's share


def test_symbolic_batch_dims_of_a_result_whose_layout_is_seen() -> None:
    """The product of the batch dims is computed anew for the call that copies its result."""
    five = [torch.randn(2, 3, 4, 33, 16) for _ in "qkv"]
    compared = compare(
        lambda q, k, v, bias: torch.softmax(q @ k.mT + bias, -1) @ v,
        [*five, torch.randn(33)],
        dynamic=True,
    )
    assert compared.outcome.count == 1, compared.outcome.reasons
    assert compared.forward < 1e-5
