"""`remove_split_ops_pass`: splits with one piece that is read, or with pieces that are joined
again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.ir import SSAValue

from xductor.ir import TorchOp, aten
from xductor.ir.functions.torch_calls import aten_call, aten_name
from xductor.ir.functions.torch_spellings import spelled
from xductor.transforms.analysis.analyses import Analyses
from xductor.transforms.matching.matcher import Match
from xductor.transforms.pieces.joins import JOINS
from xductor.transforms.pieces.pieces_pass import Form, Pieces
from xductor.transforms.pieces.regions import strided
from xductor.transforms.pieces.torch_level_pieces import TorchLevelPieces
from xductor.transforms.rewriting.driver import Procedure
from xductor.transforms.rewriting.handles import value_handle
from xductor.transforms.rewriting.procedural_pass import REFUSALS

SPLITS = ("aten.split.Tensor", "aten.split_with_sizes.default", "aten.chunk.default")


@dataclass(frozen=True)
class RemoveSplitOpsPass(TorchLevelPieces):
    """A lone piece becomes a narrow; pieces that are joined in order become what was split."""

    name = "remove_split_ops_pass"
    inductor = "pre_grad.py:remove_split_ops_pass"
    roots = spelled(frozenset((*JOINS, *SPLITS)))

    @classmethod
    def may_apply(cls, graph: Any) -> bool:
        return cls.has_root(graph)

    def forms(self, pieces: Pieces) -> Sequence[Form]:
        return () if pieces.join.stacks else ("view",)

    def ops_in(self, analyses: Analyses) -> list[Any]:
        return analyses.named(spelled(frozenset((*JOINS, *SPLITS))))

    def replace_at(self, ops: Sequence[Any], procedure: Procedure) -> int:
        joined = super().replace_at(ops, procedure)
        return joined + sum(_narrow(op, procedure) for op in ops if aten_name(op) in SPLITS)


def _narrow(op: TorchOp, procedure: Procedure) -> bool:
    """Replace a split with one piece that is read."""
    read = [value for value in op.results if value.first_use is not None]
    call = aten_call(op) if op.parent is not None else None
    if call is None or len(read) != 1 or len(op.results) == 1:
        return False
    (piece,), source, dim = read, call.argument("self"), call.argument("dim")
    if not isinstance(source, SSAValue) or type(dim) is not int:
        return False
    types = [strided(value) for value in op.results]
    if any(one is None for one in types):
        return False
    sizes = [one.shape[dim] for one in types if one is not None]
    if not all(type(size) is int for size in sizes):
        return False
    start = sum(int(size) for size in sizes[: piece.index])  # type: ignore[arg-type]

    def build() -> Any:
        whole: Any = value_handle(source, procedure.state.facts)
        return aten.narrow.default(whole, dim, start, sizes[piece.index])

    try:
        procedure.replace(Match.of(op, [op], [piece], [source]), build)
    except REFUSALS as refusal:
        procedure.refuse(op, refusal)
        return False
    return True


__all__ = ["RemoveSplitOpsPass"]
