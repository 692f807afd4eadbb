"""Chooses shapes of operands that fit the operands before them, by families of operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from xductor.ir import SymExpr

Dim = int | SymExpr
Shape = tuple[Dim, ...]
Pick = Callable[[], Dim]

#: The parameters of products: left operand, right operand, and what is added to the product.
_PRODUCTS: Mapping[str, tuple[str, str, str]] = {
    "mm": ("self", "mat2", ""),
    "_int_mm": ("self", "mat2", ""),
    "bmm": ("self", "mat2", ""),
    "matmul": ("self", "other", ""),
    "addmm": ("mat1", "mat2", "self"),
    "baddbmm": ("batch1", "batch2", "self"),
    "mv": ("self", "vec", ""),
    "addmv": ("mat", "vec", "self"),
    "dot": ("self", "tensor", ""),
}
_CONVOLUTIONS = frozenset(("convolution", "conv1d", "conv2d", "conv3d"))
#: Operands that are made after the others, since their shape has to broadcast to the result's.
LATE = frozenset((op, added) for op, (_, _, added) in _PRODUCTS.items() if added)


def fitting_shape(
    op: str, param: str, known: Mapping[str, Shape], pick: Pick, choose: Callable[[list[Any]], Any]
) -> Shape | None:
    """A shape for an operand that fits the known operands; None if there is no rule for it.

    - `op`, `param`: the operator without its overload, and the parameter.
    - `known`: shapes of the operands before it, by parameter.
    - `pick`, `choose`: give a size, and an item of a list.
    """
    if op in _PRODUCTS:
        return _of_product(_PRODUCTS[op], param, known, pick, choose)
    if op == "linear":
        return _of_linear(param, known, pick)
    if op in _CONVOLUTIONS:
        return _of_convolution(param, known, pick, choose)
    return None


def _of_product(
    names: tuple[str, str, str],
    param: str,
    known: Mapping[str, Shape],
    pick: Pick,
    choose: Callable[[list[Any]], Any],
) -> Shape | None:
    left, right, added = names
    a, b = known.get(left) or known.get("input"), known.get(right)
    if param == right and a:
        if right in ("vec", "tensor") or len(a) == 1:
            return (a[-1],)
        return (*a[:-2], a[-1], pick())
    if param == added and a and b:
        whole = a[:-1] if len(b) == 1 else (*a[:-1], b[-1])
        # Any shape that broadcasts to that of the product.
        ones = [1] * len(whole)
        return tuple(choose([list(whole), list(whole), whole[1:], whole[-1:], ones, whole[:0]]))
    return None


def _of_linear(param: str, known: Mapping[str, Shape], pick: Pick) -> Shape | None:
    given, weight = known.get("input"), known.get("weight")
    if param == "weight" and given:
        return (pick(), given[-1])
    if param == "bias" and weight:
        return weight[:1]
    return None


def _of_convolution(
    param: str, known: Mapping[str, Shape], pick: Pick, choose: Callable[[list[Any]], Any]
) -> Shape | None:
    given, weight = known.get("input"), known.get("weight")
    if param == "weight" and given:
        return (pick(), given[1], *[choose([1, 2, 3]) for _ in given[2:]])
    if param == "bias" and weight:
        return weight[:1]
    return None


__all__ = ["LATE", "fitting_shape"]
