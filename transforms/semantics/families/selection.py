"""Ops that choose between values: where and masked_fill."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from xductor.transforms.semantics.families.index_maps import broadcast_shape, broadcast_to
from xductor.transforms.semantics.registry import meaning
from xductor.transforms.semantics.scalars import (
    converted,
    joint_dtype,
    known_dtype,
    nonzero,
    number_as,
)
from xductor.transforms.semantics.terms import (
    Term,
    ite,
)
from xductor.transforms.semantics.values import Illegal, TensorValue, World


@meaning("aten.where.self")
def where(world: World, condition: TensorValue, a: TensorValue, b: TensorValue) -> TensorValue:
    if condition.dtype not in (torch.bool, torch.uint8):
        raise Illegal("where: the condition is no bool")
    dtype = joint_dtype((a, b))
    shape = broadcast_shape(world, [condition.shape, a.shape, b.shape])
    asked, yes, no = (broadcast_to(world, one, shape) for one in (condition, a, b))

    def element(index: Sequence[Term]) -> Term:
        return ite(
            nonzero(asked.element(index)),
            converted(yes.element(index), a.dtype, dtype),
            converted(no.element(index), b.dtype, dtype),
        )

    return TensorValue(shape, dtype, element, device=a.device, on_dtype=a.on_dtype)


@meaning("aten.masked_fill.Scalar")
def masked_fill(world: World, x: TensorValue, mask: TensorValue, value: Any) -> TensorValue:
    if mask.dtype is not torch.bool:
        raise Illegal("masked_fill: the mask is no bool")
    dtype = known_dtype(x.dtype)
    shape = broadcast_shape(world, [x.shape, mask.shape])
    wide_x, wide_mask = broadcast_to(world, x, shape), broadcast_to(world, mask, shape)
    filled = number_as(value, dtype)

    def element(index: Sequence[Term]) -> Term:
        return ite(wide_mask.element(index), filled, wide_x.element(index))

    return TensorValue(shape, dtype, element, device=x.device, on_dtype=x.on_dtype)


__all__ = ["masked_fill", "where"]
