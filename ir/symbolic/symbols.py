"""The symbol table of a graph: what is known about each symbol in its types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from xductor.ir.symbolic.expression_nodes import Expr, SymExpr, named_constant, symbol

if TYPE_CHECKING:
    import sympy

Kind = Literal["int", "float", "bool"]

MINUS_INT_OO = named_constant("-int_oo")
INT_OO = named_constant("int_oo")


@dataclass(frozen=True, slots=True)
class SymbolInfo:
    """What is known about one symbol.

    Attributes:
        assumptions: sympy assumptions beyond the kind's own (`integer` for `int` and `bool`), the
            fewest that imply all the others; `not_x` where `x` is assumed false.
        backed: whether the value is known at trace time (an input size) and not data-dependent.
        size_like: whether an unbacked symbol is the size of something.
        hint: the value that was seen while tracing, if any.
        lower, upper: the inclusive range; integers, floats or the infinities.
        sources: Python expressions over the inputs that give the value.
    """

    name: str
    kind: Kind = "int"
    assumptions: tuple[str, ...] = ()
    backed: bool = True
    size_like: bool = False
    hint: float | SymExpr | None = None
    lower: Expr = MINUS_INT_OO
    upper: Expr = INT_OO
    sources: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """`s0 : int positive [2, int_oo] hint 16`."""
        words = [f"{self.name} : {self.kind}", *self.assumptions]
        if not self.backed:
            words.append("unbacked")
        if self.size_like:
            words.append("size_like")
        words.append(f"[{self.lower}, {self.upper}]")
        if self.hint is not None:
            words.append(f"hint {self.hint!r}" if not isinstance(self.hint, SymExpr) else "")
            if isinstance(self.hint, SymExpr):
                words[-1] = f"hint {self.hint.text}"
        words.extend(f"source {_quote(source)}" for source in self.sources)
        return " ".join(words)


def _quote(source: str) -> str:
    escaped = source.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


class SymbolTable(Mapping[str, SymbolInfo]):
    """Symbols by name, in order. Immutable; two tables are equal if their texts are.

    `replacements` are symbols that the ShapeEnv had replaced when the table was made; types do
    not mention them, but hand-written text may.
    """

    __slots__ = ("_infos", "_text", "replacements")

    def __init__(
        self, infos: Iterable[SymbolInfo] = (), replacements: Mapping[str, Expr] | None = None
    ):
        self._infos: dict[str, SymbolInfo] = {}
        self.replacements: Mapping[str, Expr] = dict(replacements or {})
        for info in infos:
            if info.name in self._infos or info.name in self.replacements:
                raise ValueError(f"symbol '{info.name}' stands twice in a symbol table")
            symbol(info.name)  # refuses names that are not identifiers
            self._infos[info.name] = info
        entries = [info.text for info in self._infos.values()]
        entries.extend(f"{name} = {target}" for name, target in self.replacements.items())
        self._text = f"symbols({', '.join(entries)})"

    @property
    def text(self) -> str:
        """`symbols(s0 : int positive [2, int_oo] hint 16, ...)`; `parse_symbol_table` reads it."""
        return self._text

    def __getitem__(self, name: str) -> SymbolInfo:
        return self._infos[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._infos)

    def __len__(self) -> int:
        return len(self._infos)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SymbolTable) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<SymbolTable {self._text}>"


def make_symbols(table: SymbolTable) -> dict[str, sympy.Symbol]:
    """A sympy symbol for each entry, with exactly the recorded assumptions.

    Such a symbol equals the one that the ShapeEnv made, so expressions over both are equal too.
    """
    return {info.name: make_symbol(info) for info in table.values()}


def make_symbol(info: SymbolInfo) -> sympy.Symbol:
    """The sympy symbol of one entry."""
    import sympy

    return sympy.Symbol(info.name, **_assumption_flags(info.kind, info.assumptions))


def _assumption_flags(kind: Kind, assumptions: tuple[str, ...]) -> dict[str, bool]:
    flags = {} if kind == "float" else {"integer": True}
    for word in assumptions:
        flags[word.removeprefix("not_")] = not word.startswith("not_")
    return flags


_PREFERRED = ("positive", "negative", "nonnegative", "nonpositive", "nonzero", "real", "finite")


def assumptions_of(sym: sympy.Symbol) -> tuple[Kind, tuple[str, ...]]:
    """The kind of a sympy symbol, and the fewest assumptions that give all its others."""
    return _assumptions_of(tuple(sorted(sym.assumptions0.items())))


@cache
def _assumptions_of(known: tuple[tuple[str, bool], ...]) -> tuple[Kind, tuple[str, ...]]:
    import sympy

    wanted = dict(known)
    kind: Kind = "int" if wanted.get("integer") else "float"
    chosen: tuple[str, ...] = ()

    def implied() -> Mapping[str, bool]:
        return sympy.Symbol("x", **_assumption_flags(kind, chosen)).assumptions0

    order = [name for name in _PREFERRED if wanted.get(name)]
    order += [name for name in wanted if name not in order and wanted[name]]
    order += [f"not_{name}" for name in wanted if not wanted[name]]
    for word in order:
        if word.removeprefix("not_") not in implied():
            chosen += (word,)
    return kind, chosen


__all__ = (
    "INT_OO",
    "MINUS_INT_OO",
    "Kind",
    "SymbolInfo",
    "SymbolTable",
    "assumptions_of",
    "make_symbol",
    "make_symbols",
)
