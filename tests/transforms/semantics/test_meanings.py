"""Each meaning against the op that it is the meaning of, on generated inputs."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

import pytest
import torch

from tests.transforms.semantics.agreement import (
    DTYPES,
    FLOATS,
    Cases,
    b1,
    bf16,
    broadcastable,
    f32,
    f64,
    i8,
    i32,
    i64,
    matrix,
    number,
    sizes,
    tensor,
)
from xductor.transforms.semantics import meanings
from xductor.transforms.semantics.scalars import TRANSCENDENTAL

CASES = Cases()
case = CASES.case
#: Sums with alpha: some kernels fuse the product, and some do not.
SCALED = Cases()


@case(
    "aten.add.Tensor", "aten.sub.Tensor", "aten.mul.Tensor", "aten.div.Tensor",
    "aten.true_divide.Tensor", "aten.maximum.default", "aten.minimum.default", "aten.max.other",
    "aten.min.other", "aten.logical_and.default", "aten.logical_or.default",
    "aten.logical_xor.default", "aten.bitwise_and.Tensor", "aten.bitwise_or.Tensor",
    "aten.bitwise_xor.Tensor", "aten.lt.Tensor", "aten.le.Tensor", "aten.gt.Tensor",
    "aten.ge.Tensor", "aten.eq.Tensor", "aten.ne.Tensor", "aten.rsub.Tensor",
    "aten.clamp_min.Tensor", "aten.clamp_max.Tensor", "aten.remainder.Tensor", "aten.fmod.Tensor",
    "aten.floor_divide.default",
)  # fmt: skip
def _two(r: random.Random) -> tuple[Any, ...]:
    shape = sizes(r)
    dtype = r.choice(DTYPES)
    other = dtype if r.random() < 0.7 else None
    if r.random() < 0.5:
        return tensor(r, shape, dtype), tensor(r, broadcastable(r, shape), other)
    return tensor(r, broadcastable(r, shape), dtype), tensor(r, shape, other)


@case(
    "prims.add.default", "prims.sub.default", "prims.mul.default", "prims.maximum.default",
    "prims.minimum.default", "prims.lt.default", "prims.le.default", "prims.gt.default",
    "prims.ge.default", "prims.eq.default", "prims.ne.default",
)  # fmt: skip
def _two_alike(r: random.Random) -> tuple[Any, ...]:
    shape, dtype = sizes(r, low=1), r.choice(DTYPES)
    return tensor(r, shape, dtype), tensor(r, shape, dtype)


@SCALED.case("aten.add.Tensor", "aten.sub.Tensor", relation="close")
def _with_alpha(r: random.Random) -> tuple[Any, ...]:
    shape, dtype = sizes(r), r.choice(DTYPES)
    alpha = r.choice((2, 3, -1, 0.5, 1.1) if dtype.is_floating_point else (2, 3, -1))
    return tensor(r, shape, dtype), tensor(r, broadcastable(r, shape), dtype), alpha


@case(
    "aten.add.Tensor", "aten.add.Scalar", "aten.sub.Tensor", "aten.sub.Scalar", "aten.mul.Tensor",
    "aten.mul.Scalar", "aten.div.Tensor", "aten.div.Scalar", "aten.rsub.Scalar", "aten.lt.Scalar",
    "aten.le.Scalar", "aten.gt.Scalar", "aten.ge.Scalar", "aten.eq.Scalar", "aten.ne.Scalar",
    "aten.clamp_min.default", "aten.clamp_max.default", "aten.pow.Tensor_Scalar",
    "aten.remainder.Scalar", "aten.fmod.Scalar", "aten.floor_divide.Scalar",
    "aten.bitwise_and.Scalar", "aten.bitwise_or.Scalar", "aten.bitwise_xor.Scalar",
)  # fmt: skip
def _with_number(r: random.Random) -> tuple[Any, ...]:
    return tensor(r, sizes(r)), number(r)


@case("aten.div.Tensor_mode", "aten.div.Scalar_mode")
def _div_mode(r: random.Random) -> tuple[Any, ...]:
    dtype = r.choice((i64, i32, i8, f32, bf16))
    return tensor(r, [5], dtype), r.choice((1, 2, 3, -4)), r.choice(("floor", "trunc", None))


@case("aten.clamp.default")
def _clamp(r: random.Random) -> tuple[Any, ...]:
    low = r.choice((None, -1, 0, 0.5, -1.5))
    high = r.choice((1, 0, 2.5, -2)) if low is None or r.random() < 0.6 else None
    return tensor(r, sizes(r)), low, high


@case(
    "aten.neg.default", "aten.abs.default", "aten.square.default", "aten.sign.default",
    "aten.relu.default", "aten.ceil.default", "aten.floor.default", "aten.trunc.default",
    "aten.round.default", "aten.reciprocal.default", "aten.sqrt.default",
    "aten.bitwise_not.default", "aten.logical_not.default", "aten.isnan.default",
    "aten.isinf.default", "aten.silu.default",
)  # fmt: skip
def _unary(r: random.Random) -> tuple[Any, ...]:
    return (tensor(r, sizes(r)),)


@case("prims.neg.default", "prims.abs.default")
def _prims_unary(r: random.Random) -> tuple[Any, ...]:
    return (tensor(r, sizes(r, low=1), r.choice((*FLOATS, i64, i8))),)


@case("aten.round.decimals")
def _round_decimals(r: random.Random) -> tuple[Any, ...]:
    return tensor(r, [4]), 0


@case("aten.gelu.default")
def _gelu(r: random.Random) -> tuple[Any, ...]:
    return tensor(r, [3], r.choice(FLOATS)), r.choice(("none", "tanh"))


@case("aten.mm.default")
def _mm(r: random.Random) -> tuple[Any, ...]:
    dtype = r.choice((f32, bf16, i64, f64, i8))
    return matrix(r, [2, 3], dtype), matrix(r, [3, r.choice((2, 4))], dtype)


@case("aten.bmm.default")
def _bmm(r: random.Random) -> tuple[Any, ...]:
    batch, dtype = r.randint(0, 3), r.choice((f32, bf16, i64, f64))
    return matrix(r, [batch, 2, 3], dtype), matrix(r, [batch, 3, 2], dtype)


@case("aten.mv.default")
def _mv(r: random.Random) -> tuple[Any, ...]:
    dtype = r.choice((f32, i64))
    return matrix(r, [2, 3], dtype), matrix(r, [3], dtype)


@case("aten.dot.default")
def _dot(r: random.Random) -> tuple[Any, ...]:
    dtype = r.choice((f32, i64))
    return matrix(r, [3], dtype), matrix(r, [3], dtype)


@case("aten.addmm.default")
def _addmm(r: random.Random) -> tuple[Any, ...]:
    dtype = r.choice((f32, bf16, i64))
    bias = matrix(r, r.choice(([2, 2], [2], [1, 2], [2, 1], [1], [])), dtype)
    factors = r.choice(((1, 1), (2, 1), (0, 3), (-1, 2)))
    return bias, matrix(r, [2, 3], dtype), matrix(r, [3, 2], dtype), *factors


@case("aten.baddbmm.default")
def _baddbmm(r: random.Random) -> tuple[Any, ...]:
    dtype = r.choice((f32, i64))
    bias = matrix(r, r.choice(([2, 2, 2], [2, 2], [1, 1, 2])), dtype)
    factors = r.choice(((1, 1), (2, 1), (0, 3)))
    return bias, matrix(r, [2, 2, 3], dtype), matrix(r, [2, 3, 2], dtype), *factors


@case("aten.where.self")
def _where(r: random.Random) -> tuple[Any, ...]:
    shape = sizes(r)
    return tensor(r, shape, b1), tensor(r, broadcastable(r, shape)), tensor(r, shape)


@case("aten.masked_fill.Scalar")
def _masked_fill(r: random.Random) -> tuple[Any, ...]:
    shape, dtype = sizes(r), r.choice(DTYPES)
    value = number(r) if dtype.is_floating_point else r.choice((0, 1, 3))
    return tensor(r, shape, dtype), tensor(r, broadcastable(r, shape), b1), value


@case("prims.convert_element_type.default", "aten.to.dtype", "aten._to_copy.default")
def _cast(r: random.Random) -> tuple[Any, ...]:
    source, target = r.choice(DTYPES), r.choice(DTYPES)
    if source.is_floating_point and not target.is_floating_point and target is not b1:
        return (torch.randn(4, generator=torch.Generator().manual_seed(r.randrange(999))) * 9).to(
            source
        ).abs(), target
    return tensor(r, sizes(r), source), target


@case("prims.device_put.default")
def _device_put(r: random.Random) -> tuple[Any, ...]:
    return tensor(r, sizes(r)), torch.device("cpu")


@case("aten.copy.default")
def _copy(r: random.Random) -> tuple[Any, ...]:
    shape = sizes(r)
    return tensor(r, shape, r.choice(FLOATS)), tensor(r, broadcastable(r, shape))


@case("aten.full.default")
def _full(r: random.Random) -> tuple[Any, ...]:
    return sizes(r), number(r), r.choice((None, *FLOATS, i64))


@case("aten.zeros.default", "aten.ones.default")
def _zeros(r: random.Random) -> tuple[Any, ...]:
    return sizes(r), r.choice((None, *DTYPES))


@case("aten.full_like.default")
def _full_like(r: random.Random) -> tuple[Any, ...]:
    return tensor(r, sizes(r)), number(r), r.choice((None, *FLOATS))


@case("aten.zeros_like.default", "aten.ones_like.default")
def _zeros_like(r: random.Random) -> tuple[Any, ...]:
    return tensor(r, sizes(r)), r.choice((None, *DTYPES))


@case("aten.new_full.default")
def _new_full(r: random.Random) -> tuple[Any, ...]:
    return tensor(r, []), sizes(r), number(r)


@case("aten.new_zeros.default", "aten.new_ones.default")
def _new_zeros(r: random.Random) -> tuple[Any, ...]:
    return tensor(r, []), sizes(r)


@case("aten.fill.Scalar")
def _fill(r: random.Random) -> tuple[Any, ...]:
    return tensor(r, sizes(r), r.choice(FLOATS)), number(r)


@case("prims.iota.default")
def _iota(r: random.Random) -> tuple[Any, ...]:
    dtype = r.choice((i64, i32))
    return r.randint(0, 4), r.randint(-3, 3), r.randint(1, 3), dtype, torch.device("cpu"), False


@case("aten.arange.default")
def _arange(r: random.Random) -> tuple[Any, ...]:
    return r.randint(0, 4), r.choice((None, i32))


@case("aten.arange.start")
def _arange_start(r: random.Random) -> tuple[Any, ...]:
    return r.randint(-2, 2), r.randint(2, 4)


@case("aten.arange.start_step")
def _arange_step(r: random.Random) -> tuple[Any, ...]:
    return r.randint(-2, 2), r.randint(2, 6), r.randint(1, 3)


@case("aten.eye.default")
def _eye(r: random.Random) -> tuple[Any, ...]:
    return r.randint(0, 3), r.choice((None, i64))


@case("aten.triu.default", "aten.tril.default")
def _triangle(r: random.Random) -> tuple[Any, ...]:
    return tensor(r, sizes(r, low=2)), r.randint(-2, 2)


for _name in TRANSCENDENTAL:
    case(f"aten.{_name}.default")(lambda r: (tensor(r, [3]),))

#: Vectorised kernels of libm round otherwise than scalar ones; some products with alpha are fused.
for _name in ("sigmoid", "silu", "gelu", "tanh", "exp", "log", "log2"):
    CASES.relations[f"aten.{_name}.default"] = "close"


@pytest.mark.parametrize("name", CASES.names)
def test_meaning_agrees_with_the_op(name: str) -> None:
    CASES.check(name)


@pytest.mark.parametrize("name", SCALED.names)
def test_meaning_with_alpha_agrees_with_the_op(name: str) -> None:
    SCALED.check(name)


#: The other files with cases.
FILES = (
    "data_movement",
    "reductions",
    "normalization",
    "attention",
    "matrix_products",
    "activations",
    "indexing",
    "randomness",
    "quantization",
)


def test_every_meaning_has_cases() -> None:
    known = set(CASES.names)
    for file in FILES:
        known |= set(import_module(f"tests.transforms.semantics.test_{file}").CASES.names)
    assert set(meanings()) - known == set()
