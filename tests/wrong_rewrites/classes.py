"""Mistakes that are errors when the class is made. `loose` is what they would do."""

from __future__ import annotations

import torch
from torch import randn

from tests.wrong_rewrites.case import Joint, wrong
from xductor.ir import aten
from xductor.transforms import Rewrite, Tensor

a = torch.ops.aten
X = randn(4, 4)


class Unconditional(Joint):
    def pattern(self, x: Tensor):
        return aten.sum(x, [0])

    def replacement(self, x: Tensor):
        return aten.select(x, 0, 0)


@wrong(
    "condition in the pattern",
    "class",
    lambda x: a.neg(a.sum(x, [0])),
    X,
    loose=Unconditional,
    says="where",
)
def condition_in_pattern() -> type[Rewrite]:
    class ConditionInPattern(Unconditional):
        def pattern(self, x: Tensor):
            return aten.sum(x, [0]) if x.shape[0] == 1 else aten.sum(x, [1])

    return ConditionInPattern


@wrong(
    "misspelt op", "class", lambda x: a.relu(x), X, loose=lambda x: a.rellu(x), says="Did you mean"
)
def misspelt_op() -> type[Rewrite]:
    class MisspeltOp(Joint):
        def pattern(self, x: Tensor):
            return aten.rellu(x)

        def replacement(self, x: Tensor):
            return x

    return MisspeltOp


@wrong(
    "misspelt argument",
    "class",
    lambda x: a.sum(x, [0], True),
    X,
    loose=lambda x: a.sum(x, [0], keep_dim=True),
    says="fits no overload",
)
def misspelt_argument() -> type[Rewrite]:
    class MisspeltArgument(Joint):
        def pattern(self, x: Tensor):
            return aten.sum(x, [0], keep_dim=True)

        def replacement(self, x: Tensor):
            return x

    return MisspeltArgument


@wrong(
    "unbound variable",
    "class",
    lambda x: a.relu(x),
    X,
    loose=lambda x: a.relu(None),
    says="does not bind",
)
def unbound_variable() -> type[Rewrite]:
    class UnboundVariable(Joint):
        def pattern(self, x: Tensor):
            return aten.relu(x)

        def replacement(self, y: Tensor):
            return aten.relu(y)

    return UnboundVariable


class Forgotten(Joint):
    def pattern(self, x: Tensor, y: Tensor):
        return aten.add(x, y)

    def replacement(self, x: Tensor):
        return aten.add(x, x)


@wrong(
    "unused variable",
    "class",
    lambda x, y: a.add(x, y),
    X,
    X.clone(),
    loose=Forgotten,
    says="does not use",
)
def unused_variable() -> type[Rewrite]:
    class UnusedVariable(Joint):
        def pattern(self, x: Tensor, y: Tensor):
            return aten.add(x, x)

        def replacement(self, x: Tensor, y: Tensor):
            return aten.add(x, y)

    return UnusedVariable


@wrong(
    "numerics misspelt",
    "class",
    lambda x: a.neg(a.sum(x, [0])),
    X,
    loose=Unconditional,
    says="numerics",
)
def numerics_misspelt() -> type[Rewrite]:
    class NumericsMisspelt(Unconditional):
        numerics = "exactly"  # type: ignore[assignment]

    return NumericsMisspelt
