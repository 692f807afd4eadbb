"""Functions of single elements that take longer to compute than a result takes to read."""

from __future__ import annotations

_NAMES = (
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sigmoid", "erf"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh"),
)

#: The overloads; generated code computes ranges, comparisons and sums as fast as it reads them.
DEAR_FUNCTIONS = frozenset(
    (
        *(f"aten.{name}.default" for name in _NAMES),
        *(f"aten.pow.{name}" for name in ("Scalar", "Tensor_Scalar", "Tensor_Tensor")),
    )
)

__all__ = ["DEAR_FUNCTIONS"]
