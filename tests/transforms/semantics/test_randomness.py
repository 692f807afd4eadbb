"""Random ops beside their meanings: the same generator gives the same numbers in the same order."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch

from tests.transforms.semantics.agreement import (
    FLOATS,
    Cases,
    assert_refused,
    f32,
    i32,
    i64,
    sizes,
    tensor,
)
from xductor.transforms.semantics import NoMeaning, TensorValue, meaning_of
from xductor.transforms.semantics.evaluation import Numbers, materialised, result_of, tensor_value
from xductor.transforms.semantics.uninterpreted import SEED

CASES = Cases()
case = CASES.case


@case("aten.rand.default", "aten.randn.default")
def _of_size(r: random.Random) -> tuple[Any, ...]:
    return sizes(r), r.choice((None, *FLOATS))


@case("aten.rand_like.default", "aten.randn_like.default")
def _like(r: random.Random) -> tuple[Any, ...]:
    return tensor(r, sizes(r), r.choice(FLOATS)), r.choice((None, f32))


@case("aten.randint.default")
def _randint(r: random.Random) -> tuple[Any, ...]:
    return r.choice((1, 5, 100)), sizes(r), r.choice((i64, i32, f32))


@case("aten.randint.low")
def _randint_low(r: random.Random) -> tuple[Any, ...]:
    return r.choice((-3, 0)), r.choice((1, 5)), sizes(r)


@case("aten.randperm.default")
def _randperm(r: random.Random) -> tuple[Any, ...]:
    return (r.choice((0, 1, 2, 7)), *r.choice(((), (i64,), (i32,), (f32,))))


@case("aten.bernoulli.p")
def _bernoulli(r: random.Random) -> tuple[Any, ...]:
    return tensor(r, sizes(r), r.choice((*FLOATS, torch.bool))), r.choice((0.0, 0.3, 1.0))


@case("aten.dropout.default", "aten.native_dropout.default")
def _dropout(r: random.Random) -> tuple[Any, ...]:
    x = tensor(r, sizes(r), r.choice(FLOATS))
    return x, r.choice((0.0, 0.1, 0.5, 1.0)), r.random() < 0.8


@pytest.mark.parametrize("name", CASES.names)
def test_meaning_agrees_with_the_op(name: str) -> None:
    CASES.check(name)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("aten.rand.default", ([2], i64)),
        ("aten.rand.default", ([-1],)),
        ("aten.randn_like.default", (torch.ones(2, dtype=i64),)),
        ("aten.randint.low", (3, 3, [2])),
        ("aten.bernoulli.p", (torch.ones(2), 1.5)),
        ("aten.dropout.default", (torch.ones(2), -0.5, True)),
        ("aten.native_dropout.default", (torch.ones(2, dtype=i64), 0.5, True)),
    ],
)
def test_what_the_op_refuses_the_meaning_refuses(name: str, given: tuple[Any, ...]) -> None:
    assert_refused(name, given)


def _drawn(*calls: tuple[str, tuple[Any, ...]]) -> list[TensorValue]:
    world = Numbers()
    found = []
    for name, given in calls:
        function = meaning_of(name)
        assert function is not None
        found.append(function(world, *given))
    return found


def test_draws_in_one_world_follow_each_other() -> None:
    calls = [("aten.rand.default", ([3],)), ("aten.randn.default", ([2, 2],)),
             ("aten.rand.default", ([3],))]  # fmt: skip
    torch.manual_seed(SEED)
    expected = [torch.rand(3), torch.randn(2, 2), torch.rand(3)]
    for value, wanted in zip(_drawn(*calls), expected, strict=True):
        assert torch.equal(materialised(value, {}), wanted)


def test_a_draw_is_known_by_what_was_drawn_before() -> None:
    three, four = ("aten.rand.default", ([3],)), ("aten.rand.default", ([4],))
    first = _drawn(three, three)
    again = _drawn(three, three)
    other = _drawn(four, three)
    assert first[1].element([0]) is again[1].element([0])
    assert first[0].element([0]) is not first[1].element([0])
    assert first[1].element([0]) is not other[1].element([0])


def test_a_draw_does_not_depend_on_its_shape() -> None:
    (flat,) = _drawn(("aten.rand.default", ([6],)))
    (square,) = _drawn(("aten.rand.default", ([2, 3],)))
    assert flat.element([5]) is square.element([1, 2])


def test_dropout_is_a_product_with_what_bernoulli_draws() -> None:
    x = torch.randn(5)
    torch.manual_seed(SEED)
    expected = torch.dropout(x, 0.25, True)
    (mask,) = _drawn(("aten.bernoulli.p", (tensor_value("x", x), 0.75)))
    assert torch.equal(materialised(mask, {}) / 0.75 * x, expected)


def test_native_dropout_of_nothing_is_not_expressed() -> None:
    with pytest.raises(NoMeaning, match="draws all the same"):
        result_of("aten.native_dropout.default", [torch.ones(2), 0.0, True])
