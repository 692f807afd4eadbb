"""Finds a pattern in a graph: the values of its variables and the ops of its calls.

The search is deterministic: alternatives and operand orders are tried as written, and the first way
that fits as a whole is the match. It is bounded by `MAX_STEPS` for each root.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from xdsl.ir import OpResult, SSAValue

from xductor.ir import Facts, RawOp, Ref, SchemaOp, TorchOp
from xductor.ir.dialect.arguments import same_constant
from xductor.ir.dialect.python_call_binding import bind_call
from xductor.ir.functions.torch_calls import AtenCall, aten_call
from xductor.transforms.matching.commutativity import needs_unit_alpha
from xductor.transforms.matching.matched_arguments import (
    ONLY_INT,
    frozen,
    has_kind,
    is_value,
    plain,
    same_argument,
)
from xductor.transforms.matching.patterns import (
    Bound,
    Call,
    Each,
    Element,
    Head,
    Item,
    OneOf,
    Var,
    children,
)
from xductor.transforms.matching.spellings import Spellings

MAX_STEPS = 20_000

#: Yields once for each way in which a part of a pattern fits; bindings hold until it is resumed.
Ways = Iterator[None]

#: Called with a sub-pattern, what stands in its place, and why that does not fit.
Miss = Callable[[Any, Any, str], None]


class Match:
    """A match of a pattern.

    - `bindings`: an SSA value, a constant, or a list of them for each variable.
    - `ops`: the op of each call of the pattern; the ops of a call inside `each` are in `repeated`.
    - `wrappers`: ops that were looked through.
    - `seen_through`: ops looked through to find that two values of a variable are one; they stay.
    - `outputs`: the values to be replaced, in the pattern's order.
    - `anchor`: the op of the output that comes last in the block.
    """

    def __init__(self, anchor: TorchOp) -> None:
        self.anchor = anchor
        self.bindings: dict[str, Any] = {}
        self.ops: dict[Call, TorchOp] = {}
        self.repeated: list[tuple[Call, TorchOp]] = []
        self.wrappers: list[TorchOp] = []
        self.seen_through: list[TorchOp] = []
        self.outputs: list[SSAValue] = []

    @classmethod
    def of(
        cls,
        anchor: TorchOp,
        ops: Iterable[TorchOp],
        outputs: Sequence[SSAValue],
        values: Iterable[SSAValue] = (),
        seen_through: Iterable[TorchOp] = (),
    ) -> Match:
        """What was found without a pattern: `ops`, to be replaced, with `values` that they read."""
        match = cls(anchor)
        match.bindings = {"values": list(values)}
        match.wrappers = list(ops)
        match.seen_through = list(seen_through)
        match.outputs = list(outputs)
        return match

    def matched_ops(self) -> list[tuple[Call | None, TorchOp]]:
        """Every matched op with its call, which is None for a wrapper."""
        found = self._calls()
        found += [(None, op) for op in self.seen_through]
        return found

    def _calls(self) -> list[tuple[Call | None, TorchOp]]:
        found: list[tuple[Call | None, TorchOp]] = list(self.ops.items())
        found += self.repeated
        found += [(None, op) for op in self.wrappers]
        return found

    def removable(self) -> set[TorchOp]:
        """The ops that the match would replace: all but the shared ones."""
        return {op for call, op in self._calls() if call is None or not call.is_shared}


class Matcher:
    """A search in one graph. `before(a, b)` tells the order of two ops."""

    def __init__(
        self,
        facts: Facts,
        spellings: Spellings,
        before: Callable[[TorchOp, TorchOp], bool],
        miss: Miss | None = None,
    ) -> None:
        self.facts = facts
        self.spellings = spellings
        self.before = before
        self.miss = miss
        self.steps = 0
        self.element: list[Any] = []
        self.match: Match = cast("Match", None)

    def match_at(
        self, outputs: Sequence[Any], op: TorchOp, accepts: Callable[[Match], bool]
    ) -> Match | None:
        """The first match that `accepts` takes and whose last output is made by `op`."""
        self.steps = 0
        for number, output in enumerate(outputs):
            self.match = Match(op)
            self.match.outputs = [op.results[0]] * len(outputs) if op.results else []
            others = [place for place in range(len(outputs)) if place != number]
            for _ in self._output(output, number, op):
                for _ in self._others(outputs, others):
                    if self._is_closed() and accepts(self.match):
                        return self.match
        return None

    # Outputs.

    def _output(self, output: Any, number: int, op: TorchOp) -> Ways:
        if isinstance(output, OneOf):
            for place, alternative in enumerate(output.alternatives):
                for _ in self._output(alternative, number, op):
                    yield from self._numbered(output, place)
            return
        if isinstance(output, Bound):
            for _ in self._output(output.pattern, number, op):
                yield from self._variable(output.variable, self.match.outputs[number])
            return
        if isinstance(output, Call) and output.gives_list:
            self.match.outputs = list(op.results)  # it is the only one
            yield from self._op(output, op)
            return
        index = output.index if isinstance(output, Item) else 0
        if index >= len(op.results):
            return
        self.match.outputs[number] = value = op.results[index]
        yield from self._value(output, value)

    def _others(self, outputs: Sequence[Any], places: list[int]) -> Ways:
        """Match the outputs above the anchor, found through what they share with matched parts."""
        if not places:
            yield
            return
        for place in places:
            output = outputs[place]
            call = output
            while isinstance(call, Bound):
                call = call.pattern
            call = call.call if isinstance(call, Item) else call
            found = self.match.ops.get(call)
            candidates = [found] if found is not None else self._candidates(call)
            if candidates:
                break
        else:
            return
        rest = [one for one in places if one != place]
        for op in candidates:
            if op is not self.match.anchor and not self.before(op, self.match.anchor):
                continue
            if found is None and op in self.match.ops.values():
                continue  # each output has an op of its own
            for _ in self._output(output, place, op):
                yield from self._others(outputs, rest)

    def _candidates(self, part: Any) -> list[TorchOp]:
        """Ops that may be a call: the users of the values that one of its parts may be."""
        if isinstance(part, OneOf):
            return [op for one in part.alternatives for op in self._candidates(one)]
        if isinstance(part, Bound):
            return self._candidates(part.pattern)
        if not isinstance(part, Call):
            return []
        classes = {head.cls for head in part.heads}
        for child in children(part):
            users = [use.operation for value in self._values_of(child) for use in value.uses]
            found = [op for op in dict.fromkeys(users) if type(op) in classes]
            if found:
                return cast("list[TorchOp]", found)
        return []

    def _values_of(self, part: Any) -> list[SSAValue]:
        """Values that a part of the pattern may be, as far as that follows from what is bound."""
        if isinstance(part, tuple | list):
            return [value for one in part for value in self._values_of(one)]
        if isinstance(part, OneOf):
            return [value for one in part.alternatives for value in self._values_of(one)]
        if isinstance(part, Bound):
            return self._values_of(part.variable) or self._values_of(part.pattern)
        if isinstance(part, Var):
            bound = self.match.bindings.get(part.name)
            values = bound if isinstance(bound, tuple | list) else (bound,)
            return [value for value in values if isinstance(value, SSAValue)]
        call = part.call if isinstance(part, Item) else part
        op = self.match.ops.get(call) if isinstance(call, Call) else None
        ops = self._candidates(call) if op is None else [op]
        return [result for one in ops for result in one.results]

    def _is_closed(self) -> bool:
        found = outside_user(self.match)
        if found is None:
            return True
        result, user = found
        self._say(None, result, f"{result.op.name} has another user, {user.name}")
        return False

    # Parts.

    def _part(self, pattern: Any, item: Any) -> Ways:
        """The ways in which an argument fits a part of a pattern."""
        if pattern is ...:
            yield
        elif isinstance(pattern, Var):
            yield from self._variable(pattern, item)
        elif isinstance(pattern, Call | Item):
            yield from self._value(pattern, item)
        elif isinstance(pattern, OneOf):
            for place, alternative in enumerate(pattern.alternatives):
                for _ in self._part(alternative, item):
                    yield from self._numbered(pattern, place)
        elif isinstance(pattern, Bound):
            for _ in self._part(pattern.pattern, item):
                yield from self._variable(pattern.variable, item)
        elif isinstance(pattern, Each):
            yield from self._each(pattern, item)
        elif isinstance(pattern, Element):
            yield from self._element(item)
        elif isinstance(pattern, list | tuple):
            yield from self._list(pattern, item)
        elif self._is_constant(pattern, item):
            yield

    def _numbered(self, one_of: OneOf, place: int) -> Ways:
        """Bind the variable for the number of the alternative that matched, if there is one."""
        if one_of.number is None:
            yield
        else:
            yield from self._variable(one_of.number, place)

    def _is_constant(self, pattern: Any, item: Any) -> bool:
        fits = same_argument(pattern, item)
        if not fits:
            self._say(pattern, item, "another constant")
        return fits

    def _variable(self, variable: Var, item: Any) -> Ways:
        seen = len(self.match.seen_through)
        bound = self._bind(variable, item)
        if bound is not None:
            yield
        if bound:
            self.match.bindings.pop(variable.name, None)
        del self.match.seen_through[seen:]

    def _bind(self, variable: Var, item: Any) -> bool | None:
        """Bind a variable: True if it is newly bound, False if it was already, None if no fit."""
        bindings, name = self.match.bindings, variable.name
        if name in bindings:
            if self._same(bindings[name], item):
                return False
            self._say(variable, item, f"'{name}' is another value already")
            return None
        if not has_kind(variable.kind, item):
            self._say(variable, item, f"'{name}' is to be a {variable.kind}")
            return None
        bindings[name] = item
        return True

    def _same(self, left: Any, right: Any) -> bool:
        if isinstance(left, SSAValue) or isinstance(right, SSAValue):
            through = bool(self.spellings.wrappers)
            return left is right or (through and self._same_value(left, right))
        if isinstance(left, list) and isinstance(right, list):
            return len(left) == len(right) and all(map(self._same, left, right))
        return same_constant(frozen(left), frozen(right))

    def _same_value(self, left: Any, right: Any) -> bool:
        """Whether two values are the same behind their wrappers, which are noted if so."""
        passed: list[TorchOp] = []
        if self._stripped(left, passed) is not self._stripped(right, passed):
            return False
        self.match.seen_through += passed
        return True

    def _stripped(self, item: Any, passed: list[TorchOp]) -> Any:
        while isinstance(item, OpResult):
            means = _meant(item.op)
            inner = None if means is None else self.spellings.inside(means, self.facts)
            if inner is None:
                break
            passed.append(cast("TorchOp", item.op))
            item = inner
        return item

    def _value(self, pattern: Call | Item, item: Any) -> Ways:
        """The ways in which a value is made by a call of the pattern."""
        call, index = (pattern.call, pattern.index) if isinstance(pattern, Item) else (pattern, 0)
        if isinstance(item, list) and isinstance(pattern, Call):
            yield from self._all_results(call, item)
            return
        if not isinstance(item, OpResult) or not isinstance(item.op, TorchOp):
            self._say(pattern, item, f"{call.name} is expected here")
            return
        op = item.op
        known = self.match.ops.get(call)
        if known is not None:
            if known is op and item.index == index:
                yield
            return
        if item.index == index and (len(op.results) == 1 or not call.single):
            yield from self._op(call, op)
        yield from self._wrapped(pattern, op)

    def _wrapped(self, pattern: Call | Item, op: TorchOp) -> Ways:
        means = _meant(op) if self.spellings.wrappers else None
        inner = None if means is None else self.spellings.inside(means, self.facts)
        if inner is None:
            return
        self.match.wrappers.append(op)
        yield from self._value(pattern, inner)
        self.match.wrappers.pop()

    def _op(self, call: Call, op: TorchOp) -> Ways:
        self.steps += 1
        if self.steps > MAX_STEPS:
            return
        self.match.ops[call] = op
        for head in call.heads:
            found = spelled_arguments(head.cls, op)
            if found is None:
                found = self._respelled(head, op)
            if found is not None:
                for arguments in self._orders(head, found):
                    yield from self._arguments(head, arguments)
                break
        else:
            self._say(call, op, f"{call.name} is expected here, found {op.name}")
        self.match.ops.pop(call, None)

    def _respelled(self, head: Head, op: TorchOp) -> Mapping[int | str, Any] | None:
        """The arguments of the head's call for which another stands; None where it does not."""
        means = _meant(op) if self.spellings.synonyms else None
        items = None if means is None else self.spellings.respelled(means, head.cls.name)
        return None if items is None else {place: plain(one) for place, one in enumerate(items)}

    def _orders(
        self, head: Head, arguments: Mapping[int | str, Any]
    ) -> Iterator[Mapping[int | str, Any]]:
        """The arguments as they are, and with the operands of a commutative op swapped."""
        yield arguments
        if head.swappable is None:
            return
        left, right = head.swappable
        a, b = arguments.get(left), arguments.get(right)
        if a is b or not isinstance(a, SSAValue) or not isinstance(b, SSAValue):
            return
        if needs_unit_alpha(head.cls) and arguments.get("alpha", arguments.get(2, 1)) != 1:
            return
        yield {**arguments, left: b, right: a}

    def _arguments(self, head: Head, arguments: Mapping[int | str, Any]) -> Ways:
        # Constants first and all at once: they fit in one way at most and fail soonest.
        for slot, entry in head.constants:
            if not self._is_constant(entry, frozen(arguments.get(slot))):
                return
        yield from self._parts(head.parts, 0, arguments)

    def _parts(
        self,
        parts: tuple[tuple[int | str, Any], ...],
        number: int,
        arguments: Mapping[int | str, Any],
    ) -> Ways:
        # Variables fit in one way at most, so a run of them needs no search.
        bound: list[str] = []
        fits: bool | None = True
        seen = len(self.match.seen_through)
        while fits is not None and number < len(parts) and type(parts[number][1]) is Var:
            slot, entry = parts[number]
            fits = self._bind(entry, arguments.get(slot))
            if fits:
                bound.append(entry.name)
            number += 1
        if fits is not None:
            if number == len(parts):
                yield
            else:
                slot, entry = parts[number]
                for _ in self._part(entry, arguments.get(slot)):
                    yield from self._parts(parts, number + 1, arguments)
        for name in bound:
            self.match.bindings.pop(name, None)
        del self.match.seen_through[seen:]

    # Lists.

    def _list(self, patterns: Sequence[Any], item: Any) -> Ways:
        if not isinstance(item, list) or len(item) != len(patterns):
            self._say(patterns, item, f"a list of {len(patterns)} is expected")
            return
        yield from self._elements(patterns, item, 0)

    def _elements(self, patterns: Sequence[Any], items: Sequence[Any], number: int) -> Ways:
        if number == len(patterns):
            yield
            return
        for _ in self._part(patterns[number], items[number]):
            yield from self._elements(patterns, items, number + 1)

    def _all_results(self, call: Call, items: list[Any]) -> Ways:
        """Match a list that consists of all the results of one call, in order."""
        op = items[0].op if items and isinstance(items[0], OpResult) else None
        if not isinstance(op, TorchOp) or list(op.results) != items:
            self._say(call, items, f"all results of {call.name}, in order, are expected")
            return
        known = self.match.ops.get(call)
        if known is not None:
            if known is op:
                yield
            return
        yield from self._op(call, op)

    def _each(self, each: Each, items: Any) -> Ways:
        if not isinstance(items, list):
            self._say(each, items, "a list is expected")
            return
        for sources in self._bodies(each.body, items, 0, []):
            yield from self._part(each.source, sources)

    def _bodies(
        self, body: Any, items: list[Any], number: int, sources: list[Any]
    ) -> Iterator[list[Any]]:
        """The elements that the bodies of a list are about, for each way in which all fit."""
        if number == len(items):
            yield list(sources)
            return
        self.element.append(None)
        before = dict(self.match.ops)
        for _ in self._part(body, items[number]):
            own = {call: op for call, op in self.match.ops.items() if call not in before}
            for call in own:
                del self.match.ops[call]
            self.match.repeated += own.items()
            element = self.element.pop()
            yield from self._bodies(body, items, number + 1, [*sources, element])
            self.element.append(element)
            del self.match.repeated[len(self.match.repeated) - len(own) :]
            self.match.ops.update(own)
        self.element.pop()

    def _element(self, item: Any) -> Ways:
        kept = self.element[-1]
        if kept is not None and kept is not item:
            return
        self.element[-1] = item
        yield
        self.element[-1] = kept

    def _say(self, pattern: Any, item: Any, why: str) -> None:
        if self.miss is not None:
            self.miss(pattern, item, why)


def _meant(op: Any) -> SchemaOp | AtenCall | None:
    """An op as a call of an operator, which a call before autograd may mean."""
    return op if isinstance(op, SchemaOp) else aten_call(op)


def outside_user(match: Match) -> tuple[OpResult, Any] | None:
    """An inner value that is not shared, and a user of it outside the match; None if none has."""
    inside = match.removable()
    outputs = match.outputs
    for op in inside:
        for result in op.results:
            if any(result is one for one in outputs):
                continue
            for use in result.uses:
                if use.operation not in inside:
                    return result, use.operation
    return None


def arguments_of(op: TorchOp) -> Mapping[int | str, Any]:
    """An op's arguments by schema position, or by parameter name; lists become plain lists."""
    if isinstance(op, SchemaOp):
        operands = op._operands
        return {
            place: operands[item.index]
            if type(item) is Ref
            else item
            if type(item) in SIMPLE
            else plain(op.argument_tree(item))
            for place, item in enumerate(op.args.data)
        }
    assert isinstance(op, RawOp)
    bound = bind_call(type(op), op.positional, op.keywords, is_value)
    return {name: plain(item) for name, item in bound.items()}


def spelled_arguments(cls: type[TorchOp], op: TorchOp) -> Mapping[int | str, Any] | None:
    """The arguments of a call of `cls`, in whatever words; None where an op is none."""
    if type(op) is cls:
        return arguments_of(op)
    if isinstance(op, SchemaOp) or not issubclass(cls, SchemaOp):
        return None
    means = aten_call(op)
    if means is None or means.cls is not cls:
        return None
    return {place: plain(one) for place, one in enumerate(means.items)}


SIMPLE = frozenset((int, float, bool, str, type(None)))


__all__ = [
    "MAX_STEPS",
    "ONLY_INT",
    "SIMPLE",
    "Match",
    "Matcher",
    "arguments_of",
    "frozen",
    "has_kind",
    "outside_user",
    "plain",
    "same_argument",
    "spelled_arguments",
]
