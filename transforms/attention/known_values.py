"""What is known about the elements of a tensor from their positions alone.

Masks are made of `arange`, comparisons, `tril`, `full` and `where`. Their elements are functions of
the position: an integer linear form of the indices (`Affine`), a choice between two numbers by a
condition on the indices (`Choice`), or such a condition itself (`Condition`), for a boolean tensor.
A boolean tensor that depends on data is an unknown condition; of other such tensors nothing is
known (None).

Dims of size one have index 0, so forms do not mention them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import torch
from xdsl.ir import OpResult, SSAValue

from xductor.ir import Facts, SymExpr, SymIntType, TorchOp
from xductor.transforms.attention.known import (
    Choice,
    Known,
    as_choice,
    number,
    renumbered,
    settled,
    truth,
)
from xductor.transforms.attention.predicates import (
    ALWAYS,
    NEVER,
    Affine,
    Condition,
    Unknown,
)
from xductor.transforms.attention.reading import (
    Reader,
    Term,
    name_of,
    tensor_type,
)

#: A rule for a view or for arithmetic, by its kind.
TermRule: TypeAlias = "Callable[[KnownValues, Term], Known | None]"
#: A rule for another call, by its name.
CallRule: TypeAlias = "Callable[[KnownValues, TorchOp, Mapping[str, Any]], Known | None]"


class KnownValues:
    """Finds what is known about the values of a graph, with the rules of `known_calls`; cached."""

    def __init__(
        self,
        reader: Reader,
        facts: Facts,
        terms: Mapping[str, TermRule],
        calls: Mapping[str, CallRule],
    ) -> None:
        self.reader = reader
        self.facts = facts
        self._terms = terms
        self._calls = calls
        # By identity: to hash a value is a call of its own. Each entry keeps its value alive.
        self._found: dict[int, tuple[SSAValue, Known | None]] = {}

    def of(self, value: Any) -> Known | None:
        """What is known about a tensor or a number."""
        if isinstance(value, SSAValue):
            known = self._found.get(id(value))
            if known is None:
                self._found[id(value)] = value, None
                known = self._found[id(value)] = value, self._read(value)
            return known[1]
        if isinstance(value, bool):
            return ALWAYS if value else NEVER
        if isinstance(value, int):
            return Affine(value)
        if isinstance(value, SymExpr):
            return Affine(value)
        if isinstance(value, float):
            return number(value)
        return None

    def condition(self, value: Any) -> Condition:
        """A boolean tensor as a condition, which may be an unknown one."""
        known = self.of(value)
        return known if isinstance(known, Condition) else Unknown(value)

    def _read(self, value: SSAValue) -> Known | None:
        if type(value.type) is SymIntType:
            return Affine(value.type.expr)
        type_ = tensor_type(value)
        if type_ is None:
            return None
        found = self._call(value) if isinstance(value, OpResult) else None
        if found is None:
            return Unknown(value) if type_.dtype is torch.bool else None
        return settled(found, type_.dtype, type_.shape)

    def _call(self, value: OpResult) -> Known | None:
        op = value.op
        if not isinstance(op, TorchOp) or op.fx_op == "call_module" or len(op.results) != 1:
            return None
        term = self.reader.term(value)
        if term is not None:
            rule = self._terms.get(term.kind)
            return None if rule is None else rule(self, term)
        name = name_of(op)
        call = self._calls.get(name) if name is not None else None
        if call is None:
            return None
        args = self.reader.arguments(op)
        return None if args is None else call(self, op, args)

    def broadcast(self, value: Any, to: TorchOp) -> Known | None:
        """What is known about an operand, with its dims numbered like those of the result."""
        known = self.of(value)
        below, result = tensor_type(value), tensor_type(to.results[0])
        if known is None or below is None or result is None or below.rank == result.rank:
            return known
        missing = result.rank - below.rank
        return renumbered(known, {dim: dim + missing for dim in range(below.rank)})


__all__ = ["Choice", "Known", "KnownValues", "as_choice", "number", "renumbered", "truth"]
