"""The base of passes that pack int8 weights, and let oneDNN multiply data of 8 bits by them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from xdsl.ir import SSAValue

from xductor.transforms.onednn.packed_weights import PackedWeights
from xductor.transforms.onednn.packing import Packed, Packing
from xductor.transforms.passes.numerics import REASSOCIATES, ROUNDS_LESS_OFTEN, NumericsByDtype
from xductor.transforms.quantized.dequantised_operands import Int8Weight
from xductor.transforms.rewriting.graph_state import GraphState

#: Packs a weight, given its elements and scales.
Pack = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class Found:
    """What is replaced, and by what.

    - `ops`: the product or convolution, and what follows that is replaced with it; the result of
      the last one is replaced.
    - `weight`, `how`, `pack`: how its weight is packed, as `PackedWeights` takes them.
    - `read`: what else the packed call reads.
    - `build`: makes the packed call, given the packed weight and its zero points.
    - `relaid`: the result may be laid out otherwise, as in `Packed`.
    """

    ops: Sequence[Any]
    weight: Int8Weight
    how: tuple[Hashable, ...]
    pack: Pack
    read: Sequence[SSAValue]
    build: Callable[[SSAValue, SSAValue], Any]
    relaid: bool = False


@dataclass(frozen=True)
class Int8Packing(Packing):
    """A call of dequantised data and a dequantised constant becomes a packed call of 8 bits.

    The sums of products are exact, and rounded once. Dequantised data may have other readers: the
    packed call reads what was dequantised. The zero points of the weight are 0.
    """

    numerics = NumericsByDtype({torch.float32: REASSOCIATES, torch.bfloat16: ROUNDS_LESS_OFTEN})

    def packed(self, op: Any, weights: PackedWeights, state: GraphState) -> Packed:
        found = self.found(op, state)
        packed, zeros = weights.pack_together(
            found.weight.held,
            found.how,
            lambda given: [
                found.pack(given[0].contiguous(), given[1]),
                torch.zeros(len(given[1]), dtype=torch.int32),
            ],
            op,
        )
        read = [*found.read, *found.weight.held]
        return Packed(found.ops, lambda: found.build(packed, zeros), read, found.relaid)

    @abstractmethod
    def found(self, op: Any, state: GraphState) -> Found:
        """What is replaced at a root. Raises Declined where a call is not packed."""


__all__ = ["Found", "Int8Packing"]
