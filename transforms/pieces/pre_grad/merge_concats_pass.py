"""`merge_concats_pass`: a cat of cats along the same dim is one cat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.ir import OpResult, SSAValue

from xductor.ir import TorchOp, aten
from xductor.ir.functions.torch_spellings import spelled
from xductor.transforms import EXACT
from xductor.transforms.matching.matcher import Match
from xductor.transforms.pieces.joins import Join, join_of
from xductor.transforms.rewriting.driver import Procedure
from xductor.transforms.rewriting.handles import value_handle
from xductor.transforms.rewriting.procedural_pass import REFUSALS, ProceduralPass


@dataclass(frozen=True)
class MergeConcatsPass(ProceduralPass):
    """A cat with parts that are cats read by nothing else becomes one cat of all parts."""

    name = "merge_concats_pass"
    stage = "pre_grad"
    inductor = "pre_grad.py:merge_concats_pass"
    numerics = EXACT
    roots = spelled(frozenset(("aten.cat.default",)))

    def replace_at(self, ops: Sequence[Any], procedure: Procedure) -> int:
        return sum(_merge(op, procedure) for op in ops if op.parent is not None)


def _merge(op: TorchOp, procedure: Procedure) -> bool:
    join = join_of(op)
    if join is None or join.stacks:
        return False
    inner: list[TorchOp] = []
    parts = list(_flat(join, inner))
    if not inner:
        return False

    def build() -> Any:
        return aten.cat([value_handle(part, procedure.state.facts) for part in parts], join.dim)

    try:
        procedure.replace(Match.of(op, [op, *inner], op.results, parts), build)
    except REFUSALS as refusal:
        procedure.refuse(op, refusal)
        return False
    return True


def _flat(join: Join, inner: list[TorchOp]) -> Sequence[SSAValue]:
    """The parts of a cat, with each cat that only it reads replaced by the parts of that cat."""
    found: list[SSAValue] = []
    for part in join.parts:
        below = join_of(part.op) if isinstance(part, OpResult) and _is_read_once(part) else None
        if below is not None and _goes_on(below, join):
            inner.append(below.op)
            found += _flat(below, inner)
        else:
            found.append(part)
    return found


def _goes_on(below: Join, join: Join) -> bool:
    """Whether a part is a cat along the same dim that is not cast."""
    same = below.dim == join.dim and below.type.dtype is join.type.dtype
    return same and not below.stacks


def _is_read_once(value: SSAValue) -> bool:
    return len(list(value.uses)) == 1


__all__ = ["MergeConcatsPass"]
