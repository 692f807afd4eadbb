"""Attention beside its meaning: scale, masks, causal, grouped queries, rows without a key."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch

from tests.transforms.semantics.agreement import Cases, assert_refused, b1, bf16, f32, f64
from xductor.transforms.semantics import NoMeaning
from xductor.transforms.semantics.evaluation import result_of

CASES = Cases()
NAME = "aten.scaled_dot_product_attention.default"


def operands(r: random.Random, dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
    seed = torch.Generator().manual_seed(r.randrange(1 << 30))
    batch: list[int] = r.choice(([], [2], [1, 2], [2, 1]))
    rows, keys = (r.choice((0, 1, 2, 3)) for _ in range(2))
    width, out = (r.choice((1, 2, 3)) for _ in range(2))

    def made(shape: list[int]) -> torch.Tensor:
        return torch.randn([*batch, *shape], generator=seed, dtype=f64).to(dtype)

    return made([rows, width]), made([keys, width]), made([keys, out])


@CASES.case(NAME, relation="close")
def _plain(r: random.Random) -> tuple[Any, ...]:
    q, k, v = operands(r, r.choice((f32, bf16, f64)))
    return q, k, v, None, 0.0, r.random() < 0.5, r.choice((None, 0.5, 0.0, -1.0))


@CASES.case(NAME, relation="close")
def _with_mask(r: random.Random) -> tuple[Any, ...]:
    q, k, v = operands(r, r.choice((f32, bf16)))
    rows, keys = q.shape[-2], k.shape[-2]
    shape = r.choice(([rows, keys], [1, keys], [rows, 1]))
    shape = [*r.choice(([], [1] * (q.ndim - 2))), *shape]
    items = torch.tensor([r.random() < 0.6 for _ in range(torch.Size(shape).numel())])
    mask = items.reshape(shape).to(b1)
    if r.random() < 0.5:
        plain = r.choice((-1.0, 0.5, -float("inf")))
        mask = torch.where(mask, torch.tensor(0.25), torch.tensor(plain)).to(q.dtype)
    return q, k, v, mask, 0.0, False, r.choice((None, 0.5))


@CASES.case(NAME, relation="close")
def _grouped(r: random.Random) -> tuple[Any, ...]:
    seed = torch.Generator().manual_seed(r.randrange(1 << 30))
    heads, groups = r.choice((1, 2)), r.choice((1, 2))
    q = torch.randn([1, heads * groups, 2, 2], generator=seed)
    k, v = (torch.randn([1, heads, 2, 2], generator=seed) for _ in range(2))
    return q, k, v, None, 0.0, False, None, True


def test_meaning_agrees_with_the_op() -> None:
    CASES.check(NAME)


Q = torch.ones(1, 2, 3, 4)


@pytest.mark.parametrize(
    "given",
    [
        (Q, Q[..., :3], Q),
        (Q, Q.double(), Q),
        (Q.long(), Q.long(), Q.long()),
        (Q[0, 0, 0], Q, Q),
        (Q, Q, Q, torch.ones(3)),
        (Q, Q, Q, torch.ones(2, 3)),
        (Q, Q, Q, torch.ones(3, 3, dtype=torch.int64)),
        (Q, torch.ones(1, 3, 3, 4), torch.ones(1, 3, 3, 4), None, 0.0, False, None, True),
    ],
)
def test_what_the_op_refuses_the_meaning_refuses(given: tuple[Any, ...]) -> None:
    assert_refused(NAME, given)


def test_dropout_is_not_expressed() -> None:
    with pytest.raises(NoMeaning, match="dropout"):
        result_of(NAME, [Q, Q, Q, None, 0.5, False, None, False])
