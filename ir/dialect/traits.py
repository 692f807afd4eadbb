"""xDSL traits of our ops, derived from their effects, so that xDSL's own passes are correct."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from torch._ops import HigherOrderOperator
from xdsl.ir import Operation, SSAValue
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind

from xductor.ir.dialect.arguments import FunctionArg, SymbolRef, leaves
from xductor.ir.effects.effects import UNKNOWN, Effects
from xductor.ir.effects.target_effects import target_effects
from xductor.ir.python import targets

if TYPE_CHECKING:
    from xductor.ir.dialect.operations import TorchOp

_READ = EffectInstance(MemoryEffectKind.READ)
_READS: frozenset[EffectInstance] = frozenset((_READ,))
_WRITES: frozenset[EffectInstance] = frozenset((_READ, EffectInstance(MemoryEffectKind.WRITE)))


class TorchMemoryEffects(MemoryEffect):
    """The effects of an op in xDSL's vocabulary.

    Every op reads, so that CSE does not carry a value over a write. An op that draws random
    numbers, asserts, communicates or changes a mode writes. A result that is written to later is
    an allocation: two such results are two tensors.
    """

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance] | None:
        from xductor.ir.storage.sharing import is_written

        effects = _with_bodies(cast("TorchOp", op), set())
        if effects.unknown:
            return None
        if effects.writes or effects.rng or effects.host or effects.collective or effects.mode:
            return _WRITES
        if effects.alloc or any(is_written(result) for result in op.results):
            return frozenset((_READ, *(_allocates(result) for result in op.results)))
        return _READS


def _with_bodies(op: TorchOp, seen: set[str]) -> Effects:
    """The effects of the call, including those of its subgraphs and of operators it carries."""
    effects = op.effects
    if effects.unknown or not isinstance(op.target, HigherOrderOperator):
        return effects
    for leaf in leaves(op.args.data):
        if type(leaf) is SymbolRef and leaf.name not in seen:
            seen.add(leaf.name)
            effects |= _body(op, leaf.name, seen)
        elif type(leaf) is FunctionArg:
            effects |= _carried(op.target, leaf.name)
    return effects


def _body(op: TorchOp, name: str, seen: set[str]) -> Effects:
    from xductor.ir.dialect.graph import GraphOp, OutputOp

    graph = op.parent_op()
    module = graph.parent_op() if graph is not None else None
    effects = Effects()
    for other in module.regions[0].block.ops if module is not None else ():
        if isinstance(other, GraphOp) and other.sym_name.data == name and not other.is_declaration:
            for inner in other.block.ops:
                if not isinstance(inner, OutputOp):
                    effects |= _with_bodies(cast("TorchOp", inner), seen)
            return effects
    return UNKNOWN


def _carried(target: HigherOrderOperator, name: str) -> Effects:
    """The effects of an operator that is called inside; a functionalized one writes nothing."""
    try:
        effects = target_effects(targets.resolve(name))
    except LookupError:
        return UNKNOWN
    return (
        replace(effects, writes=frozenset())
        if target.name().startswith("auto_functionalized")
        else effects
    )


def _allocates(value: SSAValue) -> EffectInstance:
    return EffectInstance(MemoryEffectKind.ALLOC, value)
