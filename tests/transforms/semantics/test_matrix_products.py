"""linear, matmul, inner, outer and einsum beside their meanings."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch

from tests.transforms.semantics.agreement import (
    Cases,
    assert_refused,
    bf16,
    f32,
    f64,
    i64,
    matrix,
    tensor,
)
from xductor.transforms.matmul import operators as operators  # registers xductor::mm_plus_mm
from xductor.transforms.semantics import NoMeaning
from xductor.transforms.semantics.evaluation import result_of

CASES = Cases()
case = CASES.case
DTYPES = (f32, bf16, f64, i64)
PAIRS: list[tuple[list[int], list[int]]] = [
    ([3], [3]), ([2, 3], [3]), ([3], [3, 2]), ([2, 3], [3, 2]), ([2, 2, 3], [3, 2]),
    ([2, 2, 3], [2, 3, 1]), ([1, 2, 3], [2, 3, 2]), ([2, 1, 2, 3], [2, 3, 2]), ([3], [2, 3, 2]),
    ([2, 2, 3], [3]), ([0, 3], [3, 2]), ([2, 0], [0, 2]), ([1, 1], [1, 1]), ([0, 2, 1], [1, 2]),
]  # fmt: skip


@case("aten.matmul.default")
def _matmul(r: random.Random) -> tuple[Any, ...]:
    dtype = r.choice(DTYPES)
    a, b = r.choice(PAIRS)
    return matrix(r, a, dtype, special=True), matrix(r, b, dtype)


@case("xductor.mm_plus_mm.default")
def _mm_plus_mm(r: random.Random) -> tuple[Any, ...]:
    dtype = r.choice((f32, f64, i64))
    m, n, k, l = (r.choice((0, 1, 2, 3)) for _ in range(4))  # noqa: E741
    return tuple(matrix(r, sizes, dtype) for sizes in ([m, k], [k, n], [m, l], [l, n]))


@case("aten.linear.default")
def _linear(r: random.Random) -> tuple[Any, ...]:
    dtype = r.choice((f32, bf16, f64))
    lead = r.choice(([], [2], [2, 2], [0], [1, 2]))
    x, weight = matrix(r, [*lead, 3], dtype), matrix(r, [2, 3], dtype)
    return x, weight, r.choice((None, matrix(r, [2], dtype)))


@case("aten.linear.default")
def _linear_by_vector(r: random.Random) -> tuple[Any, ...]:
    return matrix(r, r.choice(([3], [2, 3])), f32), matrix(r, [3], f32)


@case("aten.inner.default")
def _inner(r: random.Random) -> tuple[Any, ...]:
    dtype = r.choice((f32, i64))
    a, b = r.choice((([3], [3]), ([2, 3], [3]), ([2, 3], [4, 3]), ([], [2]), ([2, 2, 3], [2, 3])))
    return matrix(r, a, dtype), matrix(r, b, dtype)


@case("aten.outer.default")
def _outer(r: random.Random) -> tuple[Any, ...]:
    return tensor(r, [r.randint(0, 3)]), tensor(r, [r.randint(0, 3)])


EQUATIONS: list[tuple[str, list[list[int]]]] = [
    ("ij,jk->ik", [[2, 3], [3, 2]]), ("ij,jk", [[2, 3], [3, 1]]), ("ij,jk->ik", [[2, 3], [1, 2]]),
    ("bij,bkj->bik", [[2, 2, 3], [2, 2, 3]]), ("ij->ji", [[2, 3]]), ("ij->i", [[2, 3]]),
    ("ij->", [[2, 3]]), ("ii->i", [[2, 2]]), ("ii", [[3, 3]]), ("i,j->ij", [[2], [3]]),
    ("bhqd,bhkd->bhqk", [[1, 2, 2, 2], [1, 2, 3, 2]]), ("i,i->i", [[3], [3]]),
    ("ab , bc -> ac", [[2, 2], [2, 2]]), ("ij,jk,kl->il", [[2, 2], [2, 2], [2, 1]]),
    ("ij,ij->", [[2, 2], [2, 2]]), ("ba", [[2, 3]]), ("ij,jk->ik", [[2, 0], [0, 2]]),
]  # fmt: skip


# Which operand is summed first, and where, is the op's choice.
@case("aten.einsum.default", relation="zero sign")
def _einsum(r: random.Random) -> tuple[Any, ...]:
    equation, shapes = r.choice(EQUATIONS)
    dtype = r.choice((f32, f64, i64))
    return equation, [matrix(r, shape, dtype) for shape in shapes]


@pytest.mark.parametrize("name", CASES.names)
def test_meaning_agrees_with_the_op(name: str) -> None:
    CASES.check(name)


X = torch.ones(2, 3)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("aten.matmul.default", (X, X)),
        ("aten.matmul.default", (X, torch.ones(()))),
        ("aten.matmul.default", (X, X.double().t())),
        ("aten.matmul.default", (torch.ones(2, 2, 3), torch.ones(3, 3, 2))),
        ("aten.linear.default", (X, torch.ones(2, 4))),
        ("aten.linear.default", (X, X.double())),
        ("aten.linear.default", (X, X, torch.ones(3))),
        ("aten.linear.default", (X, torch.ones(3), torch.ones(1))),
        ("aten.inner.default", (X, torch.ones(2, 2))),
        ("aten.outer.default", (X, torch.ones(2))),
        ("aten.einsum.default", ("ij,jk->ik", [X, X])),
        ("aten.einsum.default", ("ij->ik", [X])),
        ("aten.einsum.default", ("ijk->i", [X])),
        ("aten.einsum.default", ("ij,j", [X])),
        ("aten.einsum.default", ("ii->i", [X])),
    ],
)
def test_what_the_op_refuses_the_meaning_refuses(name: str, given: tuple[Any, ...]) -> None:
    assert_refused(name, given)


def test_an_ellipsis_is_not_expressed() -> None:
    with pytest.raises(NoMeaning, match="einsum"):
        result_of("aten.einsum.default", ["...i->i", [X], None])
