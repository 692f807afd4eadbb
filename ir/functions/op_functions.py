"""Operators as Python functions: `aten.mm(a, b)`, `prims.iota(...)`, `ops.mylib.fused(x)`.

The innermost builder decides what a call does: a pattern records it, a replacement makes an op, a
proof uses its meaning. Outside of any builder a call is an error.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from typing import Any, Protocol

import torch
from torch._ops import OpOverloadPacket

from xductor.ir.dialect.operations import TorchOp
from xductor.ir.dialect.registry import (
    LASTING,
    UnknownOp,
    dispatcher_overloads,
    op_class_by_name,
    packet_named,
)
from xductor.ir.functions.call_forms import UNKNOWN, FormTable, form_of
from xductor.ir.functions.overload_resolution import BoundCall, fitting_calls


class OpBuilder(Protocol):
    """Handles the calls of op functions inside a `with building(builder)` block."""

    def call(self, name: str, calls: list[BoundCall]) -> Any:
        """The value of a call of an operator.

        `calls` are the overloads that fit the arguments, PyTorch's choice first; there is at least
        one, and more than one only if a number is given for a tensor.
        """
        ...

    def raw_call(self, cls: type[TorchOp], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The value of a call of a Python function, a method or a higher-order op."""
        ...


_builder: ContextVar[OpBuilder | None] = ContextVar("xductor_op_builder", default=None)


@contextmanager
def building(builder: OpBuilder) -> Iterator[None]:
    """Let `builder` handle the calls of op functions inside the block."""
    token = _builder.set(builder)
    try:
        yield
    finally:
        _builder.reset(token)


def _current(name: str) -> OpBuilder:
    builder = _builder.get()
    if builder is None:
        raise TypeError(
            f"{name}(...) was called outside of a rewrite; op functions act in `pattern` and "
            f"`replacement` only. To run the operator call torch.ops.{name}, to make an op use "
            f"xductor.ir.op_class(torch.ops.{name}).make(...)"
        )
    return builder


class OverloadFunction:
    """One overload: `aten.sub.Tensor`. `op_class` is the class of its ops in the IR."""

    __slots__ = ("name", "op_class")

    def __init__(self, name: str) -> None:
        self.name = name
        self.op_class: type[Any] = op_class_by_name(name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        calls = fitting_calls(self.name, [self.op_class], args, kwargs)
        return _current(self.name).call(self.name, calls)

    @property
    def overloads(self) -> tuple[type[Any], ...]:
        return (self.op_class,)

    def __repr__(self) -> str:
        return self.name


class OpFunction:
    """All overloads of an operator: `aten.sub`; a call uses the one that PyTorch would choose."""

    def __init__(self, name: str, packet: OpOverloadPacket) -> None:
        self.name = name
        self._packet = packet
        self._overloads: tuple[type[Any], ...] | None = None
        self._forms = FormTable()

    @property
    def overloads(self) -> tuple[type[Any], ...]:
        """The op classes of the overloads, in PyTorch's order."""
        if self._overloads is None:
            names = dispatcher_overloads(self._packet)
            self._overloads = tuple(op_class_by_name(f"{self.name}.{one}") for one in names)
        return self._overloads

    def has_overload(self, overload: str) -> bool:
        """Whether `overload` is one of its overloads; this makes no op class."""
        return overload in self.__dict__ or overload in dispatcher_overloads(self._packet)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _current(self.name).call(self.name, self._calls(args, kwargs))

    def _calls(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[BoundCall]:
        """The overloads that fit, as `fitting_calls` finds them for the first call of a form."""
        form = form_of(args, kwargs)
        found: Any = UNKNOWN if form is None else self._forms.find(*form)
        if found is UNKNOWN:
            found = tuple(map(tuple, fitting_calls(self.name, self.overloads, args, kwargs)))
            if form is not None:
                self._forms.keep(*form, found)
        return [BoundCall(*one) for one in found]

    def __getattr__(self, overload: str) -> OverloadFunction:
        if overload.startswith("__"):
            raise AttributeError(overload)
        known = dispatcher_overloads(self._packet)
        if overload not in known:
            raise AttributeError(
                f"'{self.name}' has no overload '{overload}'{_guess(overload, known)}; "
                f"it has: {', '.join(known)}"
            )
        made = OverloadFunction(f"{self.name}.{overload}")
        self.__dict__[overload] = made
        return made

    def __repr__(self) -> str:
        return self.name


class OpLibrary:
    """The operators of one library by name: `aten`, `prims`, `ops.mylib`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, op: str) -> OpFunction:
        if op.startswith("__"):
            raise AttributeError(op)
        made = op_function(self._name, op)
        if self._name in LASTING:  # other operators may be defined anew under their names
            self.__dict__[op] = made
        return made

    def __repr__(self) -> str:
        return self._name


def is_loaded(library: OpLibrary) -> bool:
    """Whether any operator of the library is registered, which importing its package does."""
    found = vars(library)
    return len(found) > 1 or bool(_operators(found["_name"]))


def op_function(library: str, op: str) -> OpFunction:
    """The function for an operator. Raises AttributeError if it is not registered."""
    packet = packet_named(library, op)
    if packet is None:
        raise AttributeError(
            f"'{library}' has no operator '{op}'{_guess(op, _operators(library))}"
            + ("" if library in ("aten", "prims") else f"; is the package of '{library}' imported?")
        )
    return OpFunction(f"{library}.{op}", packet)


def _operators(library: str) -> list[str]:
    names = torch._C._dispatch_get_all_op_names()
    prefix = f"{library}::"
    found = {name.removeprefix(prefix).partition(".")[0] for name in names if prefix in name}
    return sorted(found)


def _guess(name: str, known: list[str]) -> str:
    close = get_close_matches(name, known, n=1, cutoff=0.7)
    return f". Did you mean '{close[0]}'?" if close else ""


#: Types of the values in a graph from Dynamo.
_WITH_METHODS = (
    torch.Tensor,
    torch.Size,
    torch.SymInt,
    torch.SymFloat,
    int,
    float,
    str,
    dict,
    list,
)


def _siblings(home: str) -> list[str]:
    """The names in the namespace of a Python function or a higher-order op."""
    if home == "higher_order":
        return sorted(torch._ops._higher_order_ops)
    found: Any = sys.modules.get(home.removeprefix("pyfn.").partition(".")[0])
    for part in home.removeprefix("pyfn.").split(".")[1:]:
        found = getattr(found, part, None)
    return dir(found)


class RawFunction:
    """A Python function, a method or a higher-order op, called in a pattern or replacement.

    Its name is the one that the op has in text: `pyfn.torch.cat`, `method.view`,
    `higher_order.cond`.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def op_class(self) -> type[TorchOp]:
        """The class of its ops. Raises UnknownOp if nothing has that name."""
        home, _, last = self.name.rpartition(".")
        if home == "method" and not any(hasattr(one, last) for one in _WITH_METHODS):
            raise UnknownOp(f"no value has a method '{last}'{_guess(last, dir(torch.Tensor))}")
        try:
            return op_class_by_name(self.name)
        except UnknownOp as error:
            raise UnknownOp(f"{error}{_guess(last, _siblings(home))}") from error

    @property
    def overloads(self) -> tuple[type[Any], ...]:
        return (self.op_class,)

    def __getattr__(self, part: str) -> RawFunction:
        if part.startswith("__"):
            raise AttributeError(part)
        return RawFunction(f"{self.name}.{part}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _current(self.name).raw_call(self.op_class, args, kwargs)

    def __repr__(self) -> str:
        return self.name


__all__ = [
    "BoundCall",
    "OpBuilder",
    "OpFunction",
    "OpLibrary",
    "OverloadFunction",
    "RawFunction",
    "building",
    "is_loaded",
    "op_function",
]
