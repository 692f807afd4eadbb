"""Pointwise comparisons and logic, whose results are truth values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from xductor.transforms.semantics.families.elementwise import pointwise
from xductor.transforms.semantics.registry import meaning
from xductor.transforms.semantics.scalars import (
    compare,
    exclusive,
    fn,
    is_nan,
    joint_dtype,
    known_dtype,
    nonzero,
)
from xductor.transforms.semantics.terms import BOOL, FALSE, Term, both, constant, either, negation
from xductor.transforms.semantics.values import TensorValue, World

_COMPARISONS: dict[str, Callable[[Term, Term], Term]] = {
    "lt": lambda a, b: compare("lt", a, b),
    "le": lambda a, b: compare("le", a, b),
    "gt": lambda a, b: compare("lt", b, a),
    "ge": lambda a, b: compare("le", b, a),
    "eq": lambda a, b: compare("eq", a, b),
    "ne": lambda a, b: negation(compare("eq", a, b)),
}


def _comparison(name: str) -> Callable[[World, TensorValue, Any], TensorValue]:
    def function(world: World, a: TensorValue, b: Any) -> TensorValue:
        # Narrow floats are compared as they are, and numbers in the joint dtype.
        dtype = joint_dtype((a, b))
        return pointwise(world, (a, b), _COMPARISONS[name], compute=dtype, result=torch.bool)

    return function


for _name in _COMPARISONS:
    meaning(f"aten.{_name}.Tensor", f"aten.{_name}.Scalar", f"prims.{_name}.default")(
        _comparison(_name)
    )


def _logical(function: Callable[[Term, Term], Term]) -> Callable[..., TensorValue]:
    def of_tensors(world: World, a: TensorValue, b: TensorValue) -> TensorValue:
        return pointwise(
            world, (_truths(world, a), _truths(world, b)), function, compute=torch.bool
        )

    return of_tensors


def _truths(world: World, x: TensorValue) -> TensorValue:
    return pointwise(world, (x,), nonzero, compute=known_dtype(x.dtype), result=torch.bool)


meaning("aten.logical_and.default")(_logical(both))
meaning("aten.logical_or.default")(_logical(either))
meaning("aten.logical_xor.default")(_logical(exclusive))


@meaning("aten.logical_not.default")
def logical_not(world: World, x: TensorValue) -> TensorValue:
    return pointwise(
        world,
        (x,),
        lambda item: negation(nonzero(item)),
        compute=known_dtype(x.dtype),
        result=torch.bool,
    )


@meaning("aten.isnan.default")
def isnan(world: World, x: TensorValue) -> TensorValue:
    return pointwise(world, (x,), is_nan, compute=known_dtype(x.dtype), result=torch.bool)


@meaning("aten.isinf.default")
def isinf(world: World, x: TensorValue) -> TensorValue:
    def function(item: Term) -> Term:
        if not (isinstance(item.sort, torch.dtype) and item.sort.is_floating_point):
            return FALSE
        return compare("eq", fn("abs", item), constant(float("inf"), item.sort))

    return pointwise(world, (x,), function, compute=known_dtype(x.dtype), result=torch.bool)


__all__ = ["BOOL"]
