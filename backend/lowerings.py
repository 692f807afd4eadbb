"""How Inductor lowers the operators of our own library."""

from __future__ import annotations

from functools import cache


@cache
def register() -> None:
    """Enter our operators into Inductor's table of lowerings, once in a process.

    An operator without an entry is called as it is, which gives the same numbers.
    """
    from torch._inductor.kernel.mm_plus_mm import tuned_mm_plus_mm
    from torch._inductor.lowering import register_lowering

    from xductor.transforms.matmul import operators

    lower = register_lowering(operators.mm_plus_mm._opoverload, type_promotion_kind=None)
    lower(tuned_mm_plus_mm)


__all__ = ["register"]
