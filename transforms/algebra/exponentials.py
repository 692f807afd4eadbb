"""Exponentials and logarithms that cancel or come together."""

from __future__ import annotations

from typing import Any

from xductor.ir import aten
from xductor.transforms import Rewrite, Scalar, Tensor, no
from xductor.transforms.algebra.numerics import OTHER_TERMS


def _are_alike(x: Tensor, y: Tensor) -> Any:
    if x.dtype != y.dtype or not x.dtype.is_floating_point:
        return no("the exponents are of different dtypes, or integers")
    return x.same_shape(y)


class LogOfExp(Rewrite):
    """`log(exp(x))` is `x`."""

    name = "combine_exponentials"
    stage = "joint"
    numerics = OTHER_TERMS

    def pattern(self, x: Tensor) -> Any:
        return aten.log(aten.exp(x))

    def where(self, x: Tensor) -> Any:
        return x.dtype.is_floating_point or no("an integer becomes a float")

    def replacement(self, x: Tensor) -> Any:
        return aten.clone(x)


class ProductOfExps(Rewrite):
    """`exp(x) * exp(y)` is `exp(x + y)`."""

    name = "combine_exponentials"
    stage = "joint"
    numerics = OTHER_TERMS

    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return aten.mul(aten.exp(x), aten.exp(y))

    def where(self, x: Tensor, y: Tensor) -> Any:
        return _are_alike(x, y)

    def replacement(self, x: Tensor, y: Tensor) -> Any:
        return aten.exp(aten.add(x, y))


class QuotientOfExps(Rewrite):
    """`exp(x) / exp(y)` is `exp(x - y)`."""

    name = "combine_exponentials"
    stage = "joint"
    numerics = OTHER_TERMS

    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return aten.div(aten.exp(x), aten.exp(y))

    def where(self, x: Tensor, y: Tensor) -> Any:
        return _are_alike(x, y)

    def replacement(self, x: Tensor, y: Tensor) -> Any:
        return aten.exp(aten.sub(x, y))


class PowerOfExp(Rewrite):
    """`exp(x) ** c` is `exp(c * x)`, for a number `c` other than zero."""

    name = "combine_exponentials"
    stage = "joint"
    numerics = OTHER_TERMS

    def pattern(self, x: Tensor, exponent: Scalar) -> Any:
        return aten.pow(aten.exp(x), exponent)

    def where(self, x: Tensor, exponent: Scalar) -> Any:
        if not x.dtype.is_floating_point:
            return no("an integer becomes a float")
        return exponent != 0 or no("everything to the power of 0 is 1")

    def replacement(self, x: Tensor, exponent: Scalar) -> Any:
        return aten.exp(aten.mul(x, exponent))


COMBINE_EXPONENTIALS = (LogOfExp, ProductOfExps, QuotientOfExps, PowerOfExp)

__all__ = ["COMBINE_EXPONENTIALS"]
