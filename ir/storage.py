"""Which values share storage: from schemas, and from what lowering recorded."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xductor.ir.aliases import schema_aliases
from xductor.ir.arguments import references
from xductor.ir.operations import SchemaOp, TorchOp

AliasFact = tuple[int, bool] | None
"""(operand, certain) or None for storage of its own."""


def result_aliases(op: TorchOp) -> tuple[AliasFact, ...]:
    """For each result, the operand it shares storage with, and whether that is certain."""
    recorded = op.aliases
    if recorded is not None:
        return recorded.data
    if isinstance(op, SchemaOp):
        return _from_schema(op)
    return (None,) * len(op.results)


def _from_schema(op: SchemaOp) -> tuple[AliasFact, ...]:
    facts = schema_aliases(op.target)
    if not any(fact is not None for fact in facts):
        return (None,) * len(op.results)
    table, data = op.table, op.args.data
    found: list[AliasFact] = []
    for index in range(len(op.results)):
        fact = facts[index] if index < len(facts) and op.table.returns is not None else facts[0]
        if fact is None:
            found.append(None)
            continue
        refs = list(references((data[table.index[fact.argument]],)))
        found.append((refs[0].index, fact.certain) if len(refs) == 1 else None)
    return tuple(found)


def is_written(value: SSAValue) -> bool:
    """True if an op writes to the value's storage through it or through an alias of it."""
    pending, seen = [value], {value}
    while pending:
        current = pending.pop()
        for use in current.uses:
            user = use.operation
            if not isinstance(user, TorchOp):
                continue
            if writes_operand(user, use.index):
                return True
            for result, fact in zip(user.results, result_aliases(user), strict=False):
                if fact is not None and fact[0] == use.index and result not in seen:
                    seen.add(result)
                    pending.append(result)
    return False


def writes_operand(op: TorchOp, index: int) -> bool:
    """True if the op may write to its operand of that number."""
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
