"""Indices that are elements, beside the ops that take them."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch

from tests.transforms.semantics.agreement import (
    DTYPES,
    Cases,
    assert_refused,
    b1,
    bf16,
    broadcastable,
    f32,
    i8,
    i32,
    i64,
    matrix,
    number,
    sizes,
    tensor,
)
from xductor.transforms.semantics import NoMeaning
from xductor.transforms.semantics.evaluation import result_of

CASES = Cases()
case = CASES.case


def indices(
    r: random.Random, shape: list[int], size: int, *, low: int = 0, dtype: torch.dtype = i64
) -> torch.Tensor:
    """Indices below a size; of no elements where there are none."""
    if low >= size:
        shape = [0] * max(len(shape), 1)
    items = [r.randrange(low, size) for _ in range(torch.Size(shape).numel())]
    return torch.tensor(items, dtype=dtype).reshape(shape)


@case("aten.index_select.default")
def _index_select(r: random.Random) -> tuple[Any, ...]:
    shape = sizes(r, low=1)
    dim = r.randrange(-len(shape), len(shape))
    index = indices(r, r.choice(([2], [0], [3], [])), shape[dim], dtype=r.choice((i64, i32)))
    return tensor(r, shape), dim, index


@case("aten.gather.default")
def _gather(r: random.Random) -> tuple[Any, ...]:
    shape = sizes(r, low=1)
    dim = r.randrange(len(shape))
    own = [r.randint(0, size) for size in shape]
    own[dim] = r.randint(0, 3)
    if len(shape) == 1 and r.random() < 0.5:  # rank 0 is taken for rank 1
        shape, own = r.choice((([], own), ([], []), (shape, [])))
    bound = shape[dim] if shape else 1
    return tensor(r, shape), r.choice((0, -1)) if not shape else dim, indices(r, own, bound)


@case("aten.embedding.default")
def _embedding(r: random.Random) -> tuple[Any, ...]:
    weight = tensor(r, [3, 2], f32)
    return weight, indices(r, sizes(r), 3, dtype=r.choice((i64, i32))), r.choice((-1, 1))


@case("aten.take.default")
def _take(r: random.Random) -> tuple[Any, ...]:
    x = tensor(r, sizes(r))
    return x, indices(r, sizes(r), x.numel(), low=-x.numel())


@case("aten.index.Tensor", "aten._unsafe_index.Tensor")
def _index(r: random.Random) -> tuple[Any, ...]:
    shape = sizes(r, low=1)
    joint = sizes(r, r.randint(1, 2))
    given: list[Any] = []
    for size in shape[: r.randint(1, len(shape))]:
        some = r.random() < 0.7 and size
        given.append(indices(r, broadcastable(r, joint), size, low=-size) if some else None)
    return tensor(r, shape), given


@case("aten.scatter.value")
def _scatter(r: random.Random) -> tuple[Any, ...]:
    shape, dtype = [r.randint(1, 3) for _ in range(r.randint(1, 2))], r.choice(DTYPES)
    dim = r.randrange(len(shape))
    own = [r.randint(0, size) for size in shape]
    own[dim] = r.randint(0, 3)
    value = number(r) if dtype.is_floating_point else r.choice((0, 1, 2))
    if r.random() < 0.2:
        return tensor(r, [], dtype), r.choice((0, -1)), indices(r, r.choice(([], [2])), 1), value
    return tensor(r, shape, dtype), dim, indices(r, own, shape[dim]), value


# Not more than small integers, whose sums are the same in any order.
@case("aten.scatter_add.default", relation="zero sign")
def _scatter_add(r: random.Random) -> tuple[Any, ...]:
    shape, dtype = [r.randint(1, 3) for _ in range(r.randint(1, 2))], r.choice((f32, i64))
    dim = r.randrange(len(shape))
    own = [r.randint(0, size) for size in shape]
    own[dim] = r.randint(0, 3)
    larger = [size + r.randint(0, 1) for size in own]
    return matrix(r, shape, dtype), dim, indices(r, own, shape[dim]), matrix(r, larger, dtype)


@case("aten.index_put.default", "aten._unsafe_index_put.default", relation="zero sign")
def _index_put(r: random.Random) -> tuple[Any, ...]:
    shape, dtype = [r.randint(1, 3) for _ in range(r.randint(1, 3))], r.choice((f32, bf16, i64, i8))
    place = r.randrange(len(shape))
    own = r.choice(([3], [2], [1], [0], []))
    index = indices(r, own, shape[place], low=-shape[place], dtype=r.choice((i64, i32)))
    written = [*shape[:place], *index.shape, *shape[place + 1 :]]
    values = matrix(r, broadcastable(r, written), dtype)
    return matrix(r, shape, dtype), [*[None] * place, index], values, r.choice((True, False))


# Written over, whatever it is; what is not written keeps its bits, too.
@case("aten.index_put.default")
def _index_put_over(r: random.Random) -> tuple[Any, ...]:
    dtype = r.choice(DTYPES)
    index = indices(r, r.choice(([2], [])), 3, low=-3)
    return tensor(r, [3, 2], dtype), [index], tensor(r, [*index.shape, 2], dtype)


@case("aten.index_fill.int_Scalar")
def _index_fill(r: random.Random) -> tuple[Any, ...]:
    shape, dtype = [r.randint(1, 3) for _ in range(r.randint(1, 2))], r.choice((f32, i64))
    dim = r.randrange(len(shape))
    index = indices(r, r.choice(([2], [0], [])), shape[dim], low=-shape[dim])
    return tensor(r, shape, dtype), dim, index, r.choice((0, 1, 2))


@case("aten.one_hot.default")
def _one_hot(r: random.Random) -> tuple[Any, ...]:
    return indices(r, sizes(r), 3), r.choice((3, 4))


@case("aten.masked_fill.Tensor")
def _masked_fill(r: random.Random) -> tuple[Any, ...]:
    shape, dtype = sizes(r), r.choice(DTYPES)
    return tensor(r, shape, dtype), tensor(r, broadcastable(r, shape), b1), tensor(r, [], dtype)


@pytest.mark.parametrize("name", CASES.names)
def test_meaning_agrees_with_the_op(name: str) -> None:
    CASES.check(name)


X = torch.ones(2, 3)
I = torch.zeros(2, dtype=i64)  # noqa: E741


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("aten.index_select.default", (X, 2, I)),
        ("aten.index_select.default", (X, 0, I.float())),
        ("aten.index_select.default", (X, 0, I[None])),
        ("aten.gather.default", (X, 0, I)),
        ("aten.gather.default", (X, 0, torch.zeros(1, 4, dtype=i64))),
        ("aten.gather.default", (X, 0, X)),
        ("aten.embedding.default", (X[0], I)),
        ("aten.embedding.default", (X, I.float())),
        ("aten.take.default", (X, I.float())),
        ("aten.index.Tensor", (X, [I, I, I])),
        ("aten.index.Tensor", (X, [I, torch.zeros(3, dtype=i64)])),
        ("aten.index.Tensor", (X, [I.float()])),
        ("aten.scatter.value", (X, 2, I, 1)),
        ("aten.scatter.value", (X, 0, I, 1)),
        ("aten.scatter.value", (X, 0, torch.zeros(1, 4, dtype=i64), 1)),
        ("aten.scatter_add.default", (X, 0, I[None], X[:, :1])),
        ("aten.scatter_add.default", (X, 0, I[None], X.double())),
        ("aten.index_put.default", (X, [I.float()], X)),
        ("aten.index_put.default", (X, [I, I, I], X)),
        ("aten.index_put.default", (X, [I], X.double())),
        ("aten.index_put.default", (X, [I], X[:, :2])),
        ("aten.index_put.default", (X, [I], torch.ones(2, 2, 3))),
        ("aten.one_hot.default", (I, 0)),
        ("aten.one_hot.default", (I.int(), 2)),
        ("aten.masked_fill.Tensor", (X, X, X[0, 0])),
        ("aten.masked_fill.Tensor", (X, X > 0, X[0])),
    ],
)
def test_what_the_op_refuses_the_meaning_refuses(name: str, given: tuple[Any, ...]) -> None:
    assert_refused(name, given)


@pytest.mark.parametrize("given", [[X > 0], [I, I], [I[None]], [None]])
def test_what_index_put_has_no_meaning_for(given: list[Any]) -> None:
    with pytest.raises(NoMeaning, match="index_put by"):
        result_of("aten.index_put.default", [X, given, X[0, 0], False])


def test_a_mask_as_index_has_no_meaning() -> None:
    with pytest.raises(NoMeaning, match="truth values"):
        result_of("aten.index.Tensor", [X, [X > 0]])
