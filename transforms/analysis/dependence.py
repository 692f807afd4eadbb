"""Which ops of a block depend on which, by the values that they read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from xdsl.ir import Operation

from xductor.transforms.analysis.block_order import Order


def users_of(op: Operation) -> Iterator[Any]:
    """The ops that read a result of an op; one that reads several comes several times."""
    for result in op.results:
        for use in result.uses:
            yield use.operation


def below(ops: Iterable[Operation], last: Operation, order: Order) -> set[Any]:
    """What depends on one of some ops and stands above `last`, or is `last`."""
    end, found = order.key(last), set[Any]()
    pending: list[Any] = list(ops)
    while pending:
        for user in users_of(pending.pop()):
            if user not in found and order.key(user) <= end:
                found.add(user)
                pending.append(user)
    return found


def above(ops: Iterable[Operation], first: Operation, order: Order) -> set[Any]:
    """What one of some ops depends on and stands below `first`, or is `first`."""
    start, found = order.key(first), set[Any]()
    pending: list[Any] = list(ops)
    while pending:
        for operand in pending.pop().operands:
            owner = operand.owner
            if isinstance(owner, Operation) and owner not in found and order.key(owner) >= start:
                found.add(owner)
                pending.append(owner)
    return found


def reaches(one: Operation, other: Operation, order: Order) -> bool:
    """Whether `other` depends on `one`: what an op has of itself counts for nothing."""
    return order.before(one, other) and other in below([one], other, order)


__all__ = ["above", "below", "reaches", "users_of"]
