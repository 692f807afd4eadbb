"""Each meaning against the op that it is the meaning of, on generated inputs."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

import pytest
import torch

from tests.ir.meaning.agreement import (
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
from xductor.ir.meaning import meanings
from xductor.ir.meaning.scalars import TRANSCENDENTAL

CASES = Cases()
case = CASES.case
SCALED = Cases()
"""Sums with alpha: some kernels fuse the product, and some do not."""


@case(
    "aten.clone.default", "aten.contiguous.default", "aten.lift_fresh_copy.default",
    "aten.alias.default", "aten.detach.default", "aten.lift_fresh.default", "aten.t.default",
    "aten.t_copy.default", "aten.numpy_T.default", "aten.mT.default", "aten.squeeze.default",
    "aten.ravel.default", "prims.view_of.default",
)  # fmt: skip
def _one(r: random.Random) -> tuple[Any, ...]:
    return (tensor(r, sizes(r)),)


@case("aten.permute.default", "prims.transpose.default", "aten.permute_copy.default")
def _permute(r: random.Random) -> tuple[Any, ...]:
    shape = sizes(r)
    dims = list(range(len(shape)))
    r.shuffle(dims)
    return tensor(r, shape), dims


@case("aten.transpose.int", "aten.transpose_copy.int", "aten.movedim.int")
def _transpose(r: random.Random) -> tuple[Any, ...]:
    shape = sizes(r)
    rank = max(len(shape), 1)
    return tensor(r, shape), r.randrange(-rank, rank), r.randrange(-rank, rank)


@case("aten.unsqueeze.default", "aten.unsqueeze_copy.default")
def _unsqueeze(r: random.Random) -> tuple[Any, ...]:
    shape = sizes(r)
    return tensor(r, shape), r.randrange(-len(shape) - 1, len(shape) + 1)


@case("aten.squeeze.dim", "aten.squeeze_copy.dim")
def _squeeze_dim(r: random.Random) -> tuple[Any, ...]:
    shape = sizes(r)
    return tensor(r, shape), r.randrange(-max(len(shape), 1), max(len(shape), 1))


@case("aten.squeeze.dims")
def _squeeze_dims(r: random.Random) -> tuple[Any, ...]:
    shape = sizes(r)
    return tensor(r, shape), [dim for dim in range(len(shape)) if r.random() < 0.6]


@case("prims.squeeze.default")
def _prims_squeeze(r: random.Random) -> tuple[Any, ...]:
    shape = sizes(r)
    ones = [dim for dim, size in enumerate(shape) if size == 1]
    return tensor(r, shape), [dim for dim in ones if r.random() < 0.6]


@case("aten.expand.default", "aten.expand_copy.default")
def _expand(r: random.Random) -> tuple[Any, ...]:
    shape = sizes(r)
    wanted = [r.choice((size, -1, 2)) for size in shape]
    return tensor(r, shape), [*sizes(r, r.randint(0, 2)), *wanted]


@case("aten.expand_as.default")
def _expand_as(r: random.Random) -> tuple[Any, ...]:
    shape = sizes(r)
    return tensor(r, broadcastable(r, shape)), tensor(r, shape)


@case("prims.broadcast_in_dim.default")
def _broadcast_in_dim(r: random.Random) -> tuple[Any, ...]:
    shape = sizes(r, low=1)
    dims = sorted(r.sample(range(len(shape)), r.randint(0, len(shape))))
    return tensor(r, [r.choice((1, shape[dim])) for dim in dims]), shape, dims


@case("aten.select.int", "aten.select_copy.int")
def _select(r: random.Random) -> tuple[Any, ...]:
    shape = sizes(r, low=1)
    return tensor(r, shape), r.randrange(-len(shape), len(shape)), r.randint(-3, 3)


@case("aten.slice.Tensor", "aten.slice_copy.Tensor")
def _slice(r: random.Random) -> tuple[Any, ...]:
    shape = sizes(r, low=1)
    bound = (None, 0, 1, 2, 5, -1, -2, -7, 2**63 - 1)
    dim = r.randrange(-len(shape), len(shape))
    return tensor(r, shape), dim, r.choice(bound[:8]), r.choice(bound), r.choice((1, 1, 2, 3))


@case("aten.narrow.default", "aten.narrow_copy.default")
def _narrow(r: random.Random) -> tuple[Any, ...]:
    shape = sizes(r, low=1)
    return tensor(r, shape), r.randrange(len(shape)), r.randint(-2, 2), r.randint(0, 2)


@case("aten.flip.default")
def _flip(r: random.Random) -> tuple[Any, ...]:
    shape = sizes(r)
    return tensor(r, shape), [dim for dim in range(len(shape)) if r.random() < 0.6]


@case("aten.roll.default")
def _roll(r: random.Random) -> tuple[Any, ...]:
    shape = sizes(r, low=1)
    dims = [r.randrange(len(shape)) for _ in range(r.randint(1, 2))]
    return tensor(r, shape), [r.randint(-4, 4) for _ in dims], dims


@case("aten.repeat.default")
def _repeat(r: random.Random) -> tuple[Any, ...]:
    shape = sizes(r, r.randint(0, 2))
    return tensor(r, shape), [r.randint(0, 2) for _ in range(len(shape) + r.randint(0, 1))]


@case("aten.diagonal.default")
def _diagonal(r: random.Random) -> tuple[Any, ...]:
    shape = sizes(r, low=2)
    return tensor(r, shape), r.randint(-2, 2), *r.sample(range(len(shape)), 2)


@case(
    "aten.view.default", "aten.reshape.default", "aten._unsafe_view.default",
    "aten.view_copy.default", "prims.reshape.default", "aten._reshape_copy.default",
)  # fmt: skip
def _view(r: random.Random) -> tuple[Any, ...]:
    shape = r.choice(([2, 6], [12], [3, 4], [2, 2, 3], [4, 3], [1, 12], [6, 1, 2], [2, 3, 2, 1]))
    wanted = r.choice(([2, 6], [12], [3, 4], [2, 2, 3], [4, 3], [6, 2], [3, 2, 2], [1, 12, 1]))
    wanted = list(wanted)
    if r.random() < 0.3:
        wanted[r.randrange(len(wanted))] = -1
    return tensor(r, shape), wanted


@case("aten.flatten.using_ints")
def _flatten(r: random.Random) -> tuple[Any, ...]:
    shape = sizes(r)
    first = r.randrange(max(len(shape), 1))
    return tensor(r, shape), first, r.choice((-1, first))


@case("aten.unflatten.int")
def _unflatten(r: random.Random) -> tuple[Any, ...]:
    return tensor(r, [2, 6]), r.choice((1, -1)), r.choice(([2, 3], [6, 1], [3, -1]))


@case("aten.view_as.default", "aten.reshape_as.default")
def _view_as(r: random.Random) -> tuple[Any, ...]:
    return tensor(r, [2, 6]), tensor(r, r.choice(([12], [3, 4], [6, 2])))


@case("aten.view.dtype")
def _view_dtype(r: random.Random) -> tuple[Any, ...]:
    x = tensor(r, sizes(r))
    return x, x.dtype


@case("aten.cat.default", "aten.concat.default", "aten.concatenate.default")
def _cat(r: random.Random) -> tuple[Any, ...]:
    shape = sizes(r, low=1)
    dim = r.randrange(len(shape))
    same = r.choice((None, f32, i64))
    made = []
    for _ in range(r.randint(1, 3)):
        own = [r.randint(0, 2) if k == dim else size for k, size in enumerate(shape)]
        made.append(tensor(r, [0] if made and r.random() < 0.1 else own, same))
    return made, r.choice((dim, dim - len(shape)))


@case("aten.stack.default")
def _stack(r: random.Random) -> tuple[Any, ...]:
    shape = sizes(r, r.randint(0, 2))
    return [tensor(r, shape) for _ in range(r.randint(1, 3))], r.randrange(
        -len(shape) - 1, len(shape) + 1
    )


@case("aten.split_with_sizes.default", "aten.split.sizes", "aten.split_with_sizes_copy.default")
def _split_sizes(r: random.Random) -> tuple[Any, ...]:
    parts = [r.randint(0, 2) for _ in range(r.randint(1, 3))]
    return tensor(r, [2, sum(parts)]), parts, r.choice((1, -1))


@case("aten.split.Tensor", "aten.split_copy.Tensor")
def _split(r: random.Random) -> tuple[Any, ...]:
    return tensor(r, [2, r.randint(0, 6)]), r.randint(2, 3), r.choice((1, -1))


@case("aten.unbind.int")
def _unbind(r: random.Random) -> tuple[Any, ...]:
    shape = sizes(r, low=1)
    return tensor(r, shape), r.randrange(-len(shape), len(shape))


@case("aten.constant_pad_nd.default")
def _pad(r: random.Random) -> tuple[Any, ...]:
    shape = sizes(r, low=1)
    return (
        tensor(r, shape),
        [r.choice((0, 1, 2, -1)) for _ in range(2 * r.randint(0, len(shape)))],
        number(r),
    )


@case("aten.slice_scatter.default")
def _slice_scatter(r: random.Random) -> tuple[Any, ...]:
    x = tensor(r, [3, 4])
    start, end = r.choice(((0, 2), (1, None), (-3, -1), (None, 9), (0, 4)))
    step = r.choice((1, 1, 2))
    width = len(range(4)[slice(start, end, step)])
    return x, tensor(r, [3, width], x.dtype), 1, start, end, step


@case("aten.select_scatter.default")
def _select_scatter(r: random.Random) -> tuple[Any, ...]:
    x = tensor(r, [3, 4])
    return x, tensor(r, [3], x.dtype), 1, r.randint(-4, 3)


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
    "reductions",
    "normalization",
    "attention",
    "matrix_products",
    "activations",
    "indexing",
    "randomness",
)


def test_every_meaning_has_cases() -> None:
    known = set(CASES.names)
    for file in FILES:
        known |= set(import_module(f"tests.ir.meaning.test_{file}").CASES.names)
    assert set(meanings()) - known == set()
