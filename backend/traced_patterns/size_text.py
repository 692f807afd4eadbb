"""Sizes as Python over the shapes of a pattern's tensors: `x.shape[0] * 2`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xductor.ir import SymExpr, TensorType
from xductor.ir.dialect.arguments import same_constant
from xductor.ir.symbolic.expressions import Expr
from xductor.transforms.matching.patterns import PatternError

Sources = Mapping[str, tuple[str, int]]
"""For each symbol, the input and the dim of it that are this symbol."""


def sources_of(inputs: Mapping[str, TensorType]) -> dict[str, tuple[str, int]]:
    """Where each symbol is the size of an input; the first place, in order of the inputs."""
    found: dict[str, tuple[str, int]] = {}
    for name, type_ in inputs.items():
        for dim, size in enumerate(type_.shape):
            if isinstance(size, SymExpr) and size.head == "symbol":
                found.setdefault(size.text, (name, dim))
    return found


_OPERATORS = {"floordiv": "//", "clean_div": "//", "int_truediv": "//", "mod": "%", "pymod": "%"}


def size_text(expr: Expr, sources: Sources) -> str:
    """An expression over symbols as Python over shapes.

    Raises PatternError for a symbol that is no size of an input, and for a function that sizes in
    `where` do not have.
    """
    if isinstance(expr, int):
        return str(expr)
    if expr.head == "symbol":
        if expr.text not in sources:
            raise PatternError(
                f"the size {expr.text} is known only when the graph runs, and no size of an input "
                "is the same; no pattern can say what it has to be"
            )
        name, dim = sources[expr.text]
        return f"{name}.shape[{dim}]"
    return _joined(expr, [size_text(part, sources) for part in expr.args])


def _joined(expr: SymExpr, parts: Sequence[str]) -> str:
    if expr.head == "add":
        return f"({' + '.join(parts)})"
    if expr.head == "mul":
        return f"({' * '.join(parts)})"
    if expr.head == "pow" and isinstance(expr.args[1], int) and expr.args[1] > 0:
        return f"({' * '.join([parts[0]] * expr.args[1])})"
    if expr.head in _OPERATORS:
        return f"({parts[0]} {_OPERATORS[expr.head]} {parts[1]})"
    raise PatternError(
        f"the size {expr} cannot be written over the shapes of the inputs; trace with sizes='given'"
    )


def same_size_text(
    exprs: Sequence[Expr], sources: Sequence[Sources], given: Sequence[Mapping[str, Any]]
) -> str:
    """As `size_text`, for what is one size in several traces: a number may be a parameter.

    - `sources`, `given`: of each trace.

    Raises PatternError too if they differ in another way.
    """
    texts = {size_text(expr, known) for expr, known in zip(exprs, sources, strict=True)}
    if len(texts) == 1:
        return texts.pop()
    first = exprs[0]
    if all(isinstance(one, int) for one in exprs):
        for name in given[0]:
            values = [one[name] for one in given]
            if all(map(same_constant, values, exprs)):
                return name
    if isinstance(first, SymExpr) and first.head != "symbol":
        alike = [one for one in exprs if isinstance(one, SymExpr) and one.head == first.head]
        if len(alike) == len(exprs) and len({len(one.args) for one in alike}) == 1:
            columns = zip(*[one.args for one in alike], strict=True)
            texts_of_parts = [same_size_text(column, sources, given) for column in columns]
            return _joined(first, texts_of_parts)
    raise PatternError(
        f"a size depends on a parameter in a way that cannot be told: it is {' or '.join(texts)}; "
        "make it no parameter"
    )


__all__ = ["same_size_text", "size_text", "sources_of"]
