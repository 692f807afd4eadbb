"""Conversions to another dtype or device."""

from __future__ import annotations

from typing import Any

import torch

from xductor.transforms.semantics.registry import meaning
from xductor.transforms.semantics.scalars import converted
from xductor.transforms.semantics.values import NoMeaning, TensorValue, World, dtypes_of_both


@meaning("prims.convert_element_type.default")
def convert_element_type(world: World, x: TensorValue, dtype: torch.dtype) -> TensorValue:
    source = x.dtype
    return TensorValue(
        x.shape,
        dtype,
        lambda index: converted(x.element(index), source, dtype),
        device=x.device,
        on_dtype=x.on_dtype,
    )


@meaning("aten.to.dtype")
def to_dtype(
    world: World,
    x: TensorValue,
    dtype: torch.dtype,
    non_blocking: Any = False,
    copy: Any = False,
    memory_format: Any = None,
) -> TensorValue:
    return convert_element_type(world, x, dtype)


@meaning("aten._to_copy.default")
def to_copy(
    world: World,
    x: TensorValue,
    dtype: torch.dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    non_blocking: Any = False,
    memory_format: Any = None,
) -> TensorValue:
    moved = x if dtype is None else convert_element_type(world, x, dtype)
    return moved if device is None else _on(moved, device)


@meaning("prims.device_put.default")
def device_put(world: World, x: TensorValue, device: Any, non_blocking: Any = False) -> TensorValue:
    return _on(x, device)


def _on(x: TensorValue, device: Any) -> TensorValue:
    place = torch.device(device) if isinstance(device, str) else device
    if not isinstance(place, torch.device):
        raise NoMeaning(f"the device {device!r}")
    return TensorValue(x.shape, x._dtype, x.element, device=place, on_dtype=x.on_dtype)


@meaning("aten.copy.default")
def copy(world: World, x: TensorValue, src: TensorValue, non_blocking: Any = False) -> TensorValue:
    """The content of `src` with the dtype, sizes and device of the first argument."""
    from xductor.transforms.semantics.families.index_maps import expand

    wide = expand(world, src, list(x.shape))
    target, source = dtypes_of_both(x, src)
    return TensorValue(
        x.shape,
        target,
        lambda index: converted(wide.element(index), source, target),
        device=x.device,
        on_dtype=x.on_dtype,
    )
