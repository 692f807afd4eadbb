"""What lets a tensor variable be asked as PyTorch's tensors are: `x.stride(0)`, `x.shape.numel()`,
`x.is_floating_point()`, `torch.is_floating_point(x)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import torch

from xductor.ir import SymExpr
from xductor.transforms.rewriting.decisions import Fact, all_of, any_of


class Answer(Fact):
    """A fact that is known. It may be called, as the method of PyTorch is, which gives a bool."""

    __slots__ = ()

    def __init__(self, value: bool, text: str) -> None:
        super().__init__(value, text)

    def __call__(self) -> bool:
        return bool(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, bool | Answer) and bool(self) == bool(other)

    def __hash__(self) -> int:
        return hash(bool(self))


class Sizes(tuple[Any, ...]):
    """Sizes, which multiply to `numel()`."""

    __slots__ = ()

    def numel(self) -> Any:
        count: Any = 1
        for size in self:
            count = size * count
        return count


class Strides(tuple[Any, ...]):
    """Strides, which are indexed, or called as PyTorch's method is."""

    __slots__ = ()

    def __call__(self, dim: int | None = None) -> Any:
        return self if dim is None else self[dim]


#: The order of the dims in memory, from the innermost, by memory format.
_ORDERS: dict[Any, tuple[int, ...]] = {
    torch.channels_last: (1, 3, 2, 0),
    torch.channels_last_3d: (1, 4, 3, 2, 0),
}


def is_in_format(sizes: Sequence[Any], strides: Sequence[Any], memory_format: Any) -> Fact:
    """Whether strides are those of a channels-last format; those of dims of size one do not matter.

    Raises ValueError for a format without an order of its own.
    """
    order = _ORDERS.get(memory_format)
    if order is None:
        raise ValueError(f"{memory_format} is no layout; ask for {', '.join(map(str, _ORDERS))}")
    if len(sizes) != len(order):
        return Fact(False, ("ranks ", len(sizes), " and ", len(order), " are equal"))
    found: list[Fact] = []
    step: Any = 1
    for dim in order:
        found.append(any_of(sizes[dim] == 1, strides[dim] == step))
        step = sizes[dim] * step
    return all_of(*found)


#: The functions of torch that ask for no data, and the methods that answer.
_ASKED: dict[Any, str] = {
    torch.is_floating_point: "is_floating_point",
    torch.is_complex: "is_complex",
    torch.numel: "numel",
}


def asked(function: Callable[..., Any], args: Sequence[Any]) -> Any:
    """What a function of torch gives for a tensor variable.

    Raises TypeError for a function that needs data.
    """
    method = _ASKED.get(function)
    if method is None or len(args) != 1:
        refuse(function)
    return getattr(args[0], method)()


def refuse(function: Callable[..., Any]) -> NoReturn:
    """Raise TypeError for a function that needs data, with what to write instead."""
    name = getattr(function, "__name__", str(function))
    instead = ""
    if hasattr(torch.ops.aten, name):
        instead = f"; a call of the replacement is written as aten.{name}(...)"
    raise TypeError(f"torch's `{name}` needs data, which a tensor variable has not{instead}")


def static(expr: int | SymExpr) -> int:
    """The number that an expression is. Raises TypeError for a symbolic one."""
    if isinstance(expr, int):
        return expr
    raise TypeError(f"{expr} is symbolic; ask `is_static` first, or compare it")


__all__ = ["Answer", "Sizes", "Strides", "asked", "is_in_format", "static"]
