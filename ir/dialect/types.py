"""Types of the values in an `fx.graph`.

Types are interned: two types with the same text are one object, so a comparison usually only
compares identities. Sizes and strides are `int | SymExpr`; nothing here holds a ShapeEnv or a
tensor.
"""

from __future__ import annotations

import weakref
from typing import Any, ClassVar, NamedTuple, Self

import torch
from xdsl.ir import Data, TypeAttribute
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from xductor.ir.dialect.dtypes import TEXT_OF_DTYPE
from xductor.ir.symbolic import expressions
from xductor.ir.symbolic.expressions import SymExpr

Dim = int | SymExpr

#: Facts about a tensor besides its geometry, in the order in which they are printed.
FLAGS = ("conj", "neg", "requires_grad", "parameter")


class _InternedType(Data[Any], TypeAttribute):
    """A type that is one object for each content."""

    _interned: ClassVar[weakref.WeakValueDictionary[Any, Any]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._interned = weakref.WeakValueDictionary()

    def __new__(cls, data: Any) -> Self:
        found = cls._interned.get(data)
        if found is not None:
            return found
        made = object.__new__(cls)
        object.__setattr__(made, "data", data)
        object.__setattr__(made, "_hash", hash((cls, data)))
        cls._interned[data] = made
        return made

    def __init__(self, data: Any) -> None:
        """Everything is set in `__new__`; an interned object is not initialized again."""

    @classmethod
    def new(cls, params: Any) -> Self:
        return cls(params)

    def __hash__(self) -> int:
        return self._hash  # type: ignore[attr-defined]

    def __eq__(self, other: object) -> bool:
        return self is other or (type(self) is type(other) and self.data == other.data)  # type: ignore[attr-defined]

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.data,)

    @property
    def body(self) -> str:
        """The text between the angle brackets."""
        raise NotImplementedError

    @property
    def text(self) -> str:
        """The type as it prints, `!fx.tensor<f32[4]>`; computed once."""
        cached = self.__dict__.get("_text")
        if cached is None:
            body = self.body
            cached = f"!{self.name}<{body}>" if body else f"!{self.name}"
            object.__setattr__(self, "_text", cached)
        return cached

    def print_parameter(self, printer: Printer) -> None:
        body = self.body
        if body:
            printer.print_string(f"<{body}>")

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Any:
        from xductor.ir.text.parsing import parse_type_body

        return parse_type_body(cls.name, parser)

    def __repr__(self) -> str:
        return self.text

    def __str__(self) -> str:
        return self.text


class TensorFields(NamedTuple):
    """The fields of a tensor type; every field takes part in equality."""

    dtype: torch.dtype
    shape: tuple[Dim, ...]
    stride: tuple[Dim, ...]
    device: torch.device
    offset: Dim
    flags: tuple[str, ...]
    layout: str
    subclass: str


class TensorType(_InternedType):
    """`!fx.tensor<f32[s0, 192][192, 1], cuda:0>`: element type, sizes, strides, device, facts.

    Strides are left out of the text when they are those of a contiguous tensor of that shape.
    """

    name = "fx.tensor"
    data: TensorFields

    @classmethod
    def get(  # pyright: ignore[reportIncompatibleMethodOverride]
        cls,
        dtype: torch.dtype,
        shape: tuple[Dim, ...],
        stride: tuple[Dim, ...] | None = None,
        device: torch.device | str = "cpu",
        *,
        offset: Dim = 0,
        flags: tuple[str, ...] = (),
        layout: str = "strided",
        subclass: str = "",
    ) -> TensorType:
        """The type with these facts; strides default to contiguous ones (in elements)."""
        if stride is None:
            stride = contiguous_strides(shape)
        if isinstance(device, str):
            device = torch.device(device)
        return cls(TensorFields(dtype, shape, stride, device, offset, flags, layout, subclass))

    @property
    def dtype(self) -> torch.dtype:
        return self.data.dtype

    @property
    def shape(self) -> tuple[Dim, ...]:
        return self.data.shape

    @property
    def stride(self) -> tuple[Dim, ...]:
        return self.data.stride

    @property
    def device(self) -> torch.device:
        return self.data.device

    @property
    def offset(self) -> Dim:
        return self.data.offset

    @property
    def rank(self) -> int:
        return len(self.data.shape)

    @property
    def is_contiguous(self) -> bool:
        """Whether the strides are exactly those of a contiguous tensor of this shape."""
        return self.data.stride == contiguous_strides(self.data.shape)

    @property
    def symbols(self) -> frozenset[str]:
        """The names of the symbols in sizes, strides and offset."""
        cached = self.__dict__.get("_symbols")
        if cached is None:
            names: set[str] = set()
            for dim in (*self.data.shape, *self.data.stride, self.data.offset):
                if type(dim) is SymExpr:
                    names |= dim.symbols
            cached = frozenset(names)
            object.__setattr__(self, "_symbols", cached)
        return cached

    @property
    def body(self) -> str:
        fields = self.data
        text = f"{TEXT_OF_DTYPE[fields.dtype]}[{', '.join(map(str, fields.shape))}]"
        if fields.layout == "strided" and not self.is_contiguous:
            text += f"[{', '.join(map(str, fields.stride))}]"
        text += f", {fields.device}"
        if fields.offset != 0:
            text += f", offset {fields.offset}"
        for flag in fields.flags:
            text += f", {flag}"
        if fields.layout != "strided":
            text += f", layout {fields.layout}"
        if fields.subclass:
            text += f", class {fields.subclass}"
        return text


class _ScalarType(_InternedType):
    """A Python number as a symbolic expression: the expression is the type."""

    data: int | SymExpr

    @property
    def expr(self) -> int | SymExpr:
        return self.data

    @property
    def symbols(self) -> frozenset[str]:
        return self.data.symbols if type(self.data) is SymExpr else frozenset()

    @property
    def body(self) -> str:
        return str(self.data)


class SymIntType(_ScalarType):
    """`!fx.symint<s0 + 1>`: an int or a SymInt."""

    name = "fx.symint"


class SymFloatType(_ScalarType):
    """`!fx.symfloat<to_float(s0)>`: a float or a SymFloat."""

    name = "fx.symfloat"


class SymBoolType(_ScalarType):
    """`!fx.symbool<lt(s0, 4)>`: a bool or a SymBool."""

    name = "fx.symbool"


class NoneType(_InternedType):
    """`!fx.none`: Python's None as a value, or the absent slot of a tuple result."""

    name = "fx.none"
    data: None

    @property
    def body(self) -> str:
        return ""


class ObjectType(_InternedType):
    """`!fx.object<"torch.ScriptObject">`: a value that is neither a tensor nor a number."""

    name = "fx.object"
    data: str

    @property
    def body(self) -> str:
        import json

        return json.dumps(self.data)


NONE = NoneType(None)
NO_SYMBOLS: frozenset[str] = frozenset()

#: The types a value in an `fx.graph` can have.
VALUE_TYPES: tuple[type[_InternedType], ...] = (
    TensorType,
    SymIntType,
    SymFloatType,
    SymBoolType,
    NoneType,
    ObjectType,
)


def symbols_of(type_: Any) -> frozenset[str]:
    """The names of the symbols in a value type."""
    return getattr(type_, "symbols", NO_SYMBOLS)


_strides: dict[tuple[Dim, ...], tuple[Dim, ...]] = {}


def contiguous_strides(shape: tuple[Dim, ...]) -> tuple[Dim, ...]:
    """Strides, in elements, of a contiguous tensor; a size of zero counts as one, as in torch."""
    cached = _strides.get(shape)
    if cached is not None:
        return cached
    strides: list[Dim] = []
    running: Dim = 1
    for size in reversed(shape):
        strides.append(running)
        if size != 0:
            running = expressions.mul(running, size)
    result = tuple(reversed(strides))
    if len(_strides) > 8192:
        _strides.clear()
    _strides[shape] = result
    return result
