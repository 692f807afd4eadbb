"""Rewrites that stock Inductor gets wrong: as stock has them they are refuted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import xductor
from tests.transforms.proving.examples import HalfBfloat, Joint, PlusZero, assert_example_fails
from xductor import DROPS_ROUNDING, REASSOCIATES, UP_TO_ZERO_SIGN, Tensor, all_of
from xductor.ir import aten


class CumsumOfOnes(Joint):
    """cumsum of int8 ones as an arange that is int64."""

    def pattern(self, x: Tensor) -> Any:
        return aten.cumsum(aten.ones_like(x), 0, dtype=torch.int8)

    def where(self, x: Tensor) -> Any:
        return all_of(x.ndim == 1, x.dtype == torch.int8)

    def replacement(self, x: Tensor) -> Any:
        return aten.arange(1, x.shape[0] + 1)


class CatOfSwappedSplit(Joint):
    """cat of exchanged pieces taken for the whole."""

    def pattern(self, x: Tensor, m: int, n: int) -> Any:
        parts = aten.split_with_sizes(x, [m, n], 0)
        return aten.cat([parts[1], parts[0]], 0)

    def replacement(self, x: Tensor) -> Any:
        return aten.clone(x)


class CatOfSplit(CatOfSwappedSplit):
    """The same with the pieces in order, which is right."""

    def pattern(self, x: Tensor, m: int, n: int) -> Any:
        parts = aten.split_with_sizes(x, [m, n], 0)
        return aten.cat([parts[0], parts[1]], 0)


class SoftmaxOverAnyDim(Joint):
    """A softmax over another dim taken for the one of attention."""

    numerics = REASSOCIATES

    def pattern(self, q: Tensor, k: Tensor, v: Tensor, dim: int) -> Any:
        return aten.bmm(aten._softmax(aten.bmm(q, k), dim, False), v)

    def replacement(self, q: Tensor, k: Tensor, v: Tensor) -> Any:
        return aten.bmm(aten._softmax(aten.bmm(q, k), -1, False), v)


class SoftmaxOverLastDim(SoftmaxOverAnyDim):
    """The same with the condition that was forgotten."""

    def where(self, dim: int) -> Any:
        return dim in (2, -1)


@pytest.mark.parametrize(
    "rewrite", [PlusZero, HalfBfloat, CumsumOfOnes, CatOfSwappedSplit, SoftmaxOverAnyDim]
)
def test_refuted_as_stock_has_it(rewrite: type[xductor.Rewrite], tmp_path: Path) -> None:
    assert_example_fails(xductor.prove(rewrite, seconds=60), tmp_path)


class PlusZeroDeclared(PlusZero):
    numerics = UP_TO_ZERO_SIGN


class HalfBfloatDeclared(HalfBfloat):
    numerics = DROPS_ROUNDING


@pytest.mark.parametrize(
    ("rewrite", "needed"),
    [
        (CatOfSplit, "exact"),
        (PlusZeroDeclared, UP_TO_ZERO_SIGN),
        (HalfBfloatDeclared, DROPS_ROUNDING),
    ],
)
def test_proved_as_it_is_right(rewrite: type[xductor.Rewrite], needed: str) -> None:
    proof = xductor.prove(rewrite, seconds=60)
    assert proof.status == "proved", proof
    assert proof.needed == needed


def test_softmax_over_the_last_dim_is_right() -> None:
    proof = xductor.prove(SoftmaxOverLastDim, seconds=60)
    assert proof.ok, proof
    assert proof.needed in ("exact", REASSOCIATES)
