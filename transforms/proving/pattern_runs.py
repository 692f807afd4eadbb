"""Evaluates a rewrite's pattern from the inside out, with symbolic values or with tensors.

A `Filler` gives what the pattern leaves open (its variables, `...`, alternatives). The order in
which it is asked depends only on its answers, so that a second run can repeat a first one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from xductor.ir import ListArg, SchemaOp, TorchOp
from xductor.ir.dialect.python_call_binding import call_arguments
from xductor.ir.functions.torch_calls import call_meant
from xductor.transforms.matching.patterns import (
    Bound,
    Call,
    Each,
    Element,
    Head,
    Item,
    OneOf,
    Pattern,
    Var,
)
from xductor.transforms.rewriting.rewrite import Compiled
from xductor.transforms.semantics.registry import meaning_of
from xductor.transforms.semantics.values import Illegal


@dataclass(frozen=True)
class Slot:
    """The place of an argument.

    - `op`: the operator without its overload; `param`, `kind`: name and kind of the parameter,
      where lists have kinds such as `list[int]`.
    - `optional`: whether None is accepted too.
    - `tensors`: the tensors among the arguments of the call, including those in lists.
    """

    op: str
    param: str
    kind: str
    optional: bool
    tensors: tuple[Any, ...]


class Filler(Protocol):
    """Gives what a pattern leaves open."""

    def variable(self, name: str, kind: str, slot: Slot) -> Any: ...
    def anything(self, slot: Slot) -> Any: ...
    def alternative(self, count: int, what: str) -> int: ...


Caller = Callable[[type[TorchOp], tuple[Any, ...]], Any]


class PatternRun:
    """One evaluation; `bindings` has the variables afterwards."""

    def __init__(self, compiled: Compiled, filler: Filler, call: Caller) -> None:
        self.compiled = compiled
        self.filler = filler
        self.caller = call
        self.bindings: dict[str, Any] = {}
        self._calls: dict[Call, Any] = {}
        self._elements: list[Any] = []

    def outputs(self) -> list[Any]:
        """The outputs of the pattern; for a call that gives a list, its elements."""
        nowhere = Slot("", "", "any", False, ())
        found = [self._part(one, nowhere) for one in self.compiled.outputs]
        return found[0] if len(found) == 1 and isinstance(found[0], list) else found

    def _part(self, part: Any, slot: Slot) -> Any:
        if isinstance(part, Var):
            return self._variable(part, slot)
        if isinstance(part, Call):
            return self._call(part)
        if isinstance(part, Item):
            results = self._call(part.call)
            if part.index >= len(results):
                raise Illegal(f"{part.call.name} gives {len(results)} results")
            return results[part.index]
        if isinstance(part, OneOf):
            return self._part(part.alternatives[self._alternative(part)], slot)
        if isinstance(part, Bound):
            name = part.variable.name
            if name not in self.bindings:  # an alternative inside it is chosen once
                self.bindings[name] = self._part(part.pattern, slot)
            return self.bindings[name]
        if isinstance(part, Each):
            return self._each(part, slot)
        if isinstance(part, Element):
            return self._elements[-1]
        if part is ...:
            return self.filler.anything(slot)
        if isinstance(part, list | tuple):
            inner = slot.kind.removeprefix("list[").rstrip("]")
            entry = Slot(slot.op, slot.param, inner, False, slot.tensors)
            return [self._part(one, entry) for one in part]
        return part

    def _variable(self, variable: Var, slot: Slot) -> Any:
        name = variable.name
        if name not in self.bindings:
            self.bindings[name] = self.filler.variable(name, variable.kind, slot)
        return self.bindings[name]

    def _alternative(self, one_of: OneOf) -> int:
        count, number = len(one_of.alternatives), one_of.number
        if number is not None and number.name in self.bindings:
            chosen = self.bindings[number.name]
            if chosen >= count:
                raise Illegal(f"{one_of!r} has {count} alternatives")
            return chosen
        chosen = self.filler.alternative(count, repr(one_of))
        if number is not None:
            self.bindings[number.name] = chosen
        return chosen

    def _each(self, each: Each, slot: Slot) -> list[Any]:
        sources = self._part(each.source, Slot(slot.op, slot.param, "list[tensor]", False, ()))
        found: list[Any] = []
        known = dict(self._calls)
        for element in list(sources):
            self._elements.append(element)
            self._calls = dict(known)  # each element has its own calls
            found.append(self._part(each.body, slot))
            self._elements.pop()
        self._calls = known
        return found

    def _call(self, call: Call) -> Any:
        if call not in self._calls:
            heads = _distinct(call.heads)
            head = heads[self.filler.alternative(len(heads), call.name)]
            self._calls[call] = self._made(head)
        return self._calls[call]

    def _made(self, head: Head) -> Any:
        cls = head.cls
        items: dict[Any, Any] = {}
        tensors: list[Any] = []
        op = cls.name.split(".")[1] if issubclass(cls, SchemaOp) else cls.name.rpartition(".")[2]
        for slot, entry in sorted(head.entries, key=lambda one: not _holds_tensors(one[1])):
            where = _slot(cls, op, slot, tuple(tensors))
            items[slot] = made = self._part(entry, where)
            if _holds_tensors(entry):
                tensors += made if isinstance(made, list) else [made]
        if issubclass(cls, SchemaOp):
            return self.caller(cls, tuple([items[place] for place in range(len(items))]))
        named = {str(place): items[place] for place, _ in head.entries}
        meant = call_meant(cls, *call_arguments(cls, named))
        if meant is not None:
            return self.caller(meant.cls, meant.args)
        return self.caller(cls, tuple(items.items()))


def _distinct(heads: tuple[Head, ...]) -> list[Head]:
    """Overloads, with those that share a meaning only once."""
    found: list[Head] = []
    seen: set[Any] = set()
    for head in heads:
        known = meaning_of(head.cls.name)
        if known is None or known not in seen:
            seen.add(known)
            found.append(head)
    return found


def _slot(cls: type[TorchOp], op: str, slot: Any, tensors: tuple[Any, ...]) -> Slot:
    if not issubclass(cls, SchemaOp):
        return Slot(op, str(slot), "any", True, tensors)
    param = cls.table.params[slot]
    kind = f"list[{param.kind}]" if param.lists else param.kind
    return Slot(op, param.name, kind, param.optional, tensors)


def _holds_tensors(entry: Any) -> bool:
    """Whether an argument of a pattern is a tensor or a list of tensors."""
    if isinstance(entry, Pattern):
        return "tensor" in getattr(entry, "kind", "")
    return isinstance(entry, list | tuple | ListArg) and any(map(_holds_tensors, entry))


__all__ = ["Caller", "Filler", "PatternRun", "Slot"]
