"""Permutes fused into products before autograd: which, and values and gradients as eager's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from tests.transforms.test_torch_level_rewrites import check
from xductor.transforms.matmul.permute_fusions import (
    LINEAR_PERMUTE_FUSION,
    PERMUTE_LINEAR_FUSION,
    PermuteMatmulFusion,
)
from xductor.transforms.rewriting.declared_pass import pass_of
from xductor.transforms.rewriting.driver import watching

Function = Callable[..., Any]


@pytest.fixture(autouse=True)
def as_on_a_gpu() -> Iterator[None]:
    with watching(any_device=True):
        yield


x = torch.randn(2, 3, 4)
weight, square, bias = torch.randn(5, 4), torch.randn(3, 3), torch.randn(5)

AFTER: list[tuple[Function, int]] = [
    (lambda x, w, b: F.linear(x, w, b).permute(0, 2, 1) @ x, 1),
    (lambda x, w, b: F.linear(x, w, bias=b).permute((0, 2, 1)).sum(-1), 1),
    (lambda x, w, b: torch.permute(F.linear(x, w), dims=(0, -1, -2)) @ x + b[0], 1),
    (lambda x, w, b: F.linear(x, w, b).transpose(-1, -2) @ x, 1),
    (lambda x, w, b: torch.swapaxes(F.linear(x, w, b), 2, 1) @ x, 1),
    (lambda x, w, b: torch._C._nn.linear(x, w, b).transpose(1, 2) @ x, 1),
    (lambda x, w, b: F.linear(x, w, b).permute(0, 2, 1), 0),  # the strides of a result
    (lambda x, w, b: F.linear(x, w, b).permute(1, 0, 2), 0),
    (lambda x, w, b: F.linear(x, w, b).permute(0, 1, 2), 0),
    (lambda x, w, b: F.linear(x, w, b).transpose(0, 1), 0),
    (lambda x, w, b: (lambda y: y.permute(0, 2, 1).exp().sum() + y)(F.linear(x, w, b)), 0),
    (lambda x, w, b: F.linear(x, w, b).permute(0, 2, 1).mul_(2), 0),
    (lambda x, w, b: F.linear(x[0], w, b).permute(1, 0), 0),
    (lambda x, w, b: F.linear(x, w[0]).transpose(0, 1) + b[0], 0),
]


@pytest.mark.parametrize(("function", "applied"), AFTER)
def test_a_permute_of_a_linear(function: Function, applied: int) -> None:
    check(pass_of(*LINEAR_PERMUTE_FUSION)(), function, applied, x, weight, bias)


BEFORE: list[tuple[Function, int]] = [
    (lambda x, w, b: F.linear(x.permute(0, 2, 1), w, b), 1),
    (lambda x, w, b: F.linear(x.transpose(2, 1), w, b), 1),
    (lambda x, w, b: F.linear(input=torch.permute(x, (0, 2, 1)), weight=w) + b[0], 1),
    (lambda x, w, b: F.linear(x.mT, w, b), 1),
    (lambda x, w, b: F.linear(x.permute(2, 0, 1), w, b), 0),
    (lambda x, w, b: F.linear(x[0].t(), w, b), 0),
    (lambda x, w, b: F.linear(x.permute(0, 2, 1).exp(), w, b), 0),
]


@pytest.mark.parametrize(("function", "applied"), BEFORE)
def test_a_linear_of_a_permute(function: Function, applied: int) -> None:
    check(pass_of(*PERMUTE_LINEAR_FUSION)(), function, applied, x, square, bias[:3])


MATMULS: list[tuple[Function, int]] = [
    (lambda a, b: torch.matmul(a.permute(0, 2, 1), b), 1),
    (lambda a, b: torch.bmm(a.permute(0, 2, 1), b.permute(0, 1, 2)), 1),
    (lambda a, b: a.permute(0, 2, 1) @ b, 1),
    (lambda a, b: torch.matmul(b.permute(0, 2, 1), other=a), 1),
    (lambda a, b: torch.bmm(b.permute(0, 2, 1), mat2=a.permute(0, 1, 2).exp()), 1),
    (lambda a, b: torch.bmm(a.permute(0, 2, 1), b.permute(0, 2, 1).transpose(1, 2)), 1),
    (lambda a, b: torch.matmul(a.permute(0, 2, 1), b.permute(0, 2, 1).mT), 1),
    (lambda a, b: torch.bmm(a.transpose(1, 2), b), 0),
    (lambda a, b: torch.matmul(a.permute(2, 1, 0), a[:, 0]) + b[0, 0, 0], 0),
    (lambda a, b: torch.matmul(a[0].permute(1, 0), b), 0),
]


@pytest.mark.parametrize(("function", "applied"), MATMULS)
def test_a_product_of_permutes(function: Function, applied: int) -> None:
    check(pass_of(PermuteMatmulFusion)(), function, applied, x, torch.randn(2, 3, 5))


def test_a_permute_with_other_readers() -> None:
    def function(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        permuted = x.permute(0, 2, 1)
        return F.linear(permuted, w).sum() + permuted

    check(pass_of(*PERMUTE_LINEAR_FUSION)(), function, 1, x, square)


def test_both_operands() -> None:
    check(
        pass_of(PermuteMatmulFusion)(),
        lambda a, b: torch.bmm(a.permute(0, 2, 1), b.permute(0, 2, 1)),
        1,
        x,
        torch.randn(2, 5, 3),
    )
