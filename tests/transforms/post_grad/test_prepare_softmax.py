"""`prepare_softmax`: the maximum and the sum of a softmax from one operator."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from xductor.transforms.post_grad.prepare_softmax import PrepareSoftmax
from xductor.transforms.rewriting.driver import watching
from xductor.transforms.rewriting.rewrite_pass import RewritePass
from xductor.transforms.validation.values import validating

X = torch.randn(6, 9)


def _softmax(x: Any) -> Any:
    powers = torch.exp(x - torch.amax(x, [-1], True))
    return powers / torch.sum(powers, [-1], True)


def _over_columns(x: Any) -> Any:
    powers = torch.exp(x - torch.amax(x, [0], True))
    return powers / torch.sum(powers, [0], True)


def _log_softmax(x: Any) -> Any:
    shifted = x - torch.amax(x, [1], True)
    return shifted - torch.log(torch.sum(torch.exp(shifted), [1], True))


@pytest.mark.parametrize("function", [_softmax, _over_columns, _log_softmax])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("dynamic", [False, True])
def test_it_gives_what_eager_gives(
    trace: Any, function: Any, dtype: torch.dtype, dynamic: bool
) -> None:
    case = trace(function, X.to(dtype), dynamic=dynamic)
    with validating(), watching(any_device=True, even_unprofitable=True):
        assert case.run(PrepareSoftmax) == 1
    assert "prims.prepare_softmax_online.default" in case.ops
    assert "aten.amax.default" not in case.ops


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.exp(x - torch.amax(x, [1], True)).sum([0], True),
        lambda x: torch.exp(x - torch.amax(x, [1], True)).sum([1]),
        lambda x: torch.exp(x + 1 - torch.amax(x, [1], True)).sum([1], True),
        lambda x: torch.exp2(x - torch.amax(x, [1], True)).sum([1], True),
        lambda x: torch.exp(x - torch.amax(x, [0, 1], True)).sum([0, 1], True),
        lambda x: torch.exp(torch.sub(x, torch.amax(x, [1], True), alpha=2)).sum([1], True),
        lambda x: torch.exp(x - torch.amax(x, [1], True)).sum([1], True, dtype=torch.float64),
    ],
)
def test_what_stays(trace: Any, function: Any) -> None:
    case = trace(function, X)
    with watching(any_device=True, even_unprofitable=True):
        assert case.run(PrepareSoftmax) == 0


def test_only_triton_has_the_kernel(trace: Any) -> None:
    assert trace(_softmax, X).run(PrepareSoftmax) == 0


def test_under_strict_numerics_it_stays(trace: Any) -> None:
    case = trace(_softmax, X)
    with watching(any_device=True, even_unprofitable=True):
        assert RewritePass.of([PrepareSoftmax], policy="strict").rewrite(case.module) == 0
