"""Terms: formulas for the elements of tensors, over indices, sizes and other elements.

A term is an integer (an unbounded index or size), a truth value, or a number of a dtype. Terms are
interned, so equal ones are one object; the constructors below fold constants and keep integers as
polynomials. No solver is needed to make or to read a term.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from itertools import count
from typing import Any
from weakref import WeakValueDictionary

import torch

Sort = str | torch.dtype
Monomial = tuple["Term", ...]

#: Sorts besides dtypes: an index or size, and a truth value (the sort of torch.bool elements).
INT, BOOL = "int", "bool"


class Term:
    """One node: `op` is its kind, `args` its parts, `sort` that of its value.

    Integers are `number`, `var`, `poly`, `ite`, `linear`, `digit`, `quotient`, `modulo`, `value`;
    truth values are `true`, `false`, `and`, `or`, `not`, `zero` (an integer is 0), `nonneg`,
    `ite`, `call`, `element`; elements are `constant`, `element`, `call`, `cast`, `ite`, `fold`,
    `scalar`.
    """

    __slots__ = ("__weakref__", "args", "key", "op", "sort")

    op: str
    args: tuple[Any, ...]
    sort: Sort
    #: A unique number, by which the parts of a polynomial are ordered.
    key: int

    def __repr__(self) -> str:
        return _shown(self)

    def __add__(self, other: Int) -> Term:
        return add(self, other)

    __radd__ = __add__

    def __sub__(self, other: Int) -> Term:
        return add(self, mul(-1, other))

    def __rsub__(self, other: Int) -> Term:
        return add(other, mul(-1, self))

    def __mul__(self, other: Int) -> Term:
        return mul(self, other)

    __rmul__ = __mul__


Int = Term | int

_interned: WeakValueDictionary[Any, Term] = WeakValueDictionary()
_serial = count()


def make(op: str, args: tuple[Any, ...], sort: Sort) -> Term:
    """The node as given; the functions below fold and order their arguments first."""
    key = (op, args, sort)
    found = _interned.get(key)
    if found is None:
        found = object.__new__(Term)
        found.op, found.args, found.sort = op, args, sort
        found.key = next(_serial)
        _interned[key] = found
    return found


# Integers.


def number(value: int) -> Term:
    return make("number", (value,), INT)


def var(name: str) -> Term:
    """An integer variable: a size, an index, an integer attribute."""
    return make("var", (name,), INT)


def integer(item: Int) -> Term:
    """An int as a term; a term as it is."""
    return item if isinstance(item, Term) else number(item)


def as_int(item: Int) -> int | None:
    """The number that a term is; None if it has variables."""
    if isinstance(item, Term):
        return item.args[0] if item.op == "number" else None
    return item


def _monomials(item: Term) -> dict[Monomial, int]:
    if item.op == "number":
        return {(): item.args[0]} if item.args[0] else {}
    if item.op == "poly":
        return dict(item.args[0])
    return {(item,): 1}


def _poly(parts: Mapping[Monomial, int]) -> Term:
    kept = {monomial: factor for monomial, factor in parts.items() if factor}
    if not kept:
        return number(0)
    if len(kept) == 1:
        ((monomial, factor),) = kept.items()
        if not monomial:
            return number(factor)
        if factor == 1 and len(monomial) == 1:
            return monomial[0]
    ordered = sorted(kept.items(), key=lambda one: [part.key for part in one[0]])
    return make("poly", (tuple(ordered),), INT)


def add(*items: Int) -> Term:
    total: dict[Monomial, int] = {}
    for item in items:
        for monomial, factor in _monomials(integer(item)).items():
            total[monomial] = total.get(monomial, 0) + factor
    return _poly(total)


def mul(*items: Int) -> Term:
    def times(a: dict[Monomial, int], b: dict[Monomial, int]) -> dict[Monomial, int]:
        product: dict[Monomial, int] = {}
        for left, m in a.items():
            for right, n in b.items():
                joined = tuple(sorted((*left, *right), key=lambda part: part.key))
                product[joined] = product.get(joined, 0) + m * n
        return product

    return _poly(reduce(times, [_monomials(integer(item)) for item in items], {(): 1}))


def degree(item: Term) -> int:
    """The degree of an integer term as a polynomial in its parts."""
    return max((len(monomial) for monomial in _monomials(item)), default=0)


def polynomial(item: Term) -> dict[Monomial, int]:
    """An integer term as factors by products of its parts."""
    return _monomials(item)


def exact_quotient(a: Term, b: Term) -> Term | None:
    """`a / b` if `b` is a single product that divides every part of `a`, else None."""
    divisor = _monomials(b)
    if len(divisor) != 1:
        return number(1) if a is b else None
    ((by, factor),) = divisor.items()
    result: dict[Monomial, int] = {}
    for monomial, n in _monomials(a).items():
        rest = list(monomial)
        for part in by:
            if part not in rest:
                return None
            rest.remove(part)
        if n % factor:
            return None
        result[tuple(rest)] = n // factor
    return _poly(result)


def quotient(a: Int, b: Int) -> Term:
    """`a // b` for a positive `b`."""
    a, b = integer(a), integer(b)
    m, n = as_int(a), as_int(b)
    if n == 1:
        return a
    if m is not None and n:
        return number(m // n)
    return make("quotient", (a, b), INT)


def modulo(a: Int, b: Int) -> Term:
    """`a % b` for a positive `b`."""
    a, b = integer(a), integer(b)
    m, n = as_int(a), as_int(b)
    if n == 1:
        return number(0)
    if m is not None and n:
        return number(m % n)
    return make("modulo", (a, b), INT)


def minimum(a: Int, b: Int) -> Term:
    return ite(le(a, b), integer(a), integer(b))


def maximum(a: Int, b: Int) -> Term:
    return ite(le(a, b), integer(b), integer(a))


def linear(indices: Iterable[Int], sizes: Iterable[Int]) -> Term:
    """The place of an element in row-major order; for the digits of a number, that number."""
    places, extents = tuple(map(integer, indices)), tuple(map(integer, sizes))
    if not places:
        return number(0)
    if len(places) == 1:
        return places[0]
    first = places[0]
    if all(
        place.op == "digit" and place.args == (first.args[0], k, extents)
        for k, place in enumerate(places)
    ):
        return first.args[0]
    if all(as_int(one) is not None for one in (*places, *extents[1:])):
        return expanded(places, extents)
    return make("linear", (places, extents), INT)


def expanded(places: tuple[Term, ...], extents: tuple[Term, ...]) -> Term:
    """`linear` written out as sum and product."""
    total = places[0]
    for place, extent in zip(places[1:], extents[1:], strict=True):
        total = add(mul(total, extent), place)
    return total


def digit(whole: Int, place: int, sizes: tuple[Term, ...]) -> Term:
    """Digit `place` of a number below the product of the sizes, in the mixed base of the sizes."""
    whole = integer(whole)
    if len(sizes) == 1:
        return whole
    if whole.op == "linear" and whole.args[1] == sizes:
        return whole.args[0][place]
    n = as_int(whole)
    below = mul(*sizes[place + 1 :]) if sizes[place + 1 :] else number(1)
    if n is not None and as_int(below) and as_int(sizes[place]):
        found = n // (as_int(below) or 1)
        return number(found if place == 0 else found % (as_int(sizes[place]) or 1))
    return make("digit", (whole, place, sizes), INT)


def value(element: Term) -> Term:
    """An element of an integer tensor as an index."""
    if element.op == "constant":
        return number(int(element.args[0][1]))
    if element.op == "call" and element.args[0] == "index":
        return element.args[1]
    return make("value", (element,), INT)


# Truth values.

TRUE, FALSE = make("true", (), BOOL), make("false", (), BOOL)


def truth(item: bool) -> Term:
    return TRUE if item else FALSE


def negation(item: Term) -> Term:
    if item is TRUE or item is FALSE:
        return truth(item is FALSE)
    if item.op == "nonneg":  # over the integers: not (x >= 0) is -x - 1 >= 0
        return make("nonneg", (add(mul(-1, item.args[0]), -1),), BOOL)
    return item.args[0] if item.op == "not" else make("not", (item,), BOOL)


def both(*items: Term) -> Term:
    return _joined("and", items, FALSE, TRUE)


def either(*items: Term) -> Term:
    return _joined("or", items, TRUE, FALSE)


def _joined(op: str, items: Iterable[Term], zero: Term, unit: Term) -> Term:
    parts: dict[Term, None] = {}
    for item in items:
        for part in item.args if item.op == op else (item,):
            if part is zero or negation(part) in parts:
                return zero
            if part is not unit:
                parts[part] = None
    if not parts:
        return unit
    if len(parts) == 1:
        return next(iter(parts))
    return make(op, tuple(sorted(parts, key=lambda one: one.key)), BOOL)


def eq(a: Int, b: Int) -> Term:
    """Whether two integers are equal."""
    difference = add(a, mul(-1, b))
    n = as_int(difference)
    if n is not None:
        return truth(n == 0)
    lead = difference.args[0][0][1] if difference.op == "poly" else 1
    return make("zero", (mul(-1, difference) if lead < 0 else difference,), BOOL)


def le(a: Int, b: Int) -> Term:
    difference = add(b, mul(-1, a))
    n = as_int(difference)
    return truth(n >= 0) if n is not None else make("nonneg", (difference,), BOOL)


def lt(a: Int, b: Int) -> Term:
    return le(add(a, 1), b)


def within(index: Int, size: Int) -> Term:
    """`0 <= index < size`."""
    return both(le(0, index), lt(index, size))


def ite(condition: Term, yes: Term, no: Term) -> Term:
    """`yes` if the condition holds, else `no`."""
    if condition is TRUE or yes is no:
        return yes
    if condition is FALSE:
        return no
    if condition.op == "not":
        return ite(condition.args[0], no, yes)
    if yes.sort == BOOL and yes in (TRUE, FALSE) and no in (TRUE, FALSE):
        return condition if yes is TRUE else negation(condition)
    return make("ite", (condition, yes, no), yes.sort)


# Elements.


def sort_of(dtype: torch.dtype) -> Sort:
    """The sort of a tensor's elements."""
    return BOOL if dtype is torch.bool else dtype


def constant(item: float | bool, dtype: torch.dtype) -> Term:
    """A number of a dtype, rounded or wrapped to it as PyTorch does."""
    if dtype is torch.bool:
        return truth(bool(item))
    if dtype.is_floating_point:
        rounded = torch.tensor(item, dtype=torch.float64).to(dtype).item()
        return make("constant", (("float", float_key(rounded)),), dtype)
    if isinstance(item, float) and not math.isfinite(item):
        raise ValueError(f"{item} is no {dtype}")
    bits = torch.iinfo(dtype).bits
    plain = int(item) & ((1 << bits) - 1)
    signed = torch.iinfo(dtype).min < 0
    wrapped = plain - (1 << bits) if signed and plain >> (bits - 1) else plain
    return make("constant", (("int", wrapped),), dtype)


def float_key(item: float) -> str:
    """The bits of a float as text, the same for all NaN."""
    return "nan" if item != item else struct.pack(">d", item).hex()


def constant_value(item: Term) -> float | bool | None:
    """The Python number that an element is; None if it is no constant."""
    if item is TRUE or item is FALSE:
        return item is TRUE
    if item.op != "constant":
        return None
    kind, content = item.args[0]
    if kind == "int":
        return content
    return math.nan if content == "nan" else struct.unpack(">d", bytes.fromhex(content))[0]


def element(tensor: str, indices: Iterable[Int], dtype: torch.dtype) -> Term:
    """An element of an input tensor."""
    return make("element", (tensor, tuple(map(integer, indices))), sort_of(dtype))


def scalar(name: str, dtype: torch.dtype) -> Term:
    """A Python number that is an attribute: float64, int64 or bool."""
    return make("scalar", (name,), sort_of(dtype))


#: Functions whose operands may be swapped, bit for bit, where all NaN count as one value.
_COMMUTATIVE = frozenset(("add", "mul", "eq", "and", "or", "xor"))
#: Functions whose operands may be swapped for integers; of 0.0 and -0.0 kernels may give either.
_EXTREMES = frozenset(("max", "min"))


def _is_floating(item: Term) -> bool:
    return isinstance(item.sort, torch.dtype) and item.sort.is_floating_point


def commutes(name: str, operands: Sequence[Term]) -> bool:
    """Whether the operands of a scalar function may be swapped, bit for bit."""
    return name in _COMMUTATIVE or (
        name in _EXTREMES and not any(_is_floating(operand) for operand in operands)
    )


def call(name: str, arguments: Iterable[Term], sort: Sort) -> Term:
    """A scalar function; `xductor.transforms.semantics.scalars` lists the names."""
    given = tuple(arguments)
    if commutes(name, given):
        given = tuple(sorted(given, key=lambda one: one.key))
    return make("call", (name, *given), sort)


def cast(item: Term, dtype: torch.dtype) -> Term:
    """An element converted to another dtype."""
    target = sort_of(dtype)
    if item.sort == target:
        return item
    known = constant_value(item)
    if known is not None and not (
        isinstance(known, float) and not dtype.is_floating_point and dtype is not torch.bool
    ):
        return constant(known, dtype)
    if item.op == "ite" and item.args[1].op == item.args[2].op == "constant":
        return ite(item.args[0], cast(item.args[1], dtype), cast(item.args[2], dtype))
    return make("cast", (item,), target)


def fold(
    name: str, extents: Iterable[Term], body: Callable[[tuple[Term, ...]], Term], sort: Sort
) -> Term:
    """A reduction (`sum`, `prod`, `max`, ...) of `body` over indices below the extents."""
    sizes = tuple(extents)
    binders = tuple([f"k{next(_binders)}" for _ in sizes])
    return make("fold", (name, binders, sizes, body(tuple(map(var, binders)))), sort)


_binders = count()

# Walking.


def parts(item: Term) -> Iterable[Term]:
    """The terms that a term is directly made of."""
    pending: list[Any] = list(item.args)
    while pending:
        one = pending.pop()
        if isinstance(one, Term):
            yield one
        elif isinstance(one, tuple):
            pending.extend(one)


def substitute(item: Term, values: Mapping[Term, Term]) -> Term:
    """A term in which some parts are replaced by others, folded again."""
    done: dict[Term, Term] = dict(values)

    def visit(one: Term) -> Term:
        found = done.get(one)
        if found is None:
            found = done[one] = rebuilt(one, visit)
        return found

    return visit(item)


def rebuilt(one: Term, visit: Callable[[Term], Term]) -> Term:
    """A term of the same kind, with its parts replaced by what `visit` gives for them."""
    op, args = one.op, one.args
    if op in ("number", "var", "true", "false", "constant", "scalar"):
        return one
    if op == "poly":
        return add(*[mul(n, *map(visit, monomial)) for monomial, n in args[0]])
    if op == "linear":
        return linear(map(visit, args[0]), map(visit, args[1]))
    if op == "digit":
        return digit(visit(args[0]), args[1], tuple(map(visit, args[2])))
    if op == "element":
        return make("element", (args[0], tuple(map(visit, args[1]))), one.sort)
    if op == "call":
        return call(args[0], map(visit, args[1:]), one.sort)
    if op == "fold":
        name, binders, sizes, body = args
        return make("fold", (name, binders, tuple(map(visit, sizes)), visit(body)), one.sort)
    if op == "cast":
        dtype = torch.bool if one.sort == BOOL else one.sort
        assert isinstance(dtype, torch.dtype)
        return cast(visit(args[0]), dtype)
    builders: dict[str, Callable[..., Term]] = {
        "ite": ite,
        "and": both,
        "or": either,
        "not": negation,
        "quotient": quotient,
        "modulo": modulo,
        "value": value,
        "zero": lambda item: eq(item, 0),
        "nonneg": lambda item: le(0, item),
    }
    return builders[op](*map(visit, args))


def _shown(item: Term) -> str:
    """A term as text."""
    op, args = item.op, item.args
    if op in ("var", "scalar", "number"):
        return str(args[0])
    if op == "constant":
        return str(constant_value(item))
    if op == "poly":
        return " + ".join(
            "*".join(map(str, (*([n] if n != 1 or not m else []), *m))) for m, n in args[0]
        )
    if op == "element":
        return f"{args[0]}[{', '.join(map(str, args[1]))}]"
    if op in ("zero", "nonneg"):
        return f"({args[0]} {'==' if op == 'zero' else '>='} 0)"
    if op == "cast":
        return f"{str(item.sort).removeprefix('torch.')}({args[0]})"
    if op == "call":
        return f"{args[0]}({', '.join(map(str, args[1:]))})"
    if op == "fold":
        over = ", ".join(f"{k} < {n}" for k, n in zip(args[1], args[2], strict=True))
        return f"{args[0]}({args[3]} for {over})"
    return f"{op}({', '.join(map(str, args))})"
