"""Where ops stand: right after any insertions, and found at a cost that does not grow with them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import log2
from random import Random
from typing import Any

import pytest
from xdsl.dialects.test import TestOp as Op
from xdsl.ir import Block

from xductor.transforms.analysis.block_order import Order

#: Before which op the next one goes, by those that are there, the one put last included.
Place = Callable[[list[Any], Random], Any]

PLACES: dict[str, Place] = {
    "before one op": lambda ops, _: ops[0],
    "before the last one put": lambda ops, _: ops[-1],
    "at random": lambda ops, random: random.choice(ops),
    "around one op": lambda ops, random: random.choice((ops[0], ops[-1])),
}


def _insert(count: int, start: int, place: Place) -> tuple[Block, Order]:
    block = Block([Op() for _ in range(start)])
    order = Order(block)
    random = Random(0)
    ops: list[Any] = [list(block.ops)[start // 2]]
    for _ in range(count):
        anchor, made = place(ops, random), Op()
        block.insert_op_before(made, anchor)
        order.insert(made, anchor)
        ops.append(made)
    return block, order


@pytest.mark.parametrize("start", [1, 2, 500])
@pytest.mark.parametrize("place", PLACES)
def test_the_order_is_the_blocks(place: str, start: int) -> None:
    block, order = _insert(600, start, PLACES[place])
    keys = [order.key(op) for op in block.ops]
    assert all(left < right for left, right in pairwise(keys))
    first, *_, last = block.ops
    assert order.before(first, last)
    assert not order.before(last, first)


@pytest.mark.parametrize("place", PLACES)
def test_thousands_of_insertions_at_one_place(place: str) -> None:
    """The whole block is never numbered anew; before, that took 800,000 keys and more."""
    count = 4000
    _, order = _insert(count, 4000, PLACES[place])
    assert order.renumbered < count * log2(count)


def test_twice_the_insertions_cost_about_twice() -> None:
    few, many = (
        _insert(count, 10, PLACES["before one op"])[1].renumbered for count in (2000, 8000)
    )
    assert few > 0
    assert many < 6 * few


def test_an_erased_op_makes_no_trouble() -> None:
    block, order = _insert(100, 5, PLACES["at random"])
    for op in list(block.ops)[::2]:
        order.forget(op)
        assert op not in order
        op.detach()
    anchor = list(block.ops)[10]
    for _ in range(200):
        made = Op()
        block.insert_op_before(made, anchor)
        order.insert(made, anchor)
    keys = [order.key(op) for op in block.ops]
    assert keys == sorted(set(keys))
