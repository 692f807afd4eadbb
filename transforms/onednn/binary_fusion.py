"""`mkldnn_binary_fusion`: oneDNN adds to, or subtracts from, the result of a packed call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from xdsl.ir import SSAValue

from xductor.ir import Facts, SchemaOp, TensorType, ops
from xductor.transforms.analysis.readers import only_reader
from xductor.transforms.editing.replacement import known_equal
from xductor.transforms.matching.matcher import Match
from xductor.transforms.onednn import operators as operators  # registers the operators
from xductor.transforms.onednn.activations import NARROW
from xductor.transforms.onednn.packed_calls import CONVOLUTION, LINEAR, arguments, is_plain
from xductor.transforms.passes.numerics import (
    ADMITTED,
    APPROXIMATE,
    EXACT,
    ROUNDS_LESS_OFTEN,
    NumericsByDtype,
    Policy,
)
from xductor.transforms.rewriting.contracts import Declined
from xductor.transforms.rewriting.driver import Procedure
from xductor.transforms.rewriting.handles import handle
from xductor.transforms.rewriting.procedural_pass import REFUSALS, ProceduralPass

#: The arithmetic that oneDNN computes with a packed call.
KINDS = {"aten.add.Tensor": "add", "aten.sub.Tensor": "sub"}
_RELU = "aten.relu.default"


@dataclass(frozen=True)
class Site:
    """A packed call, the sum or difference that alone reads it, and perhaps a relu of that.

    - `other`: what is added to the result of the call, or subtracted from it.
    """

    packed: SchemaOp
    arithmetic: SchemaOp
    other: SSAValue
    relu: SchemaOp | None

    @property
    def last(self) -> Any:
        return self.arithmetic if self.relu is None else self.relu

    def match(self) -> Match:
        """The site as contracts ask about it."""
        replaced = [op for op in (self.packed, self.arithmetic, self.relu) if op is not None]
        read = [*self.packed._operands, self.other]
        return Match.of(self.last, replaced, [self.last.results[0]], read)

    def build(self, facts: Facts) -> Any:
        """The one call that stands for the site."""
        x, *given = arguments(self.packed, facts)[:-3]
        kind = KINDS[self.arithmetic.name]
        other = handle(self.other, facts)
        if self.packed.name == LINEAR:
            return ops.xductor.linear_binary.default(x, other, *given, kind)
        relu = None if self.relu is None else "relu"
        return ops.xductor.convolution_binary.default(x, other, *given, kind, relu)


@dataclass(frozen=True)
class MkldnnBinaryFusion(ProceduralPass):
    """`conv(x, w) + y` becomes one call, and so does the relu of it; linears without a relu.

    `y` has the sizes of the result, or those that oneDNN broadcasts: one element for each channel,
    for each channel of each image, or one. It has the dtype of the result, and the factor of the
    sum is 1. A narrow result is rounded once. oneDNN's relu gives 0 for NaN, and so is computed
    with the sum under `fast` alone.
    """

    name = "mkldnn_binary_fusion"
    stage = "post_grad"
    inductor = "mkldnn_fusion.py:_register_binary_unary_fusion_lowering.fn"
    numerics = NumericsByDtype(
        {
            torch.float32: EXACT,
            torch.float16: ROUNDS_LESS_OFTEN,
            torch.bfloat16: ROUNDS_LESS_OFTEN,
        }
    )
    roots = frozenset((CONVOLUTION, LINEAR))
    counter = "mkldnn_conv_binary_unary_fusion_matcher_count"

    policy: Policy = "default"

    def replace_at(self, ops: Sequence[Any], procedure: Procedure) -> int:
        # The last first, as in Inductor: of a sum of two calls, the later one takes the earlier.
        return sum(self._replace(op, procedure) for op in reversed(ops) if op.parent is not None)

    def _replace(self, op: SchemaOp, procedure: Procedure) -> bool:
        facts = procedure.state.facts
        try:
            site = self._site(op, facts)
            if site is None:
                return False
            procedure.replace(site.match(), lambda: site.build(facts))
        except REFUSALS as refusal:
            procedure.refuse(op, refusal)
            return False
        return True

    def _site(self, op: SchemaOp, facts: Facts) -> Site | None:
        """What stands behind a packed call; None for nothing of the kind. Raises Declined."""
        arithmetic = only_reader(op.results[0])
        if arithmetic is None or arithmetic.name not in KINDS or not is_plain(op):
            return None
        first, second = arithmetic.argument("self"), arithmetic.argument("other")
        other = second if first is op.results[0] else first
        if other is op.results[0] or not isinstance(other, SSAValue):
            return None
        _check(op, arithmetic, other, facts)
        dtype: Any = arithmetic.results[0].type.dtype
        if dtype in NARROW and ROUNDS_LESS_OFTEN not in ADMITTED[self.policy]:
            raise Declined(f"a sum of {dtype} would be rounded less often")
        return Site(op, arithmetic, other, self._relu(op, arithmetic))

    def _relu(self, op: SchemaOp, arithmetic: SchemaOp) -> SchemaOp | None:
        if op.name != CONVOLUTION or APPROXIMATE not in ADMITTED[self.policy]:
            return None
        reader = only_reader(arithmetic.results[0])
        return reader if reader is not None and reader.name == _RELU else None


def _check(op: SchemaOp, arithmetic: SchemaOp, other: SSAValue, facts: Facts) -> None:
    """Raises Declined where oneDNN does not compute what the graph says."""
    result, beside = op.results[0].type, other.type
    if not isinstance(result, TensorType) or not isinstance(beside, TensorType):
        raise Declined("what stands beside the result is no tensor")
    if arithmetic.argument("alpha") != 1:
        raise Declined(f"the factor is {arithmetic.argument('alpha')}")
    if KINDS[arithmetic.name] == "sub" and arithmetic.argument("other") is not other:
        raise Declined("the result is subtracted from something")
    if beside.dtype is not result.dtype or beside.device != result.device:
        raise Declined(f"{beside.dtype} on {beside.device} stands beside it")
    if not any(known_equal(beside.shape, sizes, facts) for sizes in _taken(op, result)):
        raise Declined(f"sizes {list(beside.shape)} beside {list(result.shape)}")


def _taken(op: SchemaOp, result: TensorType) -> list[tuple[Any, ...]]:
    """The sizes of what oneDNN adds."""
    shape, rank = tuple(result.shape), result.rank
    if op.name == LINEAR:
        return [shape, (1,) * (rank - 1) + shape[-1:]] if rank >= 2 else [shape]
    inner = (1,) * (rank - 2)
    return [shape, (*shape[:2], *inner), (1, shape[1], *inner), (1,) * rank]


__all__ = ["KINDS", "MkldnnBinaryFusion", "Site"]
