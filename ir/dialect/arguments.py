"""The `args` attribute of an op: the arguments of its call, with values as references.

`ArgsAttr.data` is a tree. A `Ref(i)` stands for operand `i` of the op (numbered in order of
appearance); everything else is a constant. Python's own containers keep their kind, because FX
tells a list from a tuple. Constants are compared with their type and bit by bit: `1`, `True` and
`1.0` are three constants, and so are `0.0` and `-0.0`.
"""

from __future__ import annotations

import struct
import weakref
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Self

import torch
from xdsl.ir import Data
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from xductor.ir.symbolic.expressions import SymExpr


class Ref:
    """Operand number `index` of the op that holds this argument."""

    __slots__ = ("index",)
    index: int
    _made: ClassVar[list[Ref]] = []

    def __new__(cls, index: int) -> Ref:  # noqa: PYI034 - the one `Ref(index)`
        while len(cls._made) <= index:
            ref = object.__new__(cls)
            ref.index = len(cls._made)
            cls._made.append(ref)
        return cls._made[index]

    def __reduce__(self) -> tuple[Any, ...]:
        return Ref, (self.index,)

    def __repr__(self) -> str:
        return f"Ref({self.index})"


class ListArg(tuple[Any, ...]):
    """A Python list among the arguments (a plain tuple represents a tuple)."""

    __slots__ = ()


class SizeArg(tuple[Any, ...]):
    """A `torch.Size` among the arguments."""

    __slots__ = ()


class Pack(tuple[Any, ...]):
    """All results of a tuple-valued op, used as one value (`torch.cat(torch.split(x, 2))`)."""

    __slots__ = ()


class DictArg(tuple[tuple[Any, Any], ...]):
    """A dict among the arguments: its pairs in order."""

    __slots__ = ()


class SliceArg(tuple[Any, Any, Any]):
    """A Python slice: start, stop, step."""

    __slots__ = ()


class SymbolRef:
    """A subgraph, by its name in the module: `@true_graph_0`."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return type(other) is SymbolRef and other.name == self.name

    def __hash__(self) -> int:
        return hash((SymbolRef, self.name))

    def __repr__(self) -> str:
        return f"@{self.name}"


class FunctionArg:
    """A named Python callable or class as a constant: `fn<torch.relu>`."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return type(other) is FunctionArg and other.name == self.name

    def __hash__(self) -> int:
        return hash((FunctionArg, self.name))

    def __repr__(self) -> str:
        return f"fn<{self.name}>"


class Handle:
    """A live object that text can only name: `opaque<kind, "id">`.

    Handles in parsed text have no object; raising such a module needs bindings for them.
    """

    __slots__ = ("ident", "kind", "live")

    def __init__(self, kind: str, ident: str, live: Any = None) -> None:
        self.kind = kind
        self.ident = ident
        self.live = live

    def __eq__(self, other: object) -> bool:
        return type(other) is Handle and (other.kind, other.ident) == (self.kind, self.ident)

    def __hash__(self) -> int:
        return hash((Handle, self.kind, self.ident))

    def __repr__(self) -> str:
        return f'opaque<{self.kind}, "{self.ident}">'


_TRUE, _FALSE = object(), object()
NO_SYMBOLS: frozenset[str] = frozenset()
_CONTAINERS = (tuple, ListArg, SizeArg, Pack, DictArg, SliceArg)


def float_bits(value: float) -> int:
    """The bits of a float as a signed integer."""
    return struct.unpack("<q", struct.pack("<d", value))[0]


#: Types whose constants never equal a constant of another type.
_OWN_KEYS = frozenset((int, Ref, type(None), str))


def constant_key(item: Any) -> Any:
    """A hashable key that is equal only for equal constants (type-exact, bit-exact)."""
    kind = type(item)
    if kind in _OWN_KEYS:
        return item
    if kind is bool:
        return _TRUE if item else _FALSE
    if kind is float:
        return (float, float_bits(item))
    if kind is complex:
        return (complex, float_bits(item.real), float_bits(item.imag))
    if kind is tuple:
        return tuple([constant_key(element) for element in item])
    if kind in _CONTAINERS:
        if _OWN_KEYS.issuperset(map(type, item)):
            return (kind, *item)
        return (kind, *[constant_key(element) for element in item])
    return (kind, item)


#: Types of Python constants that `ArgsAttr` holds as they are.
CONSTANT_TYPES: tuple[type, ...] = (
    int,
    bool,
    float,
    complex,
    str,
    type(None),
    type(...),
    torch.dtype,
    torch.device,
    torch.layout,
    torch.memory_format,
    range,
    SymExpr,
)


def same_constant(left: Any, right: Any) -> bool:
    """Whether two constants are equal: the same type and the same bits, element by element."""
    return left is right or constant_key(left) == constant_key(right)


class ArgsAttr(Data[tuple[Any, ...]]):
    """The arguments of one call; interned, so equal arguments are one object."""

    name = "fx.args"
    _interned: ClassVar[weakref.WeakValueDictionary[Any, ArgsAttr]] = weakref.WeakValueDictionary()

    def __new__(cls, data: tuple[Any, ...]) -> Self:
        key = tuple([constant_key(item) for item in data])
        found = cls._interned.get(key)
        if found is not None:
            return found  # type: ignore[return-value]
        made = object.__new__(cls)
        fields = vars(made)
        fields["data"] = data
        fields["key"] = key
        fields["_hash"] = hash(key)
        refs, symbols, subgraphs, live = 0, NO_SYMBOLS, (), False
        for leaf in leaves(data):
            kind = type(leaf)
            if kind is Ref:
                refs += 1
            elif kind is SymExpr:
                symbols |= leaf.symbols
            elif kind is SymbolRef:
                subgraphs += (leaf.name,)
            elif kind is Handle:
                live = True
        fields["refs"], fields["symbols"], fields["subgraphs"] = refs, symbols, subgraphs
        # A live object behind a handle must not outlive its graph.
        if not live:
            cls._interned[key] = made
        return made

    def __init__(self, data: tuple[Any, ...]) -> None:
        """Everything is set in `__new__`."""

    #: The number of operands that the arguments refer to.
    refs: int

    #: Names of the symbols that expressions among the arguments mention.
    symbols: frozenset[str]

    #: The names of the graphs that the arguments refer to, in order of appearance.
    subgraphs: tuple[str, ...]

    @classmethod
    def new(cls, params: Any) -> Self:
        return cls(params)

    def __hash__(self) -> int:
        return self._hash  # type: ignore[attr-defined]

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is ArgsAttr and self.key == other.key)  # type: ignore[attr-defined]

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def print_parameter(self, printer: Printer) -> None:
        from xductor.ir.text.printing import constant_text

        body = ", ".join(constant_text(item, _ref_text) for item in self.data)
        printer.print_string(f"<{body}>")

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Any, ...]:
        from xductor.ir.text.parsing import parse_args_body

        return parse_args_body(parser)


def _ref_text(ref: Ref) -> str:
    return f"%{ref.index}"


def leaves(tree: Any) -> Iterator[Any]:
    """The leaves of an argument tree, references among them, in order of appearance."""
    if type(tree) in _CONTAINERS:
        for element in tree:
            yield from leaves(element)
    else:
        yield tree


def references(tree: Any) -> Iterator[Ref]:
    """The operand references of an argument tree in order of appearance."""
    for leaf in leaves(tree):
        if type(leaf) is Ref:
            yield leaf


def map_tree(tree: Any, leaf: Callable[[Any], Any]) -> Any:
    """The tree with each leaf replaced; containers keep their kind."""
    kind = type(tree)
    if kind in _CONTAINERS:
        mapped = [map_tree(element, leaf) for element in tree]
        return tuple(mapped) if kind is tuple else kind(mapped)
    return leaf(tree)
