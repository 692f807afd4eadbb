"""Which values share storage, according to schemas and to what lowering recorded."""

from __future__ import annotations

from functools import cache
from typing import Any

from xdsl.ir import SSAValue, Use

from xductor.ir.dialect.arguments import Ref, references
from xductor.ir.dialect.operations import SchemaOp, TorchOp
from xductor.ir.effects.aliases import schema_aliases

#: `(operand, certain)`, or None for a result with its own storage.
AliasFact = tuple[int, bool] | None


def result_aliases(op: TorchOp) -> tuple[AliasFact, ...]:
    """For each result, the operand with which it shares storage, and whether that is certain."""
    recorded: Any = op.properties.get("aliases")
    if recorded is not None:
        return recorded.data
    if op.raw_arguments:
        return (None,) * len(op.results)
    # Results of calls with equal arguments share with the operands of the same numbers.
    key = type(op), len(op.results)
    known: dict[Any, tuple[AliasFact, ...]] = vars(op.properties["args"]).setdefault("aliases", {})
    found = known.get(key)
    if found is None:
        found = known[key] = _from_schema(op)  # type: ignore[arg-type]
    return found


def aliases_through(use: Use) -> list[SSAValue]:
    """The results of a user that share storage with what it reads at this place, or may do so."""
    op = use.operation
    if not isinstance(op, TorchOp):
        return []
    return [
        result
        for result, fact in zip(op.results, result_aliases(op), strict=False)
        if fact is not None and fact[0] == use.index
    ]


def _from_schema(op: SchemaOp) -> tuple[AliasFact, ...]:
    plan = _plan(type(op))
    if plan is None:
        return (None,) * len(op.results)
    each_its_own, places = plan
    data = op.args.data
    found: list[AliasFact] = []
    for index in range(len(op.results)):
        place = places[index] if each_its_own and index < len(places) else places[0]
        if place is None:
            found.append(None)
            continue
        item = data[place[0]]
        if type(item) is Ref:
            found.append((item.index, place[1]))
            continue
        refs = list(references((item,)))
        found.append((refs[0].index, place[1]) if len(refs) == 1 else None)
    return tuple(found)


@cache
def has_own_storage(cls: type[TorchOp]) -> bool:
    """Whether, by the schema of an overload's class, every result has its own storage.

    Lowering may have recorded otherwise for a particular call, in `op.aliases`.
    """
    return issubclass(cls, SchemaOp) and _plan(cls) is None


@cache
def _plan(cls: type[SchemaOp]) -> tuple[bool, tuple[tuple[int, bool] | None, ...]] | None:
    """For each result the position of the argument whose storage it shares; None if none shares."""
    facts = schema_aliases(cls.target)
    if not any(fact is not None for fact in facts):
        return None
    index = cls.table.index
    places = [None if fact is None else (index[fact.argument], fact.certain) for fact in facts]
    return cls.table.returns is not None, tuple(places)


def is_written(value: SSAValue) -> bool:
    """Whether an op writes to the value's storage through it or through an alias of it."""
    pending, seen = [value], {value}
    while pending:
        current = pending.pop()
        for use in current.uses:
            user = use.operation
            if not isinstance(user, TorchOp):
                continue
            if writes_operand(user, use.index):
                return True
            new = [result for result in aliases_through(use) if result not in seen]
            seen.update(new)
            pending += new
    return False


def writes_operand(op: TorchOp, index: int) -> bool:
    """Whether the op may write to its operand with that number."""
    effects = op.effects
    if effects.unknown:
        return True
    if not effects.writes:
        return False
    if "*" in effects.writes or not isinstance(op, SchemaOp):
        return True
    data, positions = op.args.data, op.table.index
    return any(
        ref.index == index
        for name in effects.writes
        if name in positions
        for ref in references((data[positions[name]],))
    )
