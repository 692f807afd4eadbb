"""Wrong dtypes, dropped roundings, integer overflow through narrower types."""

from __future__ import annotations

import torch
from torch import randn

from tests.wrong_rewrites.case import Joint, wrong
from xductor.ir import aten, prims
from xductor.transforms import Tensor

a, p = torch.ops.aten, torch.ops.prims
f32, f64, bf16 = torch.float32, torch.float64, torch.bfloat16
i32, i64 = torch.int32, torch.int64


@wrong("wrong dtype", "contract", lambda x: p.convert_element_type(x, f64), randn(4), says="dtype")
class CastDropped(Joint):
    def pattern(self, x: Tensor):
        return prims.convert_element_type(x, f64)

    def replacement(self, x: Tensor):
        return aten.clone(x)


@wrong(
    "wrong dtype",
    "contract",
    lambda x, y: a.div(x, y),
    torch.arange(4),
    torch.arange(1, 5),
    says="dtype",
)
class TrueDivisionAsFloor(Joint):
    def pattern(self, x: Tensor, y: Tensor):
        return aten.div(x, y)

    def replacement(self, x: Tensor, y: Tensor):
        return aten.div.Tensor_mode(x, y, rounding_mode="floor")


@wrong("wrong dtype", "contract", lambda x: a.sum(x), randn(4) > 0, says="dtype")
class CountAsAny(Joint):
    def pattern(self, x: Tensor):
        return aten.sum(x)

    def replacement(self, x: Tensor):
        return aten.any(x)


def _through(middle: torch.dtype, x: torch.Tensor) -> torch.Tensor:
    return a.relu(p.convert_element_type(p.convert_element_type(x, middle), x.dtype))


@wrong("dropped cast rounding declared exact", "values", lambda x: _through(bf16, x), randn(16))
class RoundTripThroughBfloat16(Joint):
    def pattern(self, x: Tensor):
        inner = prims.convert_element_type(x, bf16)
        return aten.relu(prims.convert_element_type(inner, f32))

    def replacement(self, x: Tensor):
        return aten.relu(x)


@wrong(
    "dropped cast rounding declared exact", "values", lambda x: _through(f32, x), randn(16).double()
)
class RoundTripThroughFloat32(Joint):
    def pattern(self, x: Tensor):
        inner = prims.convert_element_type(x, f32)
        return aten.relu(prims.convert_element_type(inner, f64))

    def replacement(self, x: Tensor):
        return aten.relu(x)


@wrong("dropped cast rounding declared exact", "values", lambda x: _through(i64, x), randn(16))
class RoundTripThroughInteger(Joint):
    def pattern(self, x: Tensor):
        inner = prims.convert_element_type(x, i64)
        return aten.relu(prims.convert_element_type(inner, f32))

    def replacement(self, x: Tensor):
        return aten.relu(x)


@wrong(
    "sum in a narrower type",
    "values",
    lambda x: a.sum(p.convert_element_type(x, f32), [0]),
    randn(64, 4).bfloat16(),
)
class SumInBfloat16(Joint):
    numerics = "reassociates"

    def pattern(self, x: Tensor):
        return aten.sum(prims.convert_element_type(x, f32), [0])

    def replacement(self, x: Tensor):
        return prims.convert_element_type(aten.prod(x, 0), f32)


@wrong(
    "integer overflow",
    "values",
    lambda x, y: a.add(p.convert_element_type(x, i64), p.convert_element_type(y, i64)),
    torch.arange(16, dtype=i32),
    torch.arange(16, dtype=i32),
)
class AddBeforeWidening(Joint):
    def pattern(self, x: Tensor, y: Tensor):
        return aten.add(prims.convert_element_type(x, i64), prims.convert_element_type(y, i64))

    def replacement(self, x: Tensor, y: Tensor):
        return prims.convert_element_type(aten.add(x, y), i64)


@wrong("wrong device", "contract", lambda x: a.relu(x), randn(4), says="device")
class OnAnotherDevice(Joint):
    def pattern(self, x: Tensor):
        return aten.relu(x)

    def replacement(self, x: Tensor):
        return aten.full([4], 0.0, dtype=f32, device=torch.device("meta"))
