"""Splits one instance into classes of its sizes, each of which is a part of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xductor.transforms.proving.solving.solver import Assumptions
from xductor.transforms.semantics.terms import Term, eq, le

#: The number from which on sizes form one class; tried in turn while there are few instances.
FINENESS = (2, 5, 11, 23)


def each_class(
    assumptions: Assumptions, sizes: Sequence[Term], many: int, look: Callable[[], bool]
) -> bool:
    """Call `look` under each way of choosing a class for every size; impossible ones are left out.

    The classes of a size are 0, 1 and so on up to `many`, and `many` or more: each value is in one.
    `look`, and this function, return whether to go on.
    """
    if not sizes:
        return look()
    first, *others = sizes
    for condition in (*[eq(first, size) for size in range(many)], le(many, first)):
        if assumptions.possible(condition):
            with assumptions.under(condition):
                if not each_class(assumptions, others, many, look):
                    return False
    return True


__all__ = ["FINENESS", "each_class"]
