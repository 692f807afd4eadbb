"""The base of passes that pack the weights of convolutions and products."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from xdsl.ir import SSAValue

from xductor.ir import TensorType, aten
from xductor.transforms.editing.editor import Editor
from xductor.transforms.onednn.packed_weights import PackedWeights
from xductor.transforms.passes.numerics import REASSOCIATES
from xductor.transforms.rewriting.contracts import Declined
from xductor.transforms.rewriting.driver import Procedure
from xductor.transforms.rewriting.graph_state import GraphState
from xductor.transforms.rewriting.layouts import check_followers, same_strides
from xductor.transforms.rewriting.matcher import Match
from xductor.transforms.rewriting.procedural_pass import REFUSALS, ProceduralPass


@dataclass(frozen=True)
class WeightPacking(ProceduralPass):
    """A call with a constant weight becomes a packed call, which what follows is computed with.

    The packed weight is computed now. Where the result is laid out otherwise than before, what
    reads it follows, or it is copied.

    - `packed_dtypes`: the dtypes that oneDNN computes with on this machine.
    """

    stage = "post_grad"
    numerics = REASSOCIATES

    packed_dtypes: tuple[str, ...] = ("float32", "bfloat16", "float16")

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
        self.check(op)
        state = procedure.state
        build = self.packed(op, weights, state)
        match = Match.of(op, [op], [op.results[0]], op._operands)
        made = procedure.replace(match, lambda: laid_out(build(), op, state), strides=False)
        return list(made.renewed)

    @abstractmethod
    def check(self, op: Any) -> None:
        """Raises Declined where a call is not packed."""

    @abstractmethod
    def packed(self, op: Any, weights: PackedWeights, state: GraphState) -> Any:
        """Packs the weight; returns what builds the packed call."""

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


__all__ = ["WeightPacking", "check_vector", "laid_out", "name_of"]
