"""What a pattern leaves unsaid, and must not match for that."""

from __future__ import annotations

import torch
from torch import randn

from tests.wrong_rewrites.case import Joint, wrong
from xductor.ir import aten
from xductor.transforms import Scalar, Tensor, each

a = torch.ops.aten
X = randn(4, 4)


class AnyAlpha(Joint):
    def pattern(self, x: Tensor, y: Tensor):
        return aten.add(x, y, alpha=...)

    def replacement(self, x: Tensor, y: Tensor):
        return aten.add(y, x)


@wrong("argument ignored", "match", lambda x, y: a.add(x, y, alpha=2), X, X.clone(), loose=AnyAlpha)
class AlphaUnsaid(AnyAlpha):
    def pattern(self, x: Tensor, y: Tensor):
        return aten.add(x, y)


class AnyRounding(Joint):
    def pattern(self, x: Tensor, y: Tensor):
        return aten.div(x, y, rounding_mode=...)

    def replacement(self, x: Tensor, y: Tensor):
        return aten.div(x, y)


@wrong(
    "argument ignored",
    "match",
    lambda x, y: a.div(x, y, rounding_mode="floor"),
    X,
    X.clone(),
    loose=AnyRounding,
)
class RoundingUnsaid(AnyRounding):
    def pattern(self, x: Tensor, y: Tensor):
        return aten.div(x, y)


class AnyKeepdim(Joint):
    def pattern(self, x: Tensor):
        return aten.sum(x, [1], ...)

    def replacement(self, x: Tensor):
        return aten.sum(x, [1])


@wrong("argument ignored", "match", lambda x: a.sum(x, [1], True), X, loose=AnyKeepdim)
class KeepdimUnsaid(AnyKeepdim):
    def pattern(self, x: Tensor):
        return aten.sum(x, [1])


class AnyDtype(Joint):
    def pattern(self, x: Tensor):
        return aten.sum(x, [1], dtype=...)

    def replacement(self, x: Tensor):
        return aten.sum(x, [1])


@wrong("argument ignored", "match", lambda x: a.sum(x, [1], dtype=torch.float64), X, loose=AnyDtype)
class DtypeUnsaid(AnyDtype):
    def pattern(self, x: Tensor):
        return aten.sum(x, [1])


class AnyApproximation(Joint):
    def pattern(self, x: Tensor):
        return aten.gelu(x, approximate=...)

    def replacement(self, x: Tensor):
        return aten.gelu(x)


@wrong(
    "argument ignored", "match", lambda x: a.gelu(x, approximate="tanh"), X, loose=AnyApproximation
)
class ApproximationUnsaid(AnyApproximation):
    def pattern(self, x: Tensor):
        return aten.neg(aten.gelu(x))


class AnyTwo(Joint):
    def pattern(self, x: Tensor, y: Tensor):
        return aten.mul(x, y)

    def replacement(self, x: Tensor):
        return aten.square(x)


@wrong("same value twice", "match", lambda x, y: a.mul(x, y), X, X.clone(), loose=AnyTwo)
class SquareOfTwoValues(AnyTwo):
    def pattern(self, x: Tensor):
        return aten.mul(x, x)


class AnyNumber(Joint):
    def pattern(self, x: Tensor, s: Scalar):
        return aten.mul(x, s)

    def replacement(self, x: Tensor):
        return aten.clone(x)


@wrong(
    "constant of another type", "match", lambda x: a.mul(x, 1.0), torch.arange(4), loose=AnyNumber
)
class OneOfAnotherType(AnyNumber):
    def pattern(self, x: Tensor):
        return aten.mul(x, 1)


class AnyZero(Joint):
    def pattern(self, x: Tensor, s: Scalar):
        return aten.sub(x, s)

    def replacement(self, x: Tensor):
        return aten.clone(x)


@wrong("constant of another sign", "match", lambda x: a.sub(x, -0.0), randn(16, 16), loose=AnyZero)
class ZeroOfAnotherSign(AnyZero):
    def pattern(self, x: Tensor):
        return aten.sub(x, 0.0)


class EitherOrder(Joint):
    def pattern(self, x: Tensor, y: Tensor):
        return aten.sub(y, aten.neg(x))

    def replacement(self, x: Tensor, y: Tensor):
        return aten.neg(aten.add(x, y))


@wrong(
    "operands that do not commute",
    "match",
    lambda x, y: a.sub(y, a.neg(x)),
    X,
    X.clone(),
    loose=EitherOrder,
)
class SubtractionCommuted(EitherOrder):
    def pattern(self, x: Tensor, y: Tensor):
        return aten.sub(aten.neg(x), y)


class ScaledEitherOrder(Joint):
    def pattern(self, x: Tensor, y: Tensor):
        return aten.add(y, aten.relu(x), alpha=2)

    def replacement(self, x: Tensor, y: Tensor):
        return aten.add(aten.relu(x), aten.mul(y, 2))


@wrong(
    "operands that do not commute",
    "match",
    lambda x, y: a.add(y, a.relu(x), alpha=2),
    X,
    X.clone(),
    loose=ScaledEitherOrder,
)
class ScaledAddCommuted(ScaledEitherOrder):
    def pattern(self, x: Tensor, y: Tensor):
        return aten.add(aten.relu(x), y, alpha=2)


def _relu_used_twice(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    value = a.relu(x)
    return a.gt(value, 0), a.mul(value, 2)


class BothReplaced(Joint):
    def pattern(self, x: Tensor):
        value = aten.relu(x)
        return value, aten.gt(value, 0)

    def replacement(self, x: Tensor):
        value = aten.clone(x)
        return value, aten.gt(value, 0)


@wrong("missing user check", "match", _relu_used_twice, X, loose=BothReplaced)
class InnerValueUsedElsewhere(Joint):
    def pattern(self, x: Tensor):
        return aten.gt(aten.relu(x), 0)

    def replacement(self, x: Tensor):
        return aten.gt(x, 0)


def _reversed_parts(x: torch.Tensor) -> torch.Tensor:
    first, second = a.split(x, 2, 1)
    return a.cat([a.relu(second), a.relu(first)], 1)


class PartsInAnyOrder(Joint):
    def pattern(self, xs: list[Tensor]):
        return aten.cat(each(xs, aten.relu), 1)

    def replacement(self, xs: list[Tensor]):
        return aten.relu(aten.cat([xs[1], xs[0]], 1))


@wrong("wrong order of cat", "match", _reversed_parts, X, loose=PartsInAnyOrder)
class PartsOutOfOrder(Joint):
    def pattern(self, x: Tensor, n: int):
        return aten.cat(each(aten.split(x, n, 1), aten.relu), 1)

    def replacement(self, x: Tensor):
        return aten.relu(x)


class CatAlongFirst(Joint):
    def pattern(self, x: Tensor, y: Tensor):
        return aten.cat([x, y], ...)

    def replacement(self, x: Tensor, y: Tensor):
        return aten.cat([x, y])


@wrong(
    "argument ignored", "match", lambda x, y: a.cat([x, y], 1), X, X.clone(), loose=CatAlongFirst
)
class CatDimUnsaid(CatAlongFirst):
    def pattern(self, x: Tensor, y: Tensor):
        return aten.cat([x, y])
