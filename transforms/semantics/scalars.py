"""Functions of single elements: arithmetic as in eager kernels, casts, comparisons, promotion.

Calls are named: `add sub mul div neg abs floor ceil trunc round max min` and the comparisons
`lt le eq isnan`, over the sort of their operands; for integers also `and or xor not shl shr`,
`floordiv truncdiv mod fmod`. A name that begins with `u.` is uninterpreted: equal bits give equal
bits, and nothing else is known of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from xductor.transforms.semantics.terms import (
    BOOL,
    FALSE,
    TRUE,
    Term,
    both,
    call,
    cast,
    constant,
    either,
    ite,
    make,
    negation,
)
from xductor.transforms.semantics.values import NoMeaning, TensorValue

#: Dtypes whose arithmetic is done in float32 and rounded once, operator by operator.
NARROW = (torch.float16, torch.bfloat16)

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
KNOWN = (*FLOATS, *INTEGERS, torch.bool)


#: Functions of libm, which are uninterpreted.
TRANSCENDENTAL = (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin",
    "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "sigmoid", "erf", "erfc",
    "erfinv", "lgamma", "digamma", "rsqrt",
)  # fmt: skip


def known_dtype(dtype: torch.dtype) -> torch.dtype:
    """The dtype itself. Raises NoMeaning if its elements have no terms."""
    if dtype not in KNOWN:
        raise NoMeaning(f"arithmetic of {str(dtype).removeprefix('torch.')}")
    return dtype


def wide(dtype: torch.dtype) -> torch.dtype:
    """The dtype that a kernel computes in."""
    return torch.float32 if dtype in NARROW else dtype


def converted(item: Term, source: torch.dtype, target: torch.dtype) -> Term:
    """An element cast to another dtype."""
    if source is target:
        return item
    known_dtype(source)
    return cast(item, known_dtype(target))


def example_of(item: Any) -> Any:
    """What `torch.result_type` needs of an operand: a tensor of its kind, or a number."""
    if isinstance(item, TensorValue):
        return torch.empty((1,) * min(item.rank, 1), dtype=item.dtype)
    if isinstance(item, Term):
        return {torch.float64: 1.0, BOOL: True}.get(item.sort, 1)
    if isinstance(item, bool | int | float):
        return item
    raise NoMeaning(f"the number {item!r}")


def joint_dtype(items: Sequence[Any]) -> torch.dtype:
    """The dtype that a pointwise op computes with these operands."""
    examples = [example_of(item) for item in items]
    if len(examples) == 1:
        found = examples[0].dtype if isinstance(examples[0], torch.Tensor) else None
        if found is None:
            raise NoMeaning("a pointwise op without a tensor")
        return known_dtype(found)
    found = torch.result_type(examples[0], examples[1])
    for one in examples[2:]:
        found = torch.result_type(torch.empty((1,), dtype=found), one)
    return known_dtype(found)


def number_as(item: Any, dtype: torch.dtype) -> Term:
    """A Python number as an element of a dtype."""
    known_dtype(dtype)
    if isinstance(item, Term):
        if item.sort == "int":
            return from_index(item, dtype)
        return cast(item, dtype)
    if isinstance(item, bool | int | float):
        return constant(item, dtype)
    raise NoMeaning(f"the number {item!r}")


def from_index(item: Term, dtype: torch.dtype) -> Term:
    """An index or a size as an element."""
    if item.op == "number":
        return constant(item.args[0], dtype)
    if dtype is torch.int64:
        return make("call", ("index", item), dtype)
    return cast(make("call", ("index", item), torch.int64), dtype)


def fn(name: str, *items: Term) -> Term:
    """A function whose result has the sort of its operands."""
    return call(name, items, items[0].sort)


def compare(name: str, a: Term, b: Term) -> Term:
    """`lt`, `le` or `eq` of two elements of one sort; false if one is NaN."""
    if a.sort == BOOL:
        if name == "eq":
            return negation(exclusive(a, b))
        less = both(negation(a), b)
        return less if name == "lt" else either(negation(a), b)
    return call(name, (a, b), BOOL)


def exclusive(a: Term, b: Term) -> Term:
    """Whether exactly one of two truth values holds."""
    if a is TRUE or a is FALSE:
        return negation(b) if a is TRUE else b
    return ite(a, negation(b), b)


def is_nan(item: Term) -> Term:
    """Whether an element is NaN; false unless it is a float."""
    if isinstance(item.sort, torch.dtype) and item.sort.is_floating_point:
        return call("isnan", (item,), BOOL)
    return FALSE


def nonzero(item: Term) -> Term:
    """An element as a truth value: NaN is true."""
    return item if item.sort == BOOL else cast(item, torch.bool)
