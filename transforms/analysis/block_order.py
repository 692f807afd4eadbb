"""The ops of a block in order, and putting them into another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any

from xdsl.ir import Block, Operation


def ops_of(block: Block) -> list[Any]:
    """The ops of a block: as `list(block.ops)`, which walks it twice and calls for each."""
    found: list[Operation] = []
    op = block.first_op
    while op is not None:
        found.append(op)
        op = op._next_op
    return found


_GAP = 1 << 20


class Order:
    """Numbers by which ops of a block compare; a new op gets one between its neighbours'.

    By identity of the op, which is much quicker than hashing it.
    """

    def __init__(self, block: Block, ops: Iterable[Operation] | None = None) -> None:
        self._block = block
        self._keys: dict[int, int] = {}
        self._number(ops_of(block) if ops is None else ops)

    def _number(self, ops: Iterable[Operation]) -> None:
        self._keys = dict(zip(map(id, ops), count(_GAP, _GAP), strict=False))

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
        middle = (low + self._keys[id(anchor)]) // 2
        if middle == low:
            self._number(ops_of(self._block))
        else:
            self._keys[id(op)] = middle

    def forget(self, op: Operation) -> None:
        """Forget an op that is about to be erased."""
        self._keys.pop(id(op), None)


def erase_unused(op: Operation) -> None:
    """Erase an op whose results nothing uses: as `Block.erase_op`, without its looking for uses.

    Raises ValueError where something uses a result.
    """
    for result in op.results:
        if result.first_use is not None:
            raise ValueError(f"{op.name} has a result that is still used")
    op.detach()
    op.drop_all_references()


def arrange(block: Block, order: Sequence[Operation]) -> None:
    """Put a block's ops into an order, moving only those that are not in place."""
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
