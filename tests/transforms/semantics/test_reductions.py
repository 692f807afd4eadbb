"""Reductions beside their meanings: promotion, kept dims, NaN, infinities, no elements."""

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
    bf16,
    f16,
    f32,
    f64,
    i8,
    i64,
    matrix,
    sizes,
    tensor,
    u8,
)

CASES = Cases()
case = CASES.case


def small(r: random.Random, dtype: torch.dtype | None = None, low: int = 0) -> torch.Tensor:
    """Numbers whose sums are exact."""
    return matrix(r, sizes(r, low=low), dtype or r.choice(DTYPES), special=True)


def some_dims(r: random.Random, rank: int) -> Any:
    chosen = [dim - r.choice((0, rank)) for dim in range(rank) if r.random() < 0.6]
    r.shuffle(chosen)
    return chosen or (None if r.random() < 0.5 else [])


def one_dim(r: random.Random, rank: int) -> int:
    return r.randrange(-max(rank, 1), max(rank, 1))


@case("aten.sum.dim_IntList")
def _sum(r: random.Random) -> tuple[Any, ...]:
    x = small(r)
    return x, some_dims(r, x.ndim), r.random() < 0.5, r.choice((None, None, f32, bf16, i64, i8))


@case("aten.mean.dim")
def _mean(r: random.Random) -> tuple[Any, ...]:
    x = small(r)
    return x, some_dims(r, x.ndim), r.random() < 0.5, r.choice((None, f32, f64, bf16))


@case("aten.sum.default", "aten.prod.default", "aten.mean.default")
def _all(r: random.Random) -> tuple[Any, ...]:
    return small(r), r.choice((None, None, f32, i64, torch.bool))


@case("aten.prod.dim_int", "aten.cumsum.default", "aten.cumprod.default")
def _dim(r: random.Random) -> tuple[Any, ...]:
    x = small(r)
    given = [x, one_dim(r, x.ndim)]
    return tuple(given)


@case("aten.prod.dim_int")
def _prod(r: random.Random) -> tuple[Any, ...]:
    x = small(r)
    return x, one_dim(r, x.ndim), r.random() < 0.5, r.choice((None, f32, i64, bf16))


@case("aten.cumsum.default", "aten.cumprod.default")
def _running(r: random.Random) -> tuple[Any, ...]:
    x = small(r)
    return x, one_dim(r, x.ndim), r.choice((None, f32, i64, i8, f64))


@case("prims.sum.default", "prims.prod.default")
def _prims(r: random.Random) -> tuple[Any, ...]:
    x = small(r, r.choice((f32, f64, i64, i8)), low=1)
    return x, [dim for dim in range(x.ndim) if r.random() < 0.6]


@case("prims.amax.default", "prims.amin.default", relation="zero sign")
def _prims_extreme(r: random.Random) -> tuple[Any, ...]:
    x = tensor(r, [r.randint(1, 3) for _ in range(r.randint(1, 3))], r.choice((f32, bf16, i64)))
    return x, [dim for dim in range(x.ndim) if r.random() < 0.6]


# Of two zeros either may be the largest: kernels take them in an order of their own.
@case("aten.amax.default", "aten.amin.default", relation="zero sign")
def _extreme(r: random.Random) -> tuple[Any, ...]:
    x = tensor(r, sizes(r))
    return x, some_dims(r, x.ndim) or [], r.random() < 0.5


@case("aten.max.default", "aten.min.default", relation="zero sign")
def _extreme_of_all(r: random.Random) -> tuple[Any, ...]:
    return (tensor(r, sizes(r)),)


def distinct(r: random.Random, shape: list[int], dtype: torch.dtype) -> torch.Tensor:
    """No two equal elements, so that there is one place of the largest; and at most one NaN."""
    count = torch.Size(shape).numel()
    items: list[float] = r.sample(range(-20, 20) if dtype is not u8 else range(40), count)
    if dtype.is_floating_point and items and r.random() < 0.5:
        items[r.randrange(count)] = r.choice((float("nan"), float("inf"), float("-inf")))
    return torch.tensor(items, dtype=f64).reshape(shape).to(dtype)


@case("aten.max.dim", "aten.min.dim")
def _extreme_place(r: random.Random) -> tuple[Any, ...]:
    x = distinct(r, sizes(r), r.choice((f32, bf16, i64, i8, f64, f16)))
    return x, one_dim(r, x.ndim), r.random() < 0.5


@case("aten.argmax.default", "aten.argmin.default")
def _place(r: random.Random) -> tuple[Any, ...]:
    x = distinct(r, sizes(r), r.choice((f32, bf16, i64, i8, f64, u8)))
    return x, r.choice((None, one_dim(r, x.ndim))), r.random() < 0.5


@case("aten.aminmax.default", relation="zero sign")
def _aminmax(r: random.Random) -> tuple[Any, ...]:
    x = tensor(r, sizes(r), r.choice((f32, i64, f64)))
    return x, r.choice((None, one_dim(r, x.ndim))), r.random() < 0.5


@case("aten.any.default", "aten.all.default")
def _truth(r: random.Random) -> tuple[Any, ...]:
    return (tensor(r, sizes(r)),)


@case("aten.any.dim", "aten.all.dim")
def _truth_dim(r: random.Random) -> tuple[Any, ...]:
    x = tensor(r, sizes(r))
    return x, one_dim(r, x.ndim), r.random() < 0.5


@case("aten.any.dims", "aten.all.dims")
def _truth_dims(r: random.Random) -> tuple[Any, ...]:
    x = tensor(r, sizes(r))
    return x, some_dims(r, x.ndim), r.random() < 0.5


@case("aten.count_nonzero.dim_IntList")
def _count(r: random.Random) -> tuple[Any, ...]:
    x = tensor(r, sizes(r))
    return x, some_dims(r, x.ndim) or []


@case("aten.count_nonzero.default")
def _count_one(r: random.Random) -> tuple[Any, ...]:
    x = tensor(r, sizes(r))
    return x, r.choice((None, one_dim(r, x.ndim)))


@case("aten.var.default", "aten.std.default",
      relation="close")  # fmt: skip
def _spread_of_all(r: random.Random) -> tuple[Any, ...]:
    return small(r, r.choice(FLOATS)), r.random() < 0.5


@case("aten.var.dim", "aten.std.dim", relation="close")
def _spread_dim(r: random.Random) -> tuple[Any, ...]:
    x = small(r, r.choice(FLOATS))
    return x, some_dims(r, x.ndim), r.random() < 0.5, r.random() < 0.5


@case("aten.var.correction", "aten.std.correction", relation="close")
def _spread(r: random.Random) -> tuple[Any, ...]:
    x = small(r, r.choice(FLOATS))
    return x, some_dims(r, x.ndim), r.choice((None, 0, 1, 2, 0.5)), r.random() < 0.5


# The mean beside a variance is NaN or infinite in an order of its own where an element is.
@case("aten.var_mean.correction", "aten.std_mean.correction", relation="close")
def _spread_and_mean(r: random.Random) -> tuple[Any, ...]:
    x = matrix(r, sizes(r), r.choice(FLOATS))
    return x, some_dims(r, x.ndim), r.choice((None, 0, 1)), r.random() < 0.5


@case("aten.var_mean.dim", "aten.std_mean.dim", relation="close")
def _spread_and_mean_dim(r: random.Random) -> tuple[Any, ...]:
    x = matrix(r, sizes(r), r.choice(FLOATS))
    return x, some_dims(r, x.ndim), r.random() < 0.5, r.random() < 0.5


@case("aten.var_mean.default", "aten.std_mean.default", relation="close")
def _spread_and_mean_of_all(r: random.Random) -> tuple[Any, ...]:
    return matrix(r, sizes(r), r.choice(FLOATS)), r.random() < 0.5


@case("prims.var.default", relation="close")
def _prims_var(r: random.Random) -> tuple[Any, ...]:
    x = matrix(r, [2, 3], r.choice((f32, f64)))
    return x, r.choice(([0], [1], [0, 1])), r.choice((0.0, 1.0))


@case("aten.logsumexp.default", relation="close")
def _logsumexp(r: random.Random) -> tuple[Any, ...]:
    x = small(r, low=1)
    return x, some_dims(r, x.ndim) or [0], r.random() < 0.5


@pytest.mark.parametrize("name", CASES.names)
def test_meaning_agrees_with_the_op(name: str) -> None:
    CASES.check(name)


X = torch.ones(2, 3)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("aten.sum.dim_IntList", (X, [2])),
        ("aten.sum.dim_IntList", (X, [0, 0])),
        ("aten.sum.dim_IntList", (X, [-3])),
        ("aten.mean.default", (X.long(),)),
        ("aten.mean.dim", (X, [0], False, i64)),
        ("aten.amax.default", (torch.ones(0, 3), [0])),
        ("aten.amin.default", (X, [4])),
        ("aten.max.default", (torch.ones(0),)),
        ("aten.max.dim", (torch.ones(0, 3), 0)),
        ("aten.argmax.default", (X.bool(),)),
        ("aten.argmin.default", (torch.ones(0),)),
        ("aten.prod.dim_int", (X, 2)),
        ("aten.cumsum.default", (X, 2)),
        ("aten.any.dim", (X, 2)),
        ("aten.all.dims", (X, [1, 1])),
        ("aten.var.correction", (X.long(),)),
        ("aten.std.dim", (X, [3])),
        ("aten.logsumexp.default", (X, [])),
        ("prims.sum.default", (X, [-1])),
    ],
)
def test_what_the_op_refuses_the_meaning_refuses(name: str, given: tuple[Any, ...]) -> None:
    assert_refused(name, given)
