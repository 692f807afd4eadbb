"""Patterns without alternatives: calls over variables and constants, which need no search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.ir import OpResult

from xductor.ir import ListArg, Ref, SchemaOp, TensorType
from xductor.transforms.editing.replacement import surely_differ
from xductor.transforms.matching.matcher import (
    ONLY_INT,
    SIMPLE,
    Match,
    frozen,
    has_kind,
    outside_user,
    plain,
    same_argument,
)
from xductor.transforms.matching.patterns import Bound, Call, Head, Var
from xductor.transforms.matching.spellings import Spellings

#: An operand by its number, bypassing the Python-level `__getitem__` of xDSL's tuple class.
_get: Callable[[Any, int], Any] = tuple.__getitem__


class PlainPattern:
    """A pattern of one output, in which each call is one overload that matches operands in order.

    Each variable appears once. It matches an op in at most one way, so it is tried without a
    search. What it finds is what `Matcher` would find.
    """

    def __init__(self, call: Call, result: Var | None, kept: str = "") -> None:
        self.call = call
        self.result = result
        self.way_to_kept = _way_to(kept, call) or ()
        self.is_one_call = not any(isinstance(entry, Call) for _, entry in call.heads[0].parts)

    @classmethod
    def of(
        cls, outputs: tuple[Any, ...], spellings: Spellings, kept: str = ""
    ) -> PlainPattern | None:
        """The plain pattern for these outputs, or None; `kept` is the rewrite's `keeps`."""
        output, result = outputs[0], None
        if isinstance(output, Bound):
            output, result = output.pattern, output.variable
        if len(outputs) != 1 or spellings.wrappers or spellings.synonyms:
            return None
        names: list[str] = [] if result is None else [result.name]
        if not _is_plain(output, names) or len(set(names)) < len(names):
            return None
        return cls(output, result, kept)

    def match(self, op: Any) -> Match | None:
        """The match of the pattern at an op, or None."""
        if self.way_to_kept and self._surely_changes(op):
            return None
        match = Match(op)
        if not self._call(self.call, op, match):
            return None
        (result,) = op.results
        if self.result is not None:
            if not has_kind(self.result.kind, result):
                return None
            match.bindings[self.result.name] = result
        match.outputs.append(result)
        if self.is_one_call or outside_user(match) is None:
            return match
        return None

    def _surely_changes(self, op: Any) -> bool:
        """Whether the output surely has another dtype or other sizes than the variable it keeps."""
        result = source = op.results[0]._type
        for head, slot in self.way_to_kept:
            if type(op) is not head.cls:
                return True
            item = op.args.data[slot]
            if type(item) is not Ref:
                return True
            value = _get(op._operands, item.index)
            source, op = value._type, value.owner
        if source is result or type(source) is not TensorType or type(result) is not TensorType:
            return False
        return surely_differ(source, result)

    def _call(self, call: Call, op: Any, match: Match) -> bool:
        head = call.heads[0]
        if type(op) is not head.cls or len(op.results) != 1:
            return False
        match.ops[call] = op
        for slot, wanted in head.constants:
            if not same_argument(wanted, frozen(_argument(op, slot))):
                return False
        data: Any = op.args.data
        operands = op._operands
        for slot, entry in head.parts:
            item = data[slot]
            item = _get(operands, item.index) if type(item) is Ref else _argument(op, slot)
            if type(entry) is Var:
                if not has_kind(entry.kind, item):
                    return False
                match.bindings[entry.name] = item
            elif type(item) is not OpResult or not self._call(entry, item.op, match):
                return False
        return True


def _is_plain(part: Any, names: list[str]) -> bool:
    """Whether a part is such a call. Adds its variables to `names`, and its calls too."""
    if not isinstance(part, Call) or len(part.heads) != 1:
        return False
    head = part.heads[0]
    if not issubclass(head.cls, SchemaOp) or head.swappable is not None or not part.single:
        return False
    names.append(f"call {id(part)}")  # a call that appears twice is the same op twice
    for _, entry in head.parts:
        if isinstance(entry, Var):
            names.append(entry.name)
        elif not _is_plain(entry, names):
            return False
    return True


def _way_to(name: str, call: Call) -> tuple[tuple[Head, Any], ...] | None:
    """The calls from the output down to a variable, each with the argument that leads to it."""
    head = call.heads[0]
    for slot, entry in head.parts:
        if isinstance(entry, Var) and entry.name == name:
            return ((head, slot),)
        way = _way_to(name, entry) if isinstance(entry, Call) else None
        if way is not None:
            return ((head, slot), *way)
    return None


def _argument(op: Any, slot: Any) -> Any:
    item = op.args.data[slot]
    if type(item) is Ref:
        return _get(op._operands, item.index)
    kind = type(item)
    if kind in SIMPLE:
        return item
    if kind is ListArg and ONLY_INT.issuperset(map(type, item)):
        return list(item)
    return plain(op.argument_tree(item))


__all__ = ["PlainPattern"]
