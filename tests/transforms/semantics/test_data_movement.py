"""Meanings of views and of ops that move data, each against its op, on generated inputs."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.transforms.semantics.agreement import (
    Cases,
    broadcastable,
    f32,
    i64,
    number,
    sizes,
    tensor,
)

CASES = Cases()
case = CASES.case


@case(
    "aten.clone.default", "aten.contiguous.default", "aten.lift_fresh_copy.default",
    "aten.alias.default", "aten.detach.default", "aten.lift_fresh.default", "aten.t.default",
    "aten.t_copy.default", "aten.numpy_T.default", "aten.mT.default", "aten.squeeze.default",
    "aten.ravel.default", "prims.view_of.default",
)  # fmt: skip
def _one(r: random.Random) -> tuple[Any, ...]:
    return (tensor(r, sizes(r)),)


@case("prims.inductor_force_stride_order.default")
def _laid_out(r: random.Random) -> tuple[Any, ...]:
    x = tensor(r, sizes(r))
    return x, list(x.stride())


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


@case("aten.chunk.default")
def _chunk(r: random.Random) -> tuple[Any, ...]:
    return tensor(r, [2, r.randint(1, 6)]), r.randint(1, 4), r.choice((1, -1))


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


@pytest.mark.parametrize("name", CASES.names)
def test_meaning_agrees_with_the_op(name: str) -> None:
    CASES.check(name)
