"""xDSL traits of our ops, derived from their effects so that xDSL's own passes are right on them."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, cast

from xdsl.ir import Operation, SSAValue
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind

if TYPE_CHECKING:
    from xductor.ir.operations import TorchOp

_READ = EffectInstance(MemoryEffectKind.READ)
_READS: frozenset[EffectInstance] = frozenset((_READ,))
_WRITES: frozenset[EffectInstance] = frozenset((_READ, EffectInstance(MemoryEffectKind.WRITE)))


class TorchMemoryEffects(MemoryEffect):
    """An op's effects in xDSL's vocabulary.

    Every op reads, so that CSE does not carry a value over a write. What draws random numbers,
    asserts, communicates or changes a mode writes. A result that is written to later is an
    allocation: two such results are two tensors.
    """

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance] | None:
        from xductor.ir.storage import is_written

        effects = cast("TorchOp", op).effects
        if effects.unknown:
            return None
        if effects.writes or effects.rng or effects.host or effects.collective or effects.mode:
            return _WRITES
        if effects.alloc or any(is_written(result) for result in op.results):
            return frozenset((_READ, *(_allocates(result) for result in op.results)))
        return _READS


def _allocates(value: SSAValue) -> EffectInstance:
    return EffectInstance(MemoryEffectKind.ALLOC, value)
