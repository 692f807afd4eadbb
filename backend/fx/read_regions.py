"""Where the elements of a tensor lie that a loop reads through views of what it computes.

A type stands for them: its sizes, strides and offset say which element each index reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xductor.ir import Facts, TensorType
from xductor.ir.dialect.types import Dim, contiguous_strides
from xductor.ir.symbolic.expressions import add, mul
from xductor.transforms.editing.replacement import known_equal
from xductor.transforms.in_place.views import step_of

if TYPE_CHECKING:
    from torch.fx import Node


def shows(region: TensorType, type_: TensorType, facts: Facts) -> bool:
    """Whether a tensor of a type certainly has the same element at each index."""
    own = (*region.shape, region.offset)
    if not known_equal(own, (*type_.shape, type_.offset), facts):
        return False
    strides = zip(region.shape, region.stride, type_.stride, strict=True)
    return all(size == 1 or known_equal((one,), (other,), facts) for size, one, other in strides)


def expanded(region: TensorType, shape: tuple[Dim, ...], facts: Facts) -> TensorType | None:
    """What is read if the elements are expanded to a shape; None if that is not known."""
    more = len(shape) - len(region.shape)
    if more < 0:
        return None
    stride: list[Dim] = [0] * more
    for size, own, step in zip(shape[more:], region.shape, region.stride, strict=True):
        if own != 1 and not known_equal((size,), (own,), facts):
            return None
        stride.append(0 if own == 1 and size != 1 else step)
    return _read(region, shape, tuple(stride), region.offset)


def behind_view(
    region: TensorType, view: Node, before: TensorType, after: TensorType, facts: Facts
) -> TensorType | None:
    """What is read of a tensor with the indices of `before` by a view of it; None if not known.

    `after` is the type of the view. Where the tensor that it views lies does not matter.
    """
    target: Any = view.target
    name = f"aten.{target.__name__}"
    if name == "aten.expand.default":
        return expanded(region, after.shape, facts)
    step = step_of(name, _arguments(view), before, after.shape)
    if step[0] == "permute":
        stride = tuple([region.stride[dim] for dim in step[1]])
        return _read(region, after.shape, stride, region.offset)
    if step[0] == "rows":
        return _rows(region, step, after)
    return _reshaped(region, after.shape, facts) if step[0] == "reshape" else None


def _reshaped(region: TensorType, shape: tuple[Dim, ...], facts: Facts) -> TensorType | None:
    strides = [step for size, step in zip(region.shape, region.stride, strict=True) if size != 1]
    if [size for size in region.shape if size != 1] == [size for size in shape if size != 1]:
        left = iter(strides)
        stride = tuple([0 if size == 1 else next(left) for size in shape])
        return _read(region, shape, stride, region.offset)
    if known_equal(region.stride, contiguous_strides(region.shape), facts):
        return _read(region, shape, contiguous_strides(shape), region.offset)
    return None


def _arguments(view: Node) -> tuple[Any, ...]:
    """The arguments behind the tensor, with the defaults of those that are not given."""
    target: Any = view.target
    others = target._schema.arguments[len(view.args) :]
    return (*view.args[1:], *[view.kwargs.get(one.name, one.default_value) for one in others])


def _rows(region: TensorType, step: Any, after: TensorType) -> TensorType | None:
    _, dim, start, _, by, kind = step
    if type(start) is not int or type(by) is not int or start < 0:
        return None
    offset = add(region.offset, mul(region.stride[dim], start))
    stride = list(region.stride)
    if kind == "select":
        del stride[dim]
    else:
        stride[dim] = mul(stride[dim], by)
    return _read(region, after.shape, tuple(stride), offset)


def _read(
    region: TensorType, shape: tuple[Dim, ...], stride: tuple[Dim, ...], offset: Dim
) -> TensorType:
    return TensorType.get(region.dtype, shape, stride, region.device, offset=offset)


__all__ = ["behind_view", "expanded", "shows"]
