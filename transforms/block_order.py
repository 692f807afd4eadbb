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


def places_of(ops: Iterable[Operation]) -> dict[int, int]:
    """Ascending numbers of ops in order, with gaps for what may come between two.

    By identity of the op, which is much quicker than hashing it.
    """
    return dict(zip(map(id, ops), count(_GAP, _GAP), strict=False))


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
