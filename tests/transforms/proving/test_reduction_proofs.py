"""Proofs about sums, products of matrices, softmax and attention; and what is no such thing."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import torch

from xductor import EXACT, REASSOCIATES, Proof, Rewrite, Tensor, all_of
from xductor.ir import aten
from xductor.transforms.proving.prover import prove


class Sums(Rewrite, abstract=True):
    stage = "joint"
    numerics = REASSOCIATES


class BmmToMm(Sums):
    def pattern(self, a: Tensor, b: Tensor) -> Any:
        return aten.bmm(a, b)

    def where(self, a: Tensor, b: Tensor) -> Any:
        return all_of(a.shape[0] == 1, b.shape[0] == 1)

    def replacement(self, a: Tensor, b: Tensor) -> Any:
        return aten.unsqueeze(aten.mm(aten.squeeze(a, 0), aten.squeeze(b, 0)), 0)


class MmOfTransposes(Sums):
    def pattern(self, a: Tensor, b: Tensor) -> Any:
        return aten.mm(aten.permute(a, [1, 0]), aten.permute(b, [1, 0]))

    def replacement(self, a: Tensor, b: Tensor) -> Any:
        return aten.permute(aten.mm(b, a), [1, 0])


class MmOfTransposesInOrder(MmOfTransposes):
    def replacement(self, a: Tensor, b: Tensor) -> Any:
        return aten.permute(aten.mm(a, b), [1, 0])


class MmAsSum(Sums):
    """The products summed by another kernel. In half precision they would be rounded first."""

    def pattern(self, a: Tensor, b: Tensor) -> Any:
        return aten.mm(a, b)

    def where(self, a: Tensor, b: Tensor) -> Any:
        return a.dtype in (torch.float32, torch.float64)

    def replacement(self, a: Tensor, b: Tensor) -> Any:
        return aten.sum(aten.mul(aten.unsqueeze(a, 2), aten.unsqueeze(b, 0)), [1])


class MmAsSumIsExact(MmAsSum):
    numerics = EXACT


class MmAsSumOfIntegersIsExact(MmAsSumIsExact):
    """Integers have one sum, whatever the order."""

    def where(self, a: Tensor, b: Tensor) -> Any:
        return a.dtype == torch.int64

    def replacement(self, a: Tensor, b: Tensor) -> Any:
        return super().replacement(a, b)


class BmmToMmIsExact(BmmToMm):
    numerics = EXACT


class MmOfMoreColumnsIsExact(Sums):
    """One product for two: how its sums are cut may depend on how many columns there are."""

    numerics = EXACT

    def pattern(self, a: Tensor, b: Tensor, c: Tensor) -> Any:
        return aten.mm(a, b), aten.mm(a, c)

    def where(self, a: Tensor) -> Any:
        return a.dtype == torch.float32

    def replacement(self, a: Tensor, b: Tensor, c: Tensor) -> Any:
        joined = aten.mm(a, aten.cat([b, c], 1))
        return aten.slice(joined, 1, 0, b.shape[1]), aten.slice(joined, 1, b.shape[1])


class ClonedMm(Sums):
    """One kernel of the same matrices."""

    def pattern(self, a: Tensor, b: Tensor) -> Any:
        return aten.clone(aten.mm(aten.clone(a), b))

    def replacement(self, a: Tensor, b: Tensor) -> Any:
        return aten.mm(a, b)


class SumOfTransposed(Sums):
    def pattern(self, x: Tensor) -> Any:
        return aten.sum(aten.transpose(x, 0, 1), [0])

    def where(self, x: Tensor) -> Any:
        return x.ndim == 2

    def replacement(self, x: Tensor) -> Any:
        return aten.sum(x, [1])


class SumOfTransposedOverTheSame(SumOfTransposed):
    def replacement(self, x: Tensor) -> Any:
        return aten.sum(x, [0])


class SumOfSum(Sums):
    def pattern(self, x: Tensor) -> Any:
        return aten.sum(aten.sum(x, [1]), [0])

    def where(self, x: Tensor) -> Any:
        return x.ndim == 3

    def replacement(self, x: Tensor) -> Any:
        return aten.sum(x, [0, 1])


class SumOfSumIsExact(SumOfSum):
    numerics = EXACT


class SumOfJoinedRows(Sums):
    """The sum over the first two dims, viewed as one."""

    def pattern(self, x: Tensor) -> Any:
        return aten.sum(x, [0, 1])

    def where(self, x: Tensor) -> Any:
        return x.ndim == 3

    def replacement(self, x: Tensor) -> Any:
        a, b, c = x.shape
        return aten.sum(aten.view(x, [a * b, c]), [0])


class SumOfCat(Sums):
    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return aten.sum(aten.cat([x, y], 0), [0])

    def where(self, x: Tensor, y: Tensor) -> Any:
        return all_of(x.dtype == torch.float32, y.dtype == torch.float32, x.ndim == 2)

    def replacement(self, x: Tensor, y: Tensor) -> Any:
        return aten.add(aten.sum(x, [0]), aten.sum(y, [0]))


class PaddedWithZeros(Sums):
    def pattern(self, a: Tensor, b: Tensor) -> Any:
        return aten.mm(a, b)

    def replacement(self, a: Tensor, b: Tensor) -> Any:
        return aten.mm(aten.constant_pad_nd(a, [0, 3]), aten.constant_pad_nd(b, [0, 0, 0, 3]))


class PaddedWithOnes(PaddedWithZeros):
    def replacement(self, a: Tensor, b: Tensor) -> Any:
        wide = aten.constant_pad_nd(a, [0, 3], 1.0)
        return aten.mm(wide, aten.constant_pad_nd(b, [0, 0, 0, 3], 1.0))


class SplitInner(Sums):
    """A product over the first four of the inner size, and one over the rest.

    That is right; sums over a range are not cut in proofs, so that it is `validated`.
    """

    def pattern(self, a: Tensor, b: Tensor) -> Any:
        return aten.mm(a, b)

    def where(self, a: Tensor, b: Tensor) -> Any:
        return all_of(a.shape[1] > 4, a.dtype == torch.float32, b.dtype == torch.float32)

    def replacement(self, a: Tensor, b: Tensor) -> Any:
        first = aten.mm(aten.slice(a, 1, 0, 4), aten.slice(b, 0, 0, 4))
        return aten.add(first, aten.mm(aten.slice(a, 1, 4), aten.slice(b, 0, 4)))


class SplitInnerWithAGap(SplitInner):
    def replacement(self, a: Tensor, b: Tensor) -> Any:
        first = aten.mm(aten.slice(a, 1, 0, 4), aten.slice(b, 0, 0, 4))
        return aten.add(first, aten.mm(aten.slice(a, 1, 5), aten.slice(b, 0, 5)))


class LinearPair(Sums):
    """Two linears of one input are one, of both weights."""

    def pattern(self, x: Tensor, v: Tensor, w: Tensor) -> Any:
        return aten.linear(x, v), aten.linear(x, w)

    def where(self, x: Tensor, v: Tensor, w: Tensor) -> Any:
        return all_of(v.ndim == 2, w.ndim == 2)

    def replacement(self, x: Tensor, v: Tensor, w: Tensor) -> Any:
        joined = aten.linear(x, aten.cat([v, w], 0))
        return aten.slice(joined, -1, 0, v.shape[0]), aten.slice(joined, -1, v.shape[0])


class LinearPairExchanged(LinearPair):
    def replacement(self, x: Tensor, v: Tensor, w: Tensor) -> Any:
        first, second = super().replacement(x, v, w)
        return second, first


class SpelledSoftmax(Sums):
    def pattern(self, x: Tensor) -> Any:
        e = aten.exp(aten.sub(x, aten.amax(x, [1], True)))
        return aten.div(e, aten.sum(e, [1], True))

    def where(self, x: Tensor) -> Any:
        return all_of(x.ndim == 2, x.dtype == torch.float32)

    def replacement(self, x: Tensor) -> Any:
        return aten._softmax(x, 1, False)


class SpelledSoftmaxOverAnotherDim(SpelledSoftmax):
    def replacement(self, x: Tensor) -> Any:
        return aten._softmax(x, 0, False)


class SoftmaxOverKeysAsAttention(Sums):
    """The softmax is over the queries, which is no attention."""

    def pattern(self, q: Tensor, k: Tensor, v: Tensor) -> Any:
        scores = aten.bmm(q, aten.permute(k, [0, 2, 1]))
        return aten.bmm(aten._softmax(scores, 1, False), v)

    def replacement(self, q: Tensor, k: Tensor, v: Tensor) -> Any:
        return aten.scaled_dot_product_attention(q, k, v, scale=1.0)


class CumsumOfOnes(Sums):
    """A running sum of int8 is int64."""

    numerics = EXACT

    def pattern(self, n: int) -> Any:
        return aten.cumsum(aten.full([n], 1, dtype=torch.int8), 0)

    def replacement(self, n: int) -> Any:
        return aten.arange(1, n + 1, dtype=torch.int8)


class SumDropsZero(Sums):
    """NaN and infinities are not zero, whatever they are multiplied by."""

    def pattern(self, x: Tensor) -> Any:
        return aten.sum(aten.mul(x, 0.0), [0])

    def where(self, x: Tensor) -> Any:
        return all_of(x.ndim == 2, x.dtype == torch.float32)

    def replacement(self, x: Tensor) -> Any:
        return aten.full([x.shape[1]], 0.0)


@pytest.mark.parametrize(
    "rewrite",
    [SumOfTransposed, ClonedMm, MmAsSumOfIntegersIsExact],
)
def test_proved_bit_for_bit(rewrite: type[Rewrite]) -> None:
    proof = prove(rewrite)
    assert (proof.status, proof.needed) == ("proved", "exact"), proof
    assert "sums" in proof.engines, proof


@pytest.mark.parametrize(
    "rewrite",
    [
        BmmToMm,
        MmOfTransposes,
        MmAsSum,
        pytest.param(LinearPair, marks=pytest.mark.slow),
        SumOfSum,
        SumOfJoinedRows,
        PaddedWithZeros,
        pytest.param(SumOfCat, marks=pytest.mark.slow),
        pytest.param(SpelledSoftmax, marks=pytest.mark.slow),
    ],
)
def test_proved_up_to_reassociation(rewrite: type[Rewrite]) -> None:
    proof = prove(rewrite)
    assert proof.status == "proved up to re-association", proof
    assert proof.needed == REASSOCIATES
    assert proof.axioms


@pytest.mark.parametrize(
    "rewrite", [SumOfSumIsExact, MmAsSumIsExact, BmmToMmIsExact, MmOfMoreColumnsIsExact]
)
def test_reassociation_is_not_exact(rewrite: type[Rewrite]) -> None:
    proof = prove(rewrite, seconds=20)
    assert not proof.ok, proof


@pytest.mark.parametrize(
    "rewrite",
    [
        MmOfTransposesInOrder,
        SumOfTransposedOverTheSame,
        PaddedWithOnes,
        SplitInnerWithAGap,
        LinearPairExchanged,
        pytest.param(SpelledSoftmaxOverAnotherDim, marks=pytest.mark.slow),
        SoftmaxOverKeysAsAttention,
        CumsumOfOnes,
        SumDropsZero,
    ],
)
def test_refuted_by_an_example_that_fails(rewrite: type[Rewrite]) -> None:
    proof: Proof = prove(rewrite)
    assert proof.status == "refuted", proof
    assert proof.counter_example is not None, proof
    script = proof.counter_example.script
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 1, script
    assert "AssertionError" in done.stderr or "RuntimeError" in done.stderr, done.stderr
