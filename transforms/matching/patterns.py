"""Patterns as data, and the words of the pattern language.

A pattern is a tree of calls over variables. Arguments that a call does not mention stand for their
schema's defaults; `...` stands for any argument. Besides op functions there are

- `maybe(aten.expand)(x, ...)`: the call, or `x` itself;
- `one_of(p, q)`: the first that matches; `one_of(p, q, as_=v)`: with its number as `v`;
- `shared(p)`: a value that may have users outside the match; its op then stays;
- `bind(v, p)`: what `p` matches, as the variable `v` of `where` and `replacement`;
- `each(xs, f)`: a list of any length whose element i is `f` of element i of `xs`, in order;
- `in_order(p)`: the operands of a commutative op in the order written only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, NoReturn

import torch

from xductor.ir import SchemaOp, TorchOp
from xductor.ir.functions.op_functions import OpFunction, OverloadFunction, RawFunction
from xductor.transforms.matching.pattern_operators import Operators
from xductor.transforms.passes.declared_attributes import DeclarationError


class PatternError(DeclarationError):
    """A rewrite whose parts do not fit together; raised when its class is made."""


#: What `where` may ask a tensor for, and is a name of an operator as well.
_FACTS = ("size", "stride", "numel", "is_floating_point", "is_contiguous", "dim", "device")


class Pattern(Operators):
    """A part of a pattern. It has no facts; those are read in `where`."""

    kind: str = "any"

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in _FACTS and hasattr(torch.ops.aten, name):
            raise PatternError(
                f"`{name}` of {self!r} was read in `pattern`; a call is written as an op function, "
                f"as in aten.{name}({self!r})"
            )
        raise PatternError(
            f"`{name}` of {self!r} was read in `pattern`, where nothing is matched yet; "
            "conditions belong in `where`"
        )

    def __bool__(self) -> NoReturn:
        raise PatternError(f"{self!r} was tested in `pattern`; conditions belong in `where`")


class Var(Pattern):
    """A variable: the same value, or the bit-equal constant, wherever its name appears."""

    def __init__(self, name: str, kind: str) -> None:
        self.name = name
        self.kind = kind

    def __repr__(self) -> str:
        return self.name


class Element(Pattern):
    """The element that the body of an `each` is about."""

    kind = "tensor"

    def __repr__(self) -> str:
        return "<element>"


class Head:
    """One op class that a call may be, with a sub-pattern for each of its arguments.

    Slots are positions in schema order, or parameter names for Python calls. `constants` are the
    entries without a sub-pattern, `parts` the others; an entry `...` is in neither.
    """

    __slots__ = ("cls", "constants", "entries", "parts", "swappable")

    def __init__(
        self,
        cls: type[TorchOp],
        entries: tuple[tuple[int | str, Any], ...],
        swappable: tuple[int | str, int | str] | None = None,
    ) -> None:
        self.cls = cls
        self.entries = entries
        self.swappable = swappable
        looked_at = [(slot, entry) for slot, entry in entries if entry is not ...]
        self.parts = tuple([one for one in looked_at if holds_pattern(one[1])])
        self.constants = tuple([one for one in looked_at if not holds_pattern(one[1])])


def holds_pattern(entry: Any) -> bool:
    """Whether an argument of a call is a sub-pattern, or a list with one or with `...` in it."""
    if isinstance(entry, list | tuple):
        return any(part is ... or holds_pattern(part) for part in entry)
    return isinstance(entry, Pattern)


_numbers = count()


class Call(Pattern):
    """A call of an operator; `outputs` is the number of its results, None for a list.

    `number` is the place of the call in the order in which calls are made.
    """

    def __init__(
        self, name: str, heads: tuple[Head, ...], outputs: int | None, single: bool
    ) -> None:
        self.name = name
        self.heads = heads
        self.outputs = outputs
        self.single = single
        self.kind = "tensor" if single else "list[tensor]"
        self.is_shared = False
        self.number = next(_numbers)

    @property
    def gives_list(self) -> bool:
        """Whether the call gives a list whose length is not known from the pattern.

        A call without a schema, as before autograd, may give a list too, but counts as one value.
        """
        of_schema = any(issubclass(head.cls, SchemaOp) for head in self.heads)
        return of_schema and not self.single and self.outputs is None

    def __getitem__(self, index: int) -> Item:
        if self.single:
            raise PatternError(
                f"{self.name} gives one value; it cannot be indexed. Graphs have aten.select for "
                "`x[0]`, and aten.slice for `x[1:]`"
            )
        return Item(self, index)

    def __iter__(self) -> Iterator[Item]:
        if self.single or self.outputs is None:
            raise PatternError(
                f"{self.name} gives "
                + ("one value" if self.single else "a list of unknown length; use `each`")
            )
        return iter([Item(self, index) for index in range(self.outputs)])

    def __repr__(self) -> str:
        return f"{self.name}(...)"


class Item(Pattern):
    """One result of a call that gives several."""

    kind = "tensor"

    def __init__(self, call: Call, index: int) -> None:
        self.call = call
        self.index = index

    def __repr__(self) -> str:
        return f"{self.call!r}[{self.index}]"


class OneOf(Pattern):
    """Alternatives, tried in order."""

    def __init__(self, alternatives: tuple[Any, ...], number: Var | None = None) -> None:
        self.alternatives = alternatives
        self.number = number
        kinds = {getattr(one, "kind", "any") for one in alternatives}
        self.kind = kinds.pop() if len(kinds) == 1 else "any"

    def __repr__(self) -> str:
        return f"one_of({', '.join(map(repr, self.alternatives))})"


class Bound(Pattern):
    """A variable bound to what a sub-pattern matches."""

    def __init__(self, variable: Var, pattern: Any) -> None:
        self.variable = variable
        self.pattern = pattern
        self.kind = variable.kind

    def __repr__(self) -> str:
        return f"bind({self.variable!r}, {self.pattern!r})"


class Each(Pattern):
    """A list whose elements are one body applied to the elements of a source, in order."""

    kind = "list[tensor]"

    def __init__(self, source: Any, element: Element, body: Any) -> None:
        self.source = source
        self.element = element
        self.body = body

    def __repr__(self) -> str:
        return f"each({self.source!r}, {self.body!r})"


AnyOp = OpFunction | OverloadFunction | RawFunction


def maybe(op: AnyOp) -> Callable[..., OneOf]:
    """`maybe(aten.expand)(x, ...)`: a call of `op` on `x`, or `x` alone."""

    def wrap(x: Any, *args: Any, **kwargs: Any) -> OneOf:
        return OneOf((op(x, *args, **kwargs), x))

    return wrap


def one_of(*alternatives: Any, as_: Any = None) -> OneOf:
    """The first alternative with which the whole pattern matches. Variables of the others are None.

    - `as_`: an int variable of the pattern that gets the number of the alternative, counted from 0,
      for `where`, `pays` and `replacement`. It is None if the whole `one_of` stands in an
      alternative that did not match.
    """
    if as_ is not None and not (isinstance(as_, Var) and as_.kind == "int"):
        raise PatternError(f"one_of(..., as_={as_!r}): expected a variable annotated `int`")
    return OneOf(alternatives, as_)


def shared(pattern: Any) -> Any:
    """A call whose value may be used outside the match; its op then stays."""
    call = pattern.call if isinstance(pattern, Item) else pattern
    if not isinstance(call, Call):
        raise PatternError(f"shared({pattern!r}): a variable may always have other users")
    call.is_shared = True
    return pattern


def bind(variable: Any, pattern: Any) -> Bound:
    """Bind what `pattern` matches to `variable`, for `where` and `replacement`."""
    if not isinstance(variable, Var):
        raise PatternError(f"bind({variable!r}, ...): the first argument is a variable")
    return Bound(variable, pattern)


def each(source: Any, body: Callable[[Any], Any] | AnyOp) -> Each:
    """A list of any length: `body` of each element of `source`, in the order of `source`.

    `source` is a `list[Tensor]` variable, which is bound to the elements, or a call that gives a
    list (`aten.split(x, n, dim)`), all of whose results must be used, each once.
    """
    element = Element()
    return Each(source, element, body(element))


def in_order(pattern: Any) -> Any:
    """The call with its operands only in the order written, even if its op commutes."""
    if not isinstance(pattern, Call):
        raise PatternError(f"in_order({pattern!r}): expected a call")
    for head in pattern.heads:
        head.swappable = None
    return pattern


def variables(pattern: Any) -> Iterator[Var]:
    """The variables of a pattern in order of appearance, with repetitions."""
    if isinstance(pattern, Var):
        yield pattern
    for part in children(pattern):
        yield from variables(part)


def children(pattern: Any) -> Iterator[Any]:
    """The parts of a pattern, one level down."""
    if isinstance(pattern, Call):
        for head in pattern.heads:
            for _, entry in head.entries:
                yield entry
    elif isinstance(pattern, Item):
        yield pattern.call
    elif isinstance(pattern, OneOf):
        yield from pattern.alternatives
        if pattern.number is not None:
            yield pattern.number
    elif isinstance(pattern, Bound):
        yield pattern.variable
        yield pattern.pattern
    elif isinstance(pattern, Each):
        yield pattern.source
        yield pattern.body
    elif isinstance(pattern, tuple | list):
        yield from pattern


__all__ = [
    "Bound",
    "Call",
    "Each",
    "Element",
    "Head",
    "Item",
    "OneOf",
    "Pattern",
    "PatternError",
    "Var",
    "bind",
    "children",
    "each",
    "holds_pattern",
    "in_order",
    "maybe",
    "one_of",
    "shared",
    "variables",
]
