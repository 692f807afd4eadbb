"""Rules for calls on values whose elements are known by position."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from xdsl.ir import SSAValue

from xductor.ir import Facts, SymExpr, SymIntType, TorchOp
from xductor.ir.dialect.types import Dim
from xductor.transforms.attention.known import (
    Choice,
    Known,
    as_choice,
    chosen,
    number,
    renumbered,
    substituted,
    truth,
)
from xductor.transforms.attention.known_values import KnownValues
from xductor.transforms.attention.predicates import (
    ALWAYS,
    Affine,
    AtLeastZero,
    Condition,
    Unknown,
    affine,
    all_of,
    any_of,
)
from xductor.transforms.attention.reading import (
    Reader,
    Term,
    is_full_slice,
    is_slice,
    tensor_type,
)

Args = Mapping[str, Any]
Operation = Callable[[float, float], float]


def _choices(left: Choice | None, right: Choice | None, call: Operation) -> Choice | None:
    if left is None or right is None:
        return None
    try:
        if left.yes == left.no:
            return Choice(right.condition, call(left.yes, right.yes), call(left.yes, right.no))
        if right.yes == right.no or right.condition == left.condition:
            return Choice(left.condition, call(left.yes, right.yes), call(left.no, right.no))
    except ArithmeticError:
        return None
    return None


def _operands(known: KnownValues, term: Term) -> tuple[Known | None, Known | None]:
    return known.broadcast(term.x, term.op), known.broadcast(term.y, term.op)


def _add(known: KnownValues, term: Term, sign: int = 1) -> Known | None:
    factor = term.args.get("alpha", 1)
    if type(factor) is not int:
        return None
    left, right = _operands(known, term)
    if isinstance(left, Affine) and isinstance(right, Affine):
        return left.plus(right, sign * factor)
    return _choices(as_choice(left), as_choice(right), lambda a, b: a + sign * factor * b)


def _sub(known: KnownValues, term: Term) -> Known | None:
    return _add(known, term, -1)


def _mul(known: KnownValues, term: Term) -> Known | None:
    left, right = _operands(known, term)
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Affine) and isinstance(other, Affine) and not other.terms:
            if isinstance(other.constant, int):
                return one.times(other.constant)
        elif isinstance(one, Affine) and isinstance(other, Choice) and other.yes == other.no == 1:
            return one
    return _choices(as_choice(left), as_choice(right), lambda a, b: a * b)


def _div(known: KnownValues, term: Term) -> Known | None:
    if term.args.get("rounding_mode") is not None:
        return None
    left, right = _operands(known, term)
    return _choices(as_choice(left), as_choice(right), lambda a, b: a / b)


def _neg(known: KnownValues, term: Term) -> Known | None:
    found = known.of(term.x)
    if isinstance(found, Affine):
        return found.times(-1)
    choice = as_choice(found)
    return None if choice is None else Choice(choice.condition, -choice.yes, -choice.no)


def _sqrt(known: KnownValues, term: Term) -> Known | None:
    choice = as_choice(known.of(term.x))
    if choice is None or choice.yes != choice.no or choice.yes < 0:
        return None
    return number(math.sqrt(choice.yes))


def _pow(known: KnownValues, term: Term) -> Known | None:
    left, right = (as_choice(one) for one in _operands(known, term))
    if left is None or right is None or left.yes != left.no or right.yes != right.no:
        return None
    try:
        return number(float(left.yes**right.yes))
    except (ArithmeticError, TypeError):
        return None


def _where(known: KnownValues, term: Term) -> Known | None:
    condition = known.broadcast(term.condition, term.op)
    if not isinstance(condition, Condition):
        return None
    left, right = _operands(known, term)
    result = tensor_type(term.op.results[0])
    if result is not None and result.dtype is torch.bool:
        yes, no = (None if one is None else truth(one) for one in (left, right))
        if yes is None or no is None:
            return None
        return any_of([all_of([condition, yes]), all_of([condition.negated(), no])])
    return _selected(condition, as_choice(left), as_choice(right))


def _selected(condition: Condition, yes: Choice | None, no: Choice | None) -> Choice | None:
    if yes is None or no is None:
        return None
    if yes.yes == yes.no and no.yes == no.no:
        return Choice(condition, yes.yes, no.yes)
    if no.yes == no.no:
        if no.yes == yes.no:
            return Choice(all_of([condition, yes.condition]), yes.yes, yes.no)
        if no.yes == yes.yes:
            kept = any_of([condition.negated(), yes.condition])
            return Choice(kept, yes.yes, yes.no)
        return None
    if yes.yes == yes.no:
        return _selected(condition.negated(), no, yes)
    return None


def _compare(build: Callable[[Affine], Condition], test: Callable[[float, float], bool]) -> Any:
    """A rule for a comparison; `build` makes the condition from the difference right - left."""

    def rule(known: KnownValues, op: TorchOp, args: Args) -> Known | None:
        values = list(args.values())
        if len(values) < 2:
            return None
        left, right = (known.broadcast(value, op) for value in values[:2])
        if isinstance(left, Affine) and isinstance(right, Affine):
            return build(right.plus(left, -1))
        one, other = as_choice(left), as_choice(right)
        if one is None or other is None:
            return None
        if other.yes == other.no:
            return chosen(one, lambda value: test(value, other.yes))
        if one.yes == one.no:
            return chosen(other, lambda value: test(one.yes, value))
        return None

    return rule


def _less(difference: Affine) -> Condition:
    return AtLeastZero(Affine(-1).plus(difference))


def _greater(difference: Affine) -> Condition:
    return AtLeastZero(Affine(-1).plus(difference, -1))


def _equal(difference: Affine) -> Condition:
    if difference == Affine(0):
        return ALWAYS
    return all_of([AtLeastZero(difference), AtLeastZero(difference.times(-1))])


def _logical(combine: Callable[[Sequence[Condition]], Condition]) -> Any:
    def rule(known: KnownValues, op: TorchOp, args: Args) -> Known | None:
        values = list(args.values())
        result = tensor_type(op.results[0])
        if len(values) < 2 or result is None or result.dtype is not torch.bool:
            return None
        parts = [known.broadcast(value, op) for value in values[:2]]
        truths = [None if part is None else truth(part) for part in parts]
        return combine([part if part is not None else Unknown() for part in truths])

    return rule


def _not(known: KnownValues, op: TorchOp, args: Args) -> Known | None:
    found = known.of(next(iter(args.values())))
    result = tensor_type(op.results[0])
    if found is None or result is None or result.dtype is not torch.bool:
        return None
    condition = truth(found)
    return None if condition is None else condition.negated()


def _arange(known: KnownValues, op: TorchOp, args: Args) -> Known | None:
    start, step = _integer(args.get("start", 0)), args.get("step", 1)
    result = tensor_type(op.results[0])
    if start is None or type(step) is not int or result is None or result.rank != 1:
        return None
    return affine(start, {0: step}) if not isinstance(start, float) else None


def _integer(value: Any) -> Dim | None:
    if isinstance(value, SSAValue):
        return value.type.expr if type(value.type) is SymIntType else None
    return value if type(value) in (int, SymExpr) else None


def _filled(value: float) -> Any:
    return lambda known, op, args: number(value)


def _full(known: KnownValues, op: TorchOp, args: Args) -> Known | None:
    return known.of(args.get("fill_value"))


def _tensor(known: KnownValues, op: TorchOp, args: Args) -> Known | None:
    """`torch.tensor(3.0)`."""
    value = next(iter(args.values()))
    return known.of(value) if isinstance(value, int | float) else None


def _triangle(sign: int) -> Any:
    """A rule for `tril` (1) and `triu` (-1): the sign of `row - column` for kept elements."""

    def rule(known: KnownValues, op: TorchOp, args: Args) -> Known | None:
        values = list(args.values())
        diagonal = args.get("diagonal", 0)
        result = tensor_type(op.results[0])
        if type(diagonal) is not int or result is None or result.rank < 2:
            return None
        row, column = result.rank - 2, result.rank - 1
        form = affine(sign * diagonal, {row: sign, column: -sign})
        below = known.of(values[0])
        if result.dtype is torch.bool and below is not None:
            condition = truth(below)
            return None if condition is None else all_of([AtLeastZero(form), condition])
        return _selected(AtLeastZero(form), as_choice(below), number(0.0))

    return rule


def _same(known: KnownValues, term: Term) -> Known | None:
    return known.of(term.x)


def _expand(known: KnownValues, term: Term) -> Known | None:
    return known.broadcast(term.x, term.op)


def _permute(known: KnownValues, term: Term) -> Known | None:
    found = known.of(term.x)
    if found is None:
        return None
    return renumbered(found, {old: new for new, old in enumerate(term.dims)})


def _reshape(known: KnownValues, term: Term) -> Known | None:
    """Dims of size one may come and go; for other reshapes only a constant tensor is known."""
    found = known.of(term.x)
    below, above = tensor_type(term.x), tensor_type(term.op.results[0])
    if found is None or below is None or above is None:
        return None
    old = [dim for dim, size in enumerate(below.shape) if size != 1]
    new = [dim for dim, size in enumerate(above.shape) if size != 1]
    same = len(old) == len(new) and all(
        known.facts.known_equal(below.shape[a], above.shape[b]) is True
        for a, b in zip(old, new, strict=True)
    )
    if same:
        return renumbered(found, dict(zip(old, new, strict=True)))
    constant = as_choice(found)
    return constant if constant is not None and constant.yes == constant.no else None


def _getitem(known: KnownValues, term: Term) -> Known | None:
    found, below = known.of(term.x), tensor_type(term.x)
    if found is None or below is None:
        return None
    items = list(term.index)
    if any(tensor_type(item) is not None for item in items):
        return _gathered(known, found, below.rank, items, term.op)
    used = sum(item is not None and item is not Ellipsis for item in items)
    if Ellipsis in items:
        place = items.index(Ellipsis)
        items[place : place + 1] = [slice(None)] * (below.rank - used)
    else:
        items += [slice(None)] * (below.rank - used)
    dims: dict[int, Affine] = {}
    old = new = 0
    for item in items:
        if item is None:
            new += 1
            continue
        if is_slice(item):
            start = _start(item)
            if start is None:
                return None
            dims[old] = Affine(start, ((new, 1),))
            new += 1
        elif type(item) is int and item >= 0:
            dims[old] = Affine(item)
        else:
            return None
        old += 1
    return substituted(found, dims)


def _start(item: Any) -> int | None:
    """The start of a slice with step one; None if it is negative or unknown."""
    start, _, step = (item.start, item.stop, item.step) if type(item) is slice else tuple(item)
    if is_full_slice(item) or start is None:
        return 0 if step in (None, 1) else None
    return start if type(start) is int and start >= 0 and step in (None, 1) else None


def _gathered(
    known: KnownValues, found: Known, rank: int, items: list[Any], op: TorchOp
) -> Known | None:
    """`x[i, j]` with an index tensor for each dim."""
    if len(items) != rank or not all(tensor_type(item) is not None for item in items):
        return None
    dims: dict[int, Affine] = {}
    for dim, item in enumerate(items):
        index = known.broadcast(item, op)
        if not isinstance(index, Affine):
            return None
        dims[dim] = index
    return substituted(found, dims)


def _diff(known: KnownValues, op: TorchOp, args: Args) -> Known | None:
    values = list(args.values())
    below, result = known.of(values[0]), tensor_type(op.results[0])
    if not isinstance(below, Affine) or result is None or args.get("append") is not None:
        return None
    if args.get("n", 1) != 1 or type(args.get("dim", -1)) is not int:
        return None
    dim = args.get("dim", -1) % result.rank
    step = dict(below.terms).get(dim, 0)
    if args.get("prepend") is not None:
        before = known.of(args["prepend"])
        if not isinstance(before, Affine) or dim in dict(before.terms):
            return None
        if below.at({dim: Affine(0)}).plus(before, -1) != Affine(step):
            return None
    return Affine(step)


def _cumsum(known: KnownValues, op: TorchOp, args: Args) -> Known | None:
    values = list(args.values())
    below, result = as_choice(known.of(values[0])), tensor_type(op.results[0])
    dim = args.get("dim")
    if below is None or result is None or type(dim) is not int or below.yes != below.no:
        return None
    if not float(below.yes).is_integer():
        return None
    step = int(below.yes)
    return affine(step, {dim % result.rank: step})


TERMS: dict[str, Callable[[KnownValues, Term], Known | None]] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "div": _div,
    "neg": _neg,
    "sqrt": _sqrt,
    "pow": _pow,
    "where": _where,
    "copy": _same,
    "cast": _same,
    "expand": _expand,
    "permute": _permute,
    "reshape": _reshape,
    "getitem": _getitem,
}


CALLS: dict[str, Callable[[KnownValues, TorchOp, Args], Known | None]] = {
    "arange": _arange,
    "ones": _filled(1.0),
    "ones_like": _filled(1.0),
    "new_ones": _filled(1.0),
    "zeros": _filled(0.0),
    "zeros_like": _filled(0.0),
    "new_zeros": _filled(0.0),
    "full": _full,
    "full_like": _full,
    "new_full": _full,
    "tensor": _tensor,
    "scalar_tensor": _tensor,
    "tril": _triangle(1),
    "triu": _triangle(-1),
    "le": _compare(AtLeastZero, lambda a, b: a <= b),
    "lt": _compare(_less, lambda a, b: a < b),
    "ge": _compare(lambda d: AtLeastZero(d.times(-1)), lambda a, b: a >= b),
    "gt": _compare(_greater, lambda a, b: a > b),
    "eq": _compare(_equal, lambda a, b: a == b),
    "ne": _compare(lambda d: _equal(d).negated(), lambda a, b: a != b),
    "bitwise_and": _logical(all_of),
    "logical_and": _logical(all_of),
    "bitwise_or": _logical(any_of),
    "logical_or": _logical(any_of),
    "bitwise_not": _not,
    "logical_not": _not,
    "diff": _diff,
    "cumsum": _cumsum,
}


def known_values(reader: Reader, facts: Facts) -> KnownValues:
    """A `KnownValues` for a graph, with the rules of this file."""
    return KnownValues(reader, facts, TERMS, CALLS)


__all__ = ["known_values"]
