"""Which ops depend on which, held against all paths of random graphs."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

from xdsl.dialects.builtin import i32
from xdsl.dialects.test import TestOp
from xdsl.ir import Block

from xductor.transforms.analysis.block_order import Order
from xductor.transforms.analysis.dependence import above, below, reaches


def _graph(pick: random.Random) -> list[Any]:
    ops: list[Any] = []
    block = Block(arg_types=[])
    for _ in range(pick.randint(2, 12)):
        values = [result for op in ops for result in op.results]
        operands = pick.sample(values, min(len(values), pick.randint(0, 2)))
        types: Any = [i32] * pick.randint(0, 2)
        ops.append(TestOp(operands=operands, result_types=types))
        block.add_op(ops[-1])
    return ops


def _all_pairs(ops: list[Any]) -> set[tuple[int, int]]:
    """The places of each two ops of which the second depends on the first."""
    found: set[tuple[int, int]] = set()
    for place, op in enumerate(ops):
        for operand in op.operands:
            made = ops.index(operand.owner)
            found |= {(made, place)} | {(a, place) for a, b in found if b == made}
    return found


def test_random_graphs() -> None:
    for seed in range(500):
        pick = random.Random(seed)
        ops = _graph(pick)
        order, pairs = Order(ops[0].parent, ops), _all_pairs(ops)
        for a, one in enumerate(ops):
            for b, other in enumerate(ops):
                assert reaches(one, other, order) is ((a, b) in pairs)
        first, last = sorted(pick.choices(range(len(ops)), k=2))
        starts = pick.sample(range(len(ops)), 2)
        down = {b for a, b in pairs if a in starts and b <= last}
        up = {a for a, b in pairs if b in starts and a >= first}
        chosen = [ops[place] for place in starts]
        assert below(chosen, ops[last], order) == {ops[place] for place in down}
        assert above(chosen, ops[first], order) == {ops[place] for place in up}


def test_the_order_is_kept_up_to_date() -> None:
    ops = _graph(random.Random(1))
    order = Order(ops[0].parent, ops)
    made = TestOp(operands=ops[0].results[:1], result_types=[i32])
    ops[0].parent.insert_op_before(made, ops[-1])
    order.insert(made, ops[-1])
    assert reaches(ops[0], made, order) is bool(ops[0].results)
    assert all(order.before(a, b) for a, b in pairwise(ops))
