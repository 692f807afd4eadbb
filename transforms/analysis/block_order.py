"""The ops of a block in order, and how to rearrange them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any

from xdsl.ir import Block, Operation


def ops_of(block: Block) -> list[Any]:
    """The ops of a block: `list(block.ops)`, which walks it twice and makes a call for each op."""
    found: list[Operation] = []
    op = block.first_op
    while op is not None:
        found.append(op)
        op = op._next_op
    return found


_GAP = 1 << 20
#: A range of 2**k keys is crowded with more than (2 / 1.5)**k ops: wider ranges have to be emptier,
#: so that making room in one serves many insertions (Bender et al., "Two simplified algorithms for
#: maintaining order in a list", 2002). An insertion costs O(log n), amortised.
_CROWDED = 1.5


class Order:
    """Keys by which the ops of a block compare; a new op gets one between its neighbours'.

    Ops are known by identity, which is much faster than hashing them.
    """

    def __init__(self, block: Block, ops: Iterable[Operation] | None = None) -> None:
        ops = ops_of(block) if ops is None else ops
        self._keys = dict(zip(map(id, ops), count(_GAP, _GAP), strict=False))
        #: How many keys were given to make room, those of new ops included.
        self.renumbered = 0

    def key(self, op: Operation) -> int:
        return self._keys[id(op)]

    def __contains__(self, op: Operation) -> bool:
        return id(op) in self._keys

    def before(self, left: Operation, right: Operation) -> bool:
        return self._keys[id(left)] < self._keys[id(right)]

    def insert(self, op: Operation, anchor: Operation) -> None:
        """Give a key to an op that was put right before `anchor`."""
        above: Any = op.prev_op
        low = self._keys[id(above)] if above is not None else 0
        high = self._keys[id(anchor)]
        if high - low < 2:
            self._make_room(op, low)
        else:
            self._keys[id(op)] = (low + high) // 2

    def _make_room(self, op: Operation, low: int) -> None:
        """Spread the keys around a new op evenly over the smallest range that is not crowded."""
        first: Any = op
        last: Any = op
        ops, size, crowded = 1, 1, 1.0
        while ops > crowded or size < 2 * ops:
            size, crowded = 2 * size, crowded * 2 / _CROWDED
            start = low - low % size
            first, above = self._reach(first, start, -1)
            last, below = self._reach(last, start + size, +1)
            ops += above + below
        start = low - low % size
        step = size // (ops + 1)
        current = first
        for number in range(1, ops + 1):
            self._keys[id(current)] = start + number * step
            current = current._next_op
        self.renumbered += ops

    def _reach(self, op: Any, bound: int, direction: int) -> tuple[Any, int]:
        """The furthest op above or below whose key is on this side of `bound`, and how many ops
        further that is."""
        found = 0
        while True:
            following = op._prev_op if direction < 0 else op._next_op
            if following is None:
                return op, found
            key = self._keys[id(following)]
            if key < bound if direction < 0 else key >= bound:
                return op, found
            op, found = following, found + 1

    def forget(self, op: Operation) -> None:
        """Forget an op that is about to be erased."""
        self._keys.pop(id(op), None)


def erase_unused(op: Operation) -> None:
    """Erase an op whose results nothing uses: `Block.erase_op` without its search for uses.

    Raises ValueError if something uses a result.
    """
    for result in op.results:
        if result.first_use is not None:
            raise ValueError(f"{op.name} has a result that is still used")
    op.detach()
    op.drop_all_references()


def arrange(block: Block, order: Sequence[Operation]) -> None:
    """Arrange a block's ops in `order`, moving only those that are not in place."""
    cursor: Operation | None = None
    for op in order:
        following = block.first_op if cursor is None else cursor.next_op
        if following is not op:
            block.detach_op(op)
            if cursor is not None:
                block.insert_op_after(op, cursor)
            elif block.first_op is not None:
                block.insert_op_before(op, block.first_op)
        cursor = op
