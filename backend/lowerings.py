"""How Inductor lowers the operators of our own library."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def register() -> None:
    """Enter our operators into Inductor's table of lowerings, once in a process.

    An operator without an entry is called as it is, which gives the same numbers.
    """
    from torch._inductor.kernel.mm_plus_mm import tuned_mm_plus_mm
    from torch._inductor.lowering import register_lowering

    from xductor.transforms.matmul import operators
    from xductor.transforms.matmul.b2b_gemm_operator import b2b_gemm

    lower = register_lowering(operators.mm_plus_mm._opoverload, type_promotion_kind=None)
    lower(tuned_mm_plus_mm)
    register_lowering(b2b_gemm, type_promotion_kind=None)(_tuned_b2b_gemm)


def tunes_b2b_gemm() -> bool:
    """Whether Inductor can tune two successive products: in torch 2.11 its own call raises."""
    from torch._inductor.fx_passes import b2b_gemm

    return hasattr(b2b_gemm, "_make_unoptimized_b2b_gemm_choice")


def _tuned_b2b_gemm(between: Any, a: Any, b: Any, c: Any, left: bool) -> Any:
    """The kernel of Inductor's `b2b_gemm_pass`, which calls it by itself."""
    from torch._inductor.fx_passes.b2b_gemm import tuned_b2b_gemm

    return tuned_b2b_gemm(left, between, a, b, c)


__all__ = ["register", "tunes_b2b_gemm"]
