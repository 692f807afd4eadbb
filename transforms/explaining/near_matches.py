"""How nearly a pattern matches at an op, and what would let it match there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.ir import OpResult, SSAValue

from xductor.ir import Facts, GraphOp, TorchOp
from xductor.ir.functions.torch_calls import aten_name
from xductor.ir.text.diagnostics import op_line
from xductor.ir.text.printing import value_names
from xductor.transforms.explaining.pattern_text import (
    argument_text,
    is_default,
    parameter_name,
    pattern_text,
)
from xductor.transforms.matching.commutativity import swappable
from xductor.transforms.matching.matcher import (
    Match,
    Matcher,
    arguments_of,
    spelled_arguments,
)
from xductor.transforms.matching.patterns import Call, Head, Item, OneOf, Var, children
from xductor.transforms.matching.spellings import ALL_SPELLINGS, Spelling, Spellings

Before = Callable[[TorchOp, TorchOp], bool]


@dataclass(frozen=True)
class Difference:
    """Where a pattern and a graph differ: both sides, and why they do not fit.

    - `pattern`: as the rewrite writes it; `graph`: the op, value or constant in its place.
    - `location`: file and line of the user's code, if known.
    """

    pattern: str
    graph: str
    why: str
    location: tuple[str, int] | None = None


@dataclass
class Nearest:
    """The nearest miss of a search: how many of the pattern's calls were found, what differs."""

    calls: int = -1
    difference: Difference | None = None
    rank: tuple[int, int] = field(default=(-1, -1))


class TracingMatcher(Matcher):
    """A matcher that keeps the miss at which it had come furthest."""

    def __init__(self, facts: Facts, spellings: Spellings, before: Before) -> None:
        super().__init__(facts, spellings, before, self._missed)
        self.nearest = Nearest()

    def _missed(self, pattern: Any, item: Any, why: str) -> None:
        ops = self.match.ops
        found = {*ops, *(call for call, _ in self.match.repeated)}
        below = 0
        call = pattern.call if isinstance(pattern, Item) else pattern
        if isinstance(call, Call):
            found.discard(call)
            if isinstance(item, OpResult):
                item = item.op
            if isinstance(item, TorchOp):
                below = calls_below(call, item, self.spellings)
        rank = (len(found) + below, len(found))
        if rank > self.nearest.rank:
            self.nearest = Nearest(rank[0], self._difference(pattern, item, why), rank)

    def _is_closed(self) -> bool:
        others = outside_uses(self.match)
        if not others:
            return True
        call, op, user = others[0]
        name = pattern_text(call, 1) if call is not None else op.name
        difference = Difference(
            f"{name}, with no user outside of the match",
            op_line(user),
            f"{_value_name(op.results[0])} is used here too",
            user.node.location() or op.node.location(),
        )
        count = len({*self.match.ops, *(call for call, _ in self.match.repeated)})
        if (count, count) > self.nearest.rank:
            self.nearest = Nearest(count, difference, (count, count))
        return False

    def _difference(self, pattern: Any, item: Any, why: str) -> Difference:
        location = item.node.location() if isinstance(item, TorchOp) else None
        call = pattern.call if isinstance(pattern, Item) else pattern
        if isinstance(call, Call) and isinstance(item, TorchOp):
            return Difference(pattern_text(pattern), op_line(item), "another op", location)
        holder = self._holder(pattern, item)
        graph = _item_text(item)
        if holder is None:
            return Difference(pattern_text(pattern), graph, why, location)
        head, slot, op = holder
        graph = f"{graph}, in {op_line(op)}"
        name = parameter_name(head, slot)
        location = location or op.node.location()
        if isinstance(pattern, Var):
            known = self.match.bindings.get(pattern.name)
            if known is not None:
                why = f"'{pattern.name}' is {_item_text(known)} already"
            return Difference(f"{name} = {pattern.name} of {head.cls.name}", graph, why, location)
        if isinstance(call, Call):
            return Difference(pattern_text(pattern), graph, "no call of it", location)
        shown = f"{name} = {pattern_text(pattern)} of {head.cls.name}"
        if is_default(head, slot, pattern):
            shown += " (its default, which the pattern does not mention)"
        return Difference(shown, graph, f"another {name}", location)

    def _holder(self, pattern: Any, item: Any) -> tuple[Head, int | str, TorchOp] | None:
        """The matched call that has `pattern` among its entries where the op has `item`."""
        for call, op in reversed([*self.match.ops.items(), *self.match.repeated]):
            for head in call.heads:
                arguments = spelled_arguments(head.cls, op) or {}
                for slot, entry in head.entries:
                    if slot in arguments and _holds(entry, pattern):
                        argument = arguments[slot]
                        if isinstance(argument, SSAValue) and argument is not item:
                            continue
                        return head, slot, op
        return None


def _holds(entry: Any, pattern: Any) -> bool:
    if entry is pattern:
        return True
    if isinstance(entry, OneOf):
        return any(_holds(one, pattern) for one in entry.alternatives)
    return isinstance(entry, list | tuple) and any(_holds(one, pattern) for one in entry)


def _value_name(value: SSAValue) -> str:
    owner: Any = value.owner
    graph = owner.parent_op()
    if not isinstance(graph, GraphOp):
        return "a value"
    return value_names(graph)[value]


def _item_text(item: Any) -> str:
    if isinstance(item, OpResult) and isinstance(item.op, TorchOp):
        return op_line(item.op)
    if isinstance(item, SSAValue):
        return f"{_value_name(item)}: {item.type}, an input"
    if isinstance(item, list):
        return f"[{', '.join(_short(part) for part in item)}]"
    return argument_text(item)


def _short(item: Any) -> str:
    return _value_name(item) if isinstance(item, SSAValue) else argument_text(item)


def outside_uses(match: Match) -> list[tuple[Call | None, TorchOp, TorchOp]]:
    """Users of inner values outside the match: (call, its op, the user)."""
    inside, outputs = match.removable(), set(match.outputs)
    found: list[tuple[Call | None, TorchOp, TorchOp]] = []
    for call, op in match.matched_ops():
        if op not in inside:
            continue
        for result in op.results:
            if result not in outputs:
                users = [use.operation for use in result.uses if use.operation not in inside]
                found += [(call, op, user) for user in users if isinstance(user, TorchOp)]
    return found


# How much of a pattern is there.


def call_count(pattern: Any) -> int:
    """How many calls a pattern has, counting the longest of alternatives."""
    if isinstance(pattern, OneOf):
        return max(call_count(one) for one in pattern.alternatives)
    if isinstance(pattern, Item):
        return call_count(pattern.call)
    if isinstance(pattern, Call):
        return 1 + max(
            sum(call_count(entry) for _, entry in head.entries) for head in pattern.heads
        )
    return sum(call_count(part) for part in children(pattern))


def calls_of_pattern(pattern: Any) -> list[Call]:
    """The calls one level down, through lists, alternatives and bindings."""
    if isinstance(pattern, Call):
        return [pattern]
    if isinstance(pattern, Item):
        return [pattern.call]
    return [call for part in children(pattern) for call in calls_of_pattern(part)]


def calls_below(call: Call, op: TorchOp, spellings: Spellings) -> int:
    """How many of the calls below `call` in the pattern are below `op`, whatever `op` is."""
    wanted = list(
        dict.fromkeys(
            inner
            for head in call.heads[:1]
            for _, entry in head.entries
            for inner in calls_of_pattern(entry)
        )
    )
    above = [
        operand.op
        for operand in dict.fromkeys(op.operands)
        if isinstance(operand, OpResult) and isinstance(operand.op, TorchOp)
    ]
    total = 0
    for inner in wanted:
        fits = [
            (1 + calls_below(inner, one, spellings), place)
            for place, one in enumerate(above)
            if _may_be(inner, one, spellings)
        ]
        if fits:
            best, place = max(fits, key=lambda item: item[0])
            total += best
            above.pop(place)
    return total


def _may_be(call: Call, op: TorchOp, spellings: Spellings) -> bool:
    return any(
        aten_name(op) == head.cls.name or (aten_name(op), head.cls.name) in spellings.synonyms
        for head in call.heads
    )


# What would let it match.


@dataclass(frozen=True)
class Leave:
    """What a search may overlook."""

    spellings: tuple[Spelling, ...] = ()
    order: bool = False
    users: bool = False
    constants: bool = False


class LenientMatcher(Matcher):
    """A matcher that overlooks what it is allowed to, and records what it did overlook."""

    def __init__(self, facts: Facts, spellings: Spellings, before: Before, leave: Leave) -> None:
        super().__init__(facts, spellings, before)
        self.leave = leave
        self._exchanged: list[Head] = []
        self._constants: dict[str, None] = {}

    def overlooked(self, match: Match) -> list[str]:
        """What was overlooked for a match, as advice."""
        said = [f"looking through {one.name} (`through`)" for one in self.leave.spellings]
        for head in self._exchanged:
            name = head.cls.name
            if swappable(head.cls) is not None:
                said.append(f"the operands of {name} in either order (no `in_order`)")
            else:
                said.append(f"the operands of {name} exchanged, which does not commute")
        for call, op, user in outside_uses(match) if self.leave.users else ():
            if call is None:
                said.append(f"{op.name} used by the match alone")
            else:
                said.append(f"`shared` around {call.name}, which {user.name} uses too")
        return list(dict.fromkeys([*said, *self._constants]))

    def _is_closed(self) -> bool:
        return self.leave.users or super()._is_closed()

    def _orders(
        self, head: Head, arguments: Mapping[int | str, Any]
    ) -> Iterator[Mapping[int | str, Any]]:
        yield from super()._orders(head, arguments)
        if not self.leave.order or head.swappable is not None or len(head.entries) < 2:
            return
        (left, _), (right, _), *_ = head.entries
        a, b = arguments.get(left), arguments.get(right)
        if a is b or not isinstance(a, SSAValue) or not isinstance(b, SSAValue):
            return
        self._exchanged.append(head)
        yield {**arguments, left: b, right: a}
        self._exchanged.pop()

    def _is_constant(self, pattern: Any, item: Any) -> bool:
        if super()._is_constant(pattern, item):
            return True
        if not self.leave.constants or isinstance(item, SSAValue):
            return False
        self._constants[self._advice(pattern, item)] = None
        return True

    def _advice(self, pattern: Any, item: Any) -> str:
        call, op = next(reversed(self.match.ops.items()))
        for head in call.heads:
            for slot, entry in head.entries:
                if entry is pattern and argument_text(arguments_of(op).get(slot)) == (
                    argument_text(item)
                ):
                    name = parameter_name(head, slot)
                    return f"{name} = {argument_text(item)} in {call.name}"
        return f"{argument_text(item)} instead of {argument_text(pattern)} in {call.name}"


#: The objection of `where` to a match; None if it has none.
Accepts = Callable[[Match], str | None]


def remedies(
    outputs: Sequence[Any],
    through: tuple[Spelling, ...],
    op: TorchOp,
    facts: Facts,
    before: Before,
    refuses: Accepts,
) -> list[str]:
    """Changes to a rewrite that let it match at `op`, as advice: each single change that does, or
    else all that are needed together. Each says what `where` would then object.
    """

    def attempt(leave: Leave) -> str | None:
        spellings = Spellings((*through, *leave.spellings))
        matcher = LenientMatcher(facts, spellings, before, leave)
        match = matcher.match_at(outputs, op, lambda _: True)
        if match is None:
            return None
        against = refuses(match)
        advice = " and ".join(matcher.overlooked(match))
        return advice if against is None else f"{advice}; but then {against}"

    more = tuple(one for one in ALL_SPELLINGS if one not in through)
    singles = [Leave(spellings=(one,)) for one in more]
    singles += [Leave(order=True), Leave(users=True), Leave(constants=True)]
    found = [advice for leave in singles if (advice := attempt(leave)) is not None]
    if found:
        return found
    if attempt(Leave(more, True, True, True)) is None:
        return []
    # All changes together do it: drop one after the other while it still matches.
    kept = list(more)
    order = users = constants = True
    for one in more:
        rest = tuple(other for other in kept if other is not one)
        if attempt(Leave(rest, order, users, constants)) is not None:
            kept.remove(one)
    order = attempt(Leave(tuple(kept), False, users, constants)) is None
    users = attempt(Leave(tuple(kept), order, False, constants)) is None
    constants = attempt(Leave(tuple(kept), order, users, False)) is None
    advice = attempt(Leave(tuple(kept), order, users, constants))
    return [] if advice is None else [advice]


__all__ = [
    "Difference",
    "Nearest",
    "TracingMatcher",
    "call_count",
    "calls_below",
    "remedies",
]
