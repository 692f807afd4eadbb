"""More pointwise ops beside their meanings."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch

from tests.transforms.semantics.agreement import (
    DTYPES,
    FLOATS,
    Cases,
    assert_refused,
    b1,
    broadcastable,
    f32,
    f64,
    number,
    sizes,
    tensor,
)
from xductor.transforms.semantics.families.other_names import SAME
from xductor.transforms.semantics.uninterpreted import BINARY, FLOAT_UNARY, UNARY

CASES = Cases()
case = CASES.case


def two(r: random.Random, dtypes: tuple[torch.dtype, ...]) -> tuple[torch.Tensor, torch.Tensor]:
    shape, dtype = sizes(r), r.choice(dtypes)
    other = dtype if r.random() < 0.7 else r.choice(dtypes)
    return tensor(r, shape, dtype), tensor(r, broadcastable(r, shape), other)


@case(*[f"aten.{name}.{'Tensor' if name in ('copysign', 'xlogy') else 'default'}"
        for name in BINARY], relation="close")  # fmt: skip
def _binary(r: random.Random) -> tuple[Any, ...]:
    return two(r, (*FLOATS, *DTYPES))


@case("prims.atan2.default", "prims.hypot.default", "prims.nextafter.default", "prims.pow.default",
      relation="close")  # fmt: skip
def _prims_binary(r: random.Random) -> tuple[Any, ...]:
    shape, dtype = sizes(r, low=1), r.choice((f32, f64))
    return tensor(r, shape, dtype), tensor(r, shape, dtype)


@case("prims.fmax.default", "prims.fmin.default", relation="zero sign")
def _prims_extreme(r: random.Random) -> tuple[Any, ...]:
    shape, dtype = sizes(r, low=1), r.choice((f32, f64))
    return tensor(r, shape, dtype), tensor(r, shape, dtype)


@case(*[f"aten.{name}.default" for name in (*UNARY, *FLOAT_UNARY)], relation="close")
def _unary(r: random.Random) -> tuple[Any, ...]:
    return (tensor(r, sizes(r), r.choice((*FLOATS, *DTYPES))),)


@case("aten.elu.default", relation="close")
def _elu(r: random.Random) -> tuple[Any, ...]:
    x = tensor(r, sizes(r), r.choice(FLOATS))
    return x, r.choice((1, 0.5)), r.choice((1, 2.0)), r.choice((1, 0.5))


@case("aten.softplus.default", relation="close")
def _softplus(r: random.Random) -> tuple[Any, ...]:
    return tensor(r, sizes(r), r.choice(FLOATS)), r.choice((1, 0.5)), r.choice((20, 1))


@case("aten.celu.default", relation="close")
def _celu(r: random.Random) -> tuple[Any, ...]:
    return tensor(r, sizes(r), r.choice(FLOATS)), r.choice((1.0, 0.5))


@case("aten.logit.default", relation="close")
def _logit(r: random.Random) -> tuple[Any, ...]:
    return tensor(r, sizes(r), r.choice(FLOATS)), r.choice((None, 0.1))


@case("aten.pow.Tensor_Tensor", relation="close")
def _pow(r: random.Random) -> tuple[Any, ...]:
    return two(r, (f32, f64, torch.bfloat16))


@case("aten.pow.Scalar", relation="close")
def _pow_of_number(r: random.Random) -> tuple[Any, ...]:
    return r.choice((1, 2, 0.5, 1.0, -1.5)), tensor(r, sizes(r), r.choice(FLOATS))


@case("aten.leaky_relu.default")
def _leaky_relu(r: random.Random) -> tuple[Any, ...]:
    return tensor(r, sizes(r), r.choice(FLOATS)), r.choice((0.01, 0.0, 0.5, -1.0))


@case("aten.hardtanh.default", relation="zero sign")
def _hardtanh(r: random.Random) -> tuple[Any, ...]:
    return tensor(r, sizes(r), r.choice(FLOATS)), *r.choice(((-1, 1), (0.5, 2.0), (0, 6)))


@case("aten.isposinf.default", "aten.isneginf.default",
      "aten.isfinite.default", "aten.positive.default")  # fmt: skip
def _one(r: random.Random) -> tuple[Any, ...]:
    return (tensor(r, sizes(r)),)


@case("aten.relu6.default", relation="zero sign")
def _relu6(r: random.Random) -> tuple[Any, ...]:
    return (tensor(r, sizes(r), r.choice(FLOATS)),)


@case("prims.isfinite.default")
def _prims_isfinite(r: random.Random) -> tuple[Any, ...]:
    return (tensor(r, sizes(r, low=1), r.choice(FLOATS)),)


@case("aten.threshold.default")
def _threshold(r: random.Random) -> tuple[Any, ...]:
    x = tensor(r, sizes(r))
    numbers = (0.5, -1.0) if x.is_floating_point() else (1, 0)
    return x, r.choice(numbers), r.choice(numbers)


@case("aten.threshold_backward.default")
def _threshold_backward(r: random.Random) -> tuple[Any, ...]:
    shape, dtype = sizes(r), r.choice((*FLOATS, torch.int64))
    return tensor(r, shape, dtype), tensor(r, shape, dtype), 0


@case("aten.sigmoid_backward.default", "aten.tanh_backward.default", relation="close")
def _backward(r: random.Random) -> tuple[Any, ...]:
    shape, dtype = sizes(r), r.choice(FLOATS)
    plain = torch.linspace(-1, 1, torch.Size(shape).numel()).reshape(shape).to(dtype)
    return tensor(r, shape, dtype, special=0), plain


@case("aten.clamp.Tensor")
def _clamp(r: random.Random) -> tuple[Any, ...]:
    shape, dtype = sizes(r), r.choice(DTYPES)
    low = tensor(r, broadcastable(r, shape), dtype)
    high = tensor(r, shape, dtype)
    return tensor(r, shape, dtype), *r.choice(((low, None), (None, high), (low, high)))


@case("aten.fmax.default", "aten.fmin.default", relation="zero sign")
def _extreme(r: random.Random) -> tuple[Any, ...]:
    return two(r, DTYPES)


@case("aten.nan_to_num.default")
def _nan_to_num(r: random.Random) -> tuple[Any, ...]:
    x = tensor(r, sizes(r))
    return x, r.choice((None, 1.0)), r.choice((None, 2.0)), r.choice((None, -1.5))


# Operands without an infinity: what a fused product makes of one is the kernel's affair.
@case("aten.addcmul.default", "aten.addcdiv.default", relation="close")
def _addcmul(r: random.Random) -> tuple[Any, ...]:
    shape, dtype = sizes(r), r.choice(FLOATS)
    plain = [torch.linspace(0.5, 3, torch.Size(shape).numel()).reshape(shape) for _ in range(3)]
    return *[one.to(dtype) for one in plain], r.choice((1, 0.5, -2))


@case("aten.lerp.Scalar", relation="close")
def _lerp(r: random.Random) -> tuple[Any, ...]:
    shape, dtype = sizes(r), r.choice(FLOATS)
    a, b = (tensor(r, shape, dtype, special=0) for _ in range(2))
    return a, b, r.choice((0.0, 0.3, 0.5, 1.0, 2.0))


@case("aten.lerp.Tensor", relation="close")
def _lerp_tensor(r: random.Random) -> tuple[Any, ...]:
    shape, dtype = sizes(r), r.choice((f32, f64))
    return tuple([tensor(r, shape, dtype, special=0) for _ in range(3)])


@case("aten.where.ScalarOther")
def _where_other(r: random.Random) -> tuple[Any, ...]:
    shape = sizes(r)
    return tensor(r, shape, b1), tensor(r, broadcastable(r, shape)), number(r)


@case("aten.where.ScalarSelf")
def _where_self(r: random.Random) -> tuple[Any, ...]:
    shape = sizes(r)
    return tensor(r, shape, b1), number(r), tensor(r, broadcastable(r, shape))


@case("aten.where.Scalar")
def _where_scalars(r: random.Random) -> tuple[Any, ...]:
    return tensor(r, sizes(r), b1), number(r), number(r)


@case("prims.where.default")
def _prims_where(r: random.Random) -> tuple[Any, ...]:
    shape, dtype = sizes(r, low=1), r.choice(DTYPES)
    return tensor(r, shape, b1), tensor(r, shape, dtype), tensor(r, shape, dtype)


@case("aten.scalar_tensor.default")
def _scalar_tensor(r: random.Random) -> tuple[Any, ...]:
    return number(r), r.choice((None, *FLOATS))


# The names of others.


def _alike(name: str, r: random.Random) -> tuple[Any, ...]:
    op, overload = SAME[name].split(".")[1:]
    shape = sizes(r, low=1)
    floats = (f32, f64) if name.startswith("prims") else FLOATS
    dtype = r.choice((torch.int64, torch.int8, b1)) if "bitwise" in op else r.choice(floats)
    x = tensor(r, shape, dtype)
    if op in ("transpose", "movedim"):
        return x, r.randrange(len(shape)), r.randrange(-len(shape), 0)
    if op == "clamp":
        low = tensor(r, shape, dtype) if overload == "Tensor" else -0.5
        return x, low
    if op == "logsumexp":
        return x, [0]
    if op == "softmax":
        return x, 0, None
    if overload == "Tensor_mode":
        return tensor(r, shape, torch.int64), r.choice((1, 2, -3)), "floor"
    if overload == "Scalar":
        return x, r.choice((1, 2)) if "bitwise" in op else r.choice((1.0, 0.5, -2.0))
    if overload in ("Tensor",) or op in ("atan2",):
        return x, tensor(r, shape, dtype)
    return (x,)


for _name in SAME:
    _relation = "zero sign" if _name.startswith("aten.clip") else "close"
    case(_name, relation=_relation)(lambda r, name=_name: _alike(name, r))


@pytest.mark.parametrize("name", CASES.names)
def test_meaning_agrees_with_the_op(name: str) -> None:
    CASES.check(name)


X = torch.ones(2, 3)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("aten.atan2.default", (X, torch.ones(2, 2))),
        ("aten.elu.default", (X.long(),)),
        ("aten.leaky_relu.default", (X.long(),)),
        ("aten.mish.default", (X.long(),)),
        ("aten.lerp.Scalar", (X, X.double(), 0.5)),
        ("aten.lerp.Scalar", (X.long(), X.long(), 0.5)),
        ("aten.clamp.Tensor", (X,)),
        ("aten.positive.default", (X.bool(),)),
        ("aten.fmax.default", (X, torch.ones(4))),
        ("aten.where.ScalarOther", (X, X, 1.0)),
        ("aten.threshold.default", (X.bool(), 1, 0)),
    ],
)
def test_what_the_op_refuses_the_meaning_refuses(name: str, given: tuple[Any, ...]) -> None:
    assert_refused(name, given)
