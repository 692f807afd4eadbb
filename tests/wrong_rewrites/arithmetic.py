"""NaN, infinities, the sign of zero, roundings, integer extremes, dropped factors."""

from __future__ import annotations

import torch
from torch import randn

from tests.wrong_rewrites.case import Joint, wrong
from xductor.ir import aten
from xductor.transforms import Scalar, Tensor

a = torch.ops.aten
FLOATS, MANY = randn(8, 8), randn(64, 64)
INTS = torch.arange(-32, 32, dtype=torch.int32)


@wrong("integer overflow", "values", lambda x, y: a.lt(x, y), INTS, INTS.clone())
class LessBySubtraction(Joint):
    def pattern(self, x: Tensor, y: Tensor):
        return aten.lt(x, y)

    def replacement(self, x: Tensor, y: Tensor):
        return aten.lt(aten.sub(x, y), 0)


@wrong("integer overflow", "values", lambda x: a.abs(a.mul(x, 2)), INTS)
class AbsPulledOut(Joint):
    def pattern(self, x: Tensor):
        return aten.abs(aten.mul(x, 2))

    def replacement(self, x: Tensor):
        return aten.mul(aten.abs(x), 2)


@wrong("NaN handling", "values", lambda x: a.relu(x), FLOATS)
class ReluByComparison(Joint):
    def pattern(self, x: Tensor):
        return aten.relu(x)

    def replacement(self, x: Tensor):
        return aten.where(aten.gt(x, 0), x, aten.zeros_like(x))


@wrong("NaN handling", "values", lambda x, y: a.maximum(x, y), MANY, MANY.clone())
class MaximumByComparison(Joint):
    def pattern(self, x: Tensor, y: Tensor):
        return aten.maximum(x, y)

    def replacement(self, x: Tensor, y: Tensor):
        return aten.where(aten.gt(x, y), x, y)


@wrong("NaN handling", "values", lambda x: a.mul(x, 0), FLOATS)
class TimesZeroIsZero(Joint):
    def pattern(self, x: Tensor):
        return aten.mul(x, 0)

    def replacement(self, x: Tensor):
        return aten.zeros_like(x)


@wrong("NaN handling", "values", lambda x: a.sub(x, x), FLOATS)
class MinusItselfIsZero(Joint):
    def pattern(self, x: Tensor):
        return aten.sub(x, x)

    def replacement(self, x: Tensor):
        return aten.zeros_like(x)


@wrong("NaN handling", "values", lambda x: a.div(x, x), FLOATS)
class OverItselfIsOne(Joint):
    numerics = "exact up to the sign of zero"

    def pattern(self, x: Tensor):
        return aten.div(x, x)

    def replacement(self, x: Tensor):
        return aten.ones_like(x)


@wrong("NaN handling", "values", lambda x, y: a.logical_not(a.gt(x, y)), FLOATS, FLOATS.clone())
class NotGreaterIsLessOrEqual(Joint):
    def pattern(self, x: Tensor, y: Tensor):
        return aten.logical_not(aten.gt(x, y))

    def replacement(self, x: Tensor, y: Tensor):
        return aten.le(x, y)


@wrong(
    "sign of zero",
    "values",
    lambda x: a.relu(a.neg(a.add(x, 0.0))) + a.div(1.0, a.add(x, 0.0)),
    FLOATS,
)
class PlusZeroIsNothing(Joint):
    def pattern(self, x: Tensor):
        return aten.add(x, 0.0)

    def replacement(self, x: Tensor):
        return x


@wrong("sign of zero", "values", lambda x, y: a.neg(a.sub(x, y)), MANY, MANY.clone())
class NegatedDifference(Joint):
    def pattern(self, x: Tensor, y: Tensor):
        return aten.neg(aten.sub(x, y))

    def replacement(self, x: Tensor, y: Tensor):
        return aten.sub(y, x)


@wrong("sign lost", "values", lambda x: a.sqrt(a.mul(x, x)), FLOATS)
class RootOfSquare(Joint):
    numerics = "approximate"

    def pattern(self, x: Tensor):
        return aten.sqrt(aten.mul(x, x))

    def replacement(self, x: Tensor):
        return aten.clone(x)


@wrong("domain of log", "values", lambda x: a.exp(a.log(x)), FLOATS)
class ExpOfLog(Joint):
    numerics = "drops a rounding"

    def pattern(self, x: Tensor):
        return aten.exp(aten.log(x))

    def replacement(self, x: Tensor):
        return aten.clone(x)


@wrong("dropped scale", "values", lambda x, y: a.mul(a.mm(x, y), 0.5), FLOATS, FLOATS.clone())
class ScaleDropped(Joint):
    numerics = "reassociates"

    def pattern(self, x: Tensor, y: Tensor, s: Scalar):
        return aten.mul(aten.mm(x, y), s)

    def replacement(self, x: Tensor, y: Tensor):
        return aten.mm(x, y)


@wrong(
    "dropped scale",
    "values",
    lambda b, x, y: a.addmm(b, x, y, beta=2, alpha=3),
    FLOATS,
    FLOATS.clone(),
    FLOATS.clone(),
)
class BetaDropped(Joint):
    numerics = "reassociates"

    def pattern(self, b: Tensor, x: Tensor, y: Tensor, s: Scalar):
        return aten.addmm(b, x, y, beta=..., alpha=s)

    def replacement(self, b: Tensor, x: Tensor, y: Tensor, s: Scalar):
        return aten.addmm(b, x, y, alpha=s)


@wrong("epsilon dropped", "values", lambda x: a.rsqrt(a.add(x, 0.5)), FLOATS)
class EpsilonDropped(Joint):
    numerics = "approximate"

    def pattern(self, x: Tensor, eps: Scalar):
        return aten.rsqrt(aten.add(x, eps))

    def replacement(self, x: Tensor):
        return aten.rsqrt(x)


@wrong(
    "re-association declared exact",
    "values",
    lambda x, y, z: a.add(a.add(x, y), z),
    FLOATS,
    FLOATS.clone(),
    FLOATS.clone(),
)
class AddedInAnotherOrder(Joint):
    def pattern(self, x: Tensor, y: Tensor, z: Tensor):
        return aten.add(aten.add(x, y), z)

    def replacement(self, x: Tensor, y: Tensor, z: Tensor):
        return aten.add(x, aten.add(y, z))


@wrong("rounding declared exact", "values", lambda x: a.div(x, 3.0), FLOATS)
class DivisionByReciprocal(Joint):
    def pattern(self, x: Tensor):
        return aten.div(x, 3.0)

    def replacement(self, x: Tensor):
        return aten.mul(x, 1 / 3.0)


@wrong(
    "rounding declared exact",
    "values",
    lambda x, y: a.mul(a.add(x, y), 1.1),
    FLOATS,
    FLOATS.clone(),
)
class Distributed(Joint):
    def pattern(self, x: Tensor, y: Tensor, s: Scalar):
        return aten.mul(aten.add(x, y), s)

    def replacement(self, x: Tensor, y: Tensor, s: Scalar):
        return aten.add(aten.mul(x, s), aten.mul(y, s))


@wrong("order of bounds", "values", lambda x: a.clamp_min(a.clamp_max(x, -1.0), 1.0), FLOATS)
class BoundsExchanged(Joint):
    def pattern(self, x: Tensor, high: Scalar, low: Scalar):
        return aten.clamp_min(aten.clamp_max(x, high), low)

    def replacement(self, x: Tensor, high: Scalar, low: Scalar):
        return aten.clamp_max(aten.clamp_min(x, low), high)


@wrong(
    "negative integers", "values", lambda x: a.div.Tensor_mode(x, 4, rounding_mode="floor"), INTS
)
class FloorAsTruncation(Joint):
    def pattern(self, x: Tensor, n: Scalar):
        return aten.div(x, n, rounding_mode="floor")

    def replacement(self, x: Tensor, n: Scalar):
        return aten.div(x, n, rounding_mode="trunc")


@wrong("negative integers", "values", lambda x: a.remainder(x, 4), INTS)
class RemainderAsFmod(Joint):
    def pattern(self, x: Tensor, n: Scalar):
        return aten.remainder(x, n)

    def replacement(self, x: Tensor, n: Scalar):
        return aten.fmod(x, n)


@wrong("rounding to even", "values", lambda x: a.round(a.mul(x, 0.5)), torch.arange(-8, 8).float())
class RoundByFloor(Joint):
    def pattern(self, x: Tensor):
        return aten.round(aten.mul(x, 0.5))

    def replacement(self, x: Tensor):
        return aten.floor(aten.add(aten.mul(x, 0.5), 0.5))


@wrong("degrees of freedom", "values", lambda x: a.var(x, [1], correction=1), FLOATS)
class VarianceUncorrected(Joint):
    numerics = "approximate"

    def pattern(self, x: Tensor):
        return aten.var(x, [1], correction=1)

    def replacement(self, x: Tensor):
        return aten.var(x, [1], correction=0)


@wrong("operands exchanged", "values", lambda x, y: a.sub(x, y), FLOATS, FLOATS.clone())
class SubtractionReversed(Joint):
    def pattern(self, x: Tensor, y: Tensor):
        return aten.sub(x, y)

    def replacement(self, x: Tensor, y: Tensor):
        return aten.sub(y, x)


@wrong(
    "operands exchanged",
    "values",
    lambda c, x, y: a.where(c, x, y),
    FLOATS > 0,
    FLOATS,
    FLOATS.clone(),
)
class BranchesExchanged(Joint):
    def pattern(self, c: Tensor, x: Tensor, y: Tensor):
        return aten.where(c, x, y)

    def replacement(self, c: Tensor, x: Tensor, y: Tensor):
        return aten.where(c, y, x)


@wrong("empty tensor", "values", lambda x: a.prod(x), torch.empty(0))
class ProductOfNothingIsZero(Joint):
    numerics = "approximate"

    def pattern(self, x: Tensor):
        return aten.prod(x)

    def replacement(self, x: Tensor):
        return aten.sum(x)


@wrong("empty tensor", "values", lambda x: a.mean(x), torch.empty(0, 3))
class MeanOfNothingIsZero(Joint):
    def pattern(self, x: Tensor):
        return aten.mean(x)

    def replacement(self, x: Tensor):
        return aten.sum(aten.div(x, 3.0))


@wrong("another kernel", "values", lambda x, y: a.mm(x, y), MANY, MANY.clone())
class ProductsSummedAreExact(Joint):
    """The same sums, which another kernel adds up in another order."""

    def pattern(self, x: Tensor, y: Tensor):
        return aten.mm(x, y)

    def replacement(self, x: Tensor, y: Tensor):
        return aten.sum(aten.mul(aten.unsqueeze(x, 2), aten.unsqueeze(y, 0)), [1])


COMPLEX = randn(4, 4, dtype=torch.complex64)


@wrong("conj bit lost", "contract", lambda x: a._conj(x), COMPLEX, says="conj")
class ConjBitDropped(Joint):
    def pattern(self, x: Tensor):
        return aten._conj(x)

    def replacement(self, x: Tensor):
        return aten.clone(x)


@wrong("conj bit lost", "values", lambda x, y: a.mm(a._conj(x), y), COMPLEX, COMPLEX.clone())
class ConjBitDroppedBelowMm(Joint):
    numerics = "reassociates"

    def pattern(self, x: Tensor, y: Tensor):
        return aten.mm(aten._conj(x), y)

    def replacement(self, x: Tensor, y: Tensor):
        return aten.mm(x, y)
