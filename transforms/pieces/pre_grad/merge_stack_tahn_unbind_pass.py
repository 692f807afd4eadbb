"""`merge_stack_tahn_unbind_pass`: tanh of stacked pieces, unbound again, as pieces of one tanh.

Inductor has the misspelled name with an empty table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.ir import OpResult

from xductor.ir import TensorType, TorchOp, aten
from xductor.ir.dialect.types import contiguous_strides
from xductor.ir.functions.torch_calls import AtenCall, aten_call
from xductor.ir.functions.torch_spellings import spelled
from xductor.ir.symbolic.expressions import add
from xductor.transforms.matching.matcher import Match
from xductor.transforms.passes.numerics import REASSOCIATES
from xductor.transforms.pieces.building import Reader
from xductor.transforms.pieces.joined_reads import JoinedReads
from xductor.transforms.pieces.joins import Join, Run, join_of, runs_of
from xductor.transforms.pieces.regions import strided
from xductor.transforms.rewriting.driver import Procedure
from xductor.transforms.rewriting.handles import Tensor
from xductor.transforms.rewriting.procedural_pass import REFUSALS, ProceduralPass

UNBIND = frozenset(("aten.unbind.int",))


@dataclass(frozen=True)
class MergeStackTahnUnbindPass(ProceduralPass):
    """tanh of a stack of adjacent pieces becomes tanh of the tensor that they are pieces of.

    The last bits may differ: where an element lies decides whether eager uses vector code for it.
    """

    name = "merge_stack_tahn_unbind_pass"
    stage = "pre_grad"
    inductor = "split_cat.py:PRE_GRAD_PATTERNS[merge_stack_tahn_unbind_pass]"
    numerics = REASSOCIATES
    counter = "merge_stack_tahn_unbind_pass"
    roots = spelled(UNBIND)

    def replace_at(self, ops: Sequence[Any], procedure: Procedure) -> int:
        reads = JoinedReads(procedure.state)
        applied = 0
        for op in ops:
            try:
                if op.parent is not None and _replace(op, procedure, reads):
                    reads.regions.forget()
                    applied += 1
            except REFUSALS as refusal:
                procedure.refuse(op, refusal)
        return applied


def _replace(op: TorchOp, procedure: Procedure, reads: JoinedReads) -> bool:
    """Replace the results of an unbind of tanh of a stack along the same dim."""
    unbind = aten_call(op)
    tanh = None if unbind is None else _made_for(unbind.argument("self"), "aten.tanh.default")
    stack = None if tanh is None else _made_for(tanh.argument("self"), "aten.stack.default")
    join = None if stack is None else join_of(stack.op)
    if unbind is None or tanh is None or join is None:
        return False
    dim = unbind.argument("dim")
    if type(dim) is not int or dim % join.type.rank != join.dim:
        return False
    found = _neighbours(join, reads)
    if found is None:
        return False
    beside, run = found
    source = run.source
    way = None if source is None else reads.way(source, beside.type.shape, beside.parts)
    if source is None or way is None:
        return False
    reads.check_types(beside)
    reads.check_modes(beside, source.copies)
    reader = Reader(reads.facts)

    def build() -> list[Any]:
        whole = aten.tanh(reader.build(way, source.reading))
        sizes = [
            Tensor(part.type, reads.facts).shape[beside.dim]  # type: ignore[arg-type]
            for part in beside.parts
        ]
        return list(aten.split_with_sizes(whole, sizes, beside.dim))

    matched = [op, tanh.op, join.op]
    procedure.replace(Match.of(op, matched, op.results, join.parts, source.copies), build)
    return True


def _made_for(value: Any, name: str) -> AtenCall | None:
    """The call of an operator that makes a value with one reader; None for anything else."""
    if not isinstance(value, OpResult) or len(list(value.uses)) != 1:
        return None
    call = aten_call(value.op)
    return call if call is not None and call.name == name else None


def _neighbours(join: Join, reads: JoinedReads) -> tuple[Join, Run] | None:
    """The stack as a cat along the dim in which its parts are adjacent."""
    types = [strided(part) for part in join.parts]
    first = types[0]
    if first is None or len(types) < 2:
        return None
    for dim in range(first.rank):
        beside = _beside(join, [one for one in types if one is not None], dim)
        runs = runs_of(beside, reads.regions)
        if len(runs) == 1:
            return beside, runs[0]
    return None


def _beside(join: Join, types: Sequence[TensorType], dim: int) -> Join:
    size = types[0].shape[dim]
    for one in types[1:]:
        size = add(size, one.shape[dim])
    shape = (*types[0].shape[:dim], size, *types[0].shape[dim + 1 :])
    data = types[0].data._replace(shape=shape, stride=contiguous_strides(shape), offset=0)
    return Join(join.op, join.parts, dim, TensorType(data), False)


__all__ = ["MergeStackTahnUnbindPass"]
