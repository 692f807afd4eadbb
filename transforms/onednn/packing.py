"""The bases of passes that pack constant weights for oneDNN and MKL."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from xdsl.ir import SSAValue

from xductor.ir import TensorType, aten
from xductor.transforms.editing.editor import Editor
from xductor.transforms.matching.matcher import Match
from xductor.transforms.onednn.packed_weights import PackedWeights
from xductor.transforms.passes.numerics import REASSOCIATES, Declared
from xductor.transforms.rewriting.contracts import Declined
from xductor.transforms.rewriting.driver import Procedure
from xductor.transforms.rewriting.graph_state import GraphState
from xductor.transforms.rewriting.layouts import check_followers, same_strides
from xductor.transforms.rewriting.procedural_pass import REFUSALS, ProceduralPass


@dataclass(frozen=True)
class Packed:
    """What is replaced by a packed call, and what builds that call.

    - `ops`: what is replaced; the results of the last one become those of the call.
    - `build`: builds the call; its weight is packed already.
    - `read`: the values that the call reads; those that `ops` read by default.
    - `relaid`: the result may be laid out otherwise than before; then what reads it follows, or it
      is copied.
    """

    ops: Sequence[Any]
    build: Callable[[], Any]
    read: Sequence[SSAValue] | None = None
    relaid: bool = False


@dataclass(frozen=True)
class Packing(ProceduralPass):
    """Calls with constant weights become packed calls. The packed weights are computed now."""

    stage = "post_grad"

    def replace_at(self, ops: Sequence[Any], procedure: Procedure) -> int:
        state = procedure.state
        packed, weights = 0, PackedWeights(Editor(state.graph, state.analyses))
        pending = list(reversed(ops))
        while pending:
            op = pending.pop()
            if op.parent is None:  # what it reads moved, so it was made again
                continue
            try:
                renewed = self._replace(op, weights, procedure)
            except REFUSALS as refusal:
                procedure.refuse(op, refusal)
                continue
            packed += 1
            again = [one for one in renewed if one.name in self.roots]
            if again:
                alive = [one for one in (*pending, *again) if one.parent is not None]
                pending = sorted(alive, key=state.order.key, reverse=True)
        weights.drop_unread()
        return packed

    def _replace(self, op: Any, weights: PackedWeights, procedure: Procedure) -> list[Any]:
        """Put the packed call in the place of an op; returns the readers that were made again."""
        state = procedure.state
        packed = self.packed(op, weights, state)
        ops, build, read = packed.ops, packed.build, packed.read
        last = ops[-1]
        if read is None:
            read = [value for one in ops for value in one._operands]
        match = Match.of(last, ops, list(last.results), read)
        if packed.relaid:
            made = procedure.replace(match, lambda: laid_out(build(), last, state), strides=False)
        else:
            made = procedure.replace(match, build)
        return list(made.renewed)

    @abstractmethod
    def packed(self, op: Any, weights: PackedWeights, state: GraphState) -> Packed:
        """Packs the weight of a root. Raises Declined where a call is not packed."""


@dataclass(frozen=True)
class WeightPacking(Packing):
    """The base of those that pack floats, or compute floats of narrower numbers.

    - `packed_dtypes`: the dtypes that oneDNN computes with on this machine.
    """

    numerics: ClassVar[Declared] = REASSOCIATES

    packed_dtypes: tuple[str, ...] = ("float32", "bfloat16", "float16")

    def check_tensors(self, *values: SSAValue) -> None:
        """Raises Declined for what is no plain tensor on a CPU of a dtype that oneDNN takes."""
        types: list[Any] = [value.type for value in values]
        for type_ in types:
            if type(type_) is not TensorType or type_.data.layout != "strided":
                raise Declined("no strided tensor")
            if type_.device.type != "cpu" or type_.data.subclass:
                raise Declined(f"a tensor on {type_.device}")
            if name_of(type_.dtype) not in self.packed_dtypes:
                raise Declined(f"oneDNN does not compute with {type_.dtype} here")
            if type_.dtype is not types[0].dtype:
                raise Declined("operands of two dtypes")
            if any(size == 0 for size in type_.shape):
                raise Declined("no elements")


def name_of(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def laid_out(made: Any, op: Any, state: GraphState) -> Any:
    """The packed call, or a copy of its result where readers cannot follow to its strides."""
    result, found = op.results[0], made.value.type
    if same_strides(result.type, found, state):
        return made
    problem = check_followers({result: found}, state)
    if problem is None:
        return made
    copied: Any = aten.clone(made, memory_format=torch.contiguous_format)
    if not same_strides(result.type, copied.value.type, state):
        raise Declined(f"the result would be laid out otherwise, {problem}")
    return copied


def check_vector(value: Any, what: str) -> None:
    """Raises Declined for elements that do not lie side by side, as oneDNN reads them."""
    (size,), (step,) = value.type.shape, value.type.stride
    if size != 1 and step != 1:
        raise Declined(f"{what} do not lie side by side")


__all__ = ["Packed", "Packing", "WeightPacking", "check_vector", "laid_out", "name_of"]
