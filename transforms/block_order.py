"""The ops of a block in order, and putting them into another."""

from __future__ import annotations

from collections.abc import Sequence
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
