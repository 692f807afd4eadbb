"""Quantisation and dequantisation of PT2E: functions of each element and of the numbers given."""

from __future__ import annotations

from typing import Any

import torch

from xductor.transforms.semantics.families.casts import convert_element_type
from xductor.transforms.semantics.families.elementwise import pointwise
from xductor.transforms.semantics.registry import meaning
from xductor.transforms.semantics.scalars import known_dtype, number_as
from xductor.transforms.semantics.terms import call
from xductor.transforms.semantics.uninterpreted import QUANTIZED
from xductor.transforms.semantics.values import Illegal, NoMeaning, TensorValue, World


@meaning("quantized_decomposed.quantize_per_tensor.default")
def quantize_per_tensor(
    world: World, x: TensorValue, scale: Any, zero: Any, low: Any, high: Any, dtype: Any
) -> TensorValue:
    if known_dtype(x.dtype) not in (torch.float32, torch.float16, torch.bfloat16):
        raise Illegal(f"quantisation of {x.dtype}")
    _check_dtype(dtype)
    numbers = [number_as(one, torch.float64) for one in (scale, zero, low, high)]
    return pointwise(
        world,
        (convert_element_type(world, x, torch.float32),),
        lambda item: call(f"u.quantize_{dtype}", (item, *numbers), dtype),
        compute=torch.float32,
        result=dtype,
    )


@meaning("quantized_decomposed.dequantize_per_tensor.default")
def dequantize_per_tensor(
    world: World,
    x: TensorValue,
    scale: Any,
    zero: Any,
    low: Any,
    high: Any,
    dtype: Any,
    out_dtype: Any = None,
) -> TensorValue:
    """The bounds are not read."""
    if known_dtype(x.dtype) is not dtype:
        raise Illegal(f"dequantisation of {x.dtype} as {dtype}")
    _check_dtype(dtype)
    if out_dtype not in (None, torch.float32):
        raise NoMeaning(f"dequantisation to {out_dtype}")
    numbers = [number_as(one, torch.float64) for one in (scale, zero)]
    return pointwise(
        world,
        (x,),
        lambda item: call("u.dequantize", (item, *numbers), torch.float32),
        compute=dtype,
        result=torch.float32,
    )


def _check_dtype(dtype: Any) -> None:
    if dtype not in QUANTIZED:
        raise Illegal(f"numbers quantised as {dtype}")
