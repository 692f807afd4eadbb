"""`mkldnn_unary_fusion`: oneDNN computes an activation together with a packed call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from xdsl.ir import SSAValue

from xductor.ir import SchemaOp, TensorType
from xductor.transforms.matching.matcher import Match, Matcher
from xductor.transforms.matching.spellings import Spellings
from xductor.transforms.onednn import activations
from xductor.transforms.onednn.activations import NARROW, Activation, Spelling
from xductor.transforms.onednn.packed_calls import PACKED_CALLS, is_plain, with_attribute
from xductor.transforms.passes.numerics import (
    ADMITTED,
    APPROXIMATE,
    REASSOCIATES,
    ROUNDS_LESS_OFTEN,
    Numerics,
    NumericsByDtype,
    Policy,
)
from xductor.transforms.rewriting.contracts import Declined
from xductor.transforms.rewriting.driver import Procedure
from xductor.transforms.rewriting.procedural_pass import REFUSALS, ProceduralPass

#: No activation has more ops.
_LARGEST = 16


class Found(NamedTuple):
    """An activation behind a packed call, with its numbers, and the ops that it consists of."""

    activation: Activation
    numbers: list[Any]
    match: Match


@dataclass(frozen=True)
class MkldnnUnaryFusion(ProceduralPass):
    """`relu(conv(x, w))` becomes one call; convolutions, transposed ones and linears alike.

    Each activation is spelled in ATen, in float32 between casts where the dtype is narrow; nothing
    else reads what the call gives. A narrow result is rounded once, behind the activation. Three of
    oneDNN's functions (relu, hardtanh, hardsigmoid) give a number for NaN: only `fast` admits
    them. A leaky relu with a slope of 0 stays.
    """

    name = "mkldnn_unary_fusion"
    stage = "post_grad"
    inductor = "mkldnn_fusion.py:_register_unary_fusion_lowering.fn"
    numerics = NumericsByDtype(
        {
            torch.float32: REASSOCIATES,
            torch.float16: ROUNDS_LESS_OFTEN,
            torch.bfloat16: ROUNDS_LESS_OFTEN,
        }
    )
    roots = PACKED_CALLS
    counter = "mkldnn_unary_fusion_matcher_count"

    policy: Policy = "default"

    def replace_at(self, ops: Sequence[Any], procedure: Procedure) -> int:
        return sum(self._replace(op, procedure) for op in ops if op.parent is not None)

    def _replace(self, op: SchemaOp, procedure: Procedure) -> bool:
        if not is_plain(op):
            return False
        facts = procedure.state.facts
        found = activation_of(op, procedure)
        if found is None:
            return False
        activation = found.activation
        try:
            if numerics_of(op, activation) not in ADMITTED[self.policy]:
                raise Declined(f"oneDNN's {activation.name} gives a number for NaN")
            if not activation.takes(*found.numbers):
                raise Declined(f"oneDNN has no {activation.name} of {found.numbers}")
            procedure.replace(
                found.match,
                lambda: with_attribute(
                    op, facts, activation.name, found.numbers, activation.algorithm
                ),
            )
        except REFUSALS as refusal:
            procedure.refuse(op, refusal)
            return False
        return True


def numerics_of(op: SchemaOp, activation: Activation) -> Numerics:
    """What computing an activation with a packed call may change."""
    type_: Any = op.results[0].type
    if activation.numerics == APPROXIMATE:
        return APPROXIMATE
    return ROUNDS_LESS_OFTEN if type_.dtype in NARROW else REASSOCIATES


def activation_of(op: SchemaOp, procedure: Procedure) -> Found | None:
    """The activation that is all that reads the result of a packed call; None if there is none."""
    result, state = op.results[0], procedure.state
    type_ = result.type
    if not isinstance(type_, TensorType):
        return None
    for end in _readers(result):
        for spelling in activations.spellings_at(end.name):
            if spelling.dtype not in (None, type_.dtype):
                continue
            matcher = Matcher(state.facts, Spellings(()), state.order.before)
            match = matcher.match_at(
                spelling.outputs, end, lambda one: _is_all_that_reads(result, one)
            )
            if match is not None:
                return _found(op, spelling, match)
    return None


def _readers(value: SSAValue) -> Iterator[Any]:
    """The ops behind a value of which an activation may consist, nearest first."""
    names, seen, pending = activations.names(), set[Any](), [value]
    while pending and len(seen) <= _LARGEST:
        for use in pending.pop(0).uses:
            user: Any = use.operation
            if user.name in names and user not in seen:
                seen.add(user)
                pending.extend(user.results)
                yield user


def _is_all_that_reads(value: SSAValue, match: Match) -> bool:
    if match.bindings["y"] is not value:
        return False
    ops: Any = match.removable()
    return all(use.operation in ops for use in value.uses)


def _found(op: SchemaOp, spelling: Spelling, match: Match) -> Found:
    activation = spelling.activation
    numbers = [match.bindings[name] for name in activation.numbers]
    whole = Match.of(match.anchor, [*match.removable(), op], match.outputs, op._operands)
    return Found(activation, numbers, whole)


__all__ = ["Found", "MkldnnUnaryFusion", "activation_of", "numerics_of"]
