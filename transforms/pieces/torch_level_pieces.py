"""What the passes over joins of pieces before autograd share."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from torch.fx import Graph, Node

from xductor.ir import op_class_by_name
from xductor.ir.functions.torch_spellings import spelled
from xductor.transforms.pieces.joins import JOINS, Run
from xductor.transforms.pieces.pieces_pass import Form, Pieces, PiecesPass
from xductor.transforms.pieces.regions import KEEP_ORDER

# Ops that cut a tensor and give one piece. Where they give a list, a getitem takes each piece.
CUTS = frozenset(
    {"aten.select.int", "aten.slice.Tensor", "aten.narrow.default", "aten.diagonal.default",
     "aten.transpose.int", "aten.permute.default", "aten.t.default"}
)  # fmt: skip


@dataclass(frozen=True)
class TorchLevelPieces(PiecesPass):
    """Cats and stacks of pieces before autograd, however they are spelled."""

    stage = "pre_grad"
    roots = spelled(JOINS)

    @classmethod
    def may_apply(cls, graph: Graph) -> bool:
        """Whether a join of the graph has a part that may be a piece."""
        return any(
            _is_cut(part)
            for kind, target in _keys(frozenset(JOINS))
            for node in graph.find_nodes(op=kind, target=target, sort=False)
            for part in node.all_input_nodes
        )


@dataclass(frozen=True)
class LongPieces(TorchLevelPieces):
    """Long cats and stacks of pieces before autograd, however they are spelled.

    - `threshold_to_cat`: the fewest pieces of a run that becomes one where it is not all of what
      was cut.
    """

    threshold_to_cat: int = 10

    def wants(self, run: Run) -> bool:
        return len(run.parts) >= self.threshold_to_cat or run.is_all_of_one

    def if_long(self, pieces: Pieces, forms: Sequence[Form]) -> Sequence[Form]:
        """The forms that a join may take: all if it is long or complete, else `fewer` alone."""
        if all(self.wants(run) for run in pieces.runs) or self._is_long(pieces):
            return forms
        return tuple([one for one in forms if one == "fewer"])

    def _is_long(self, pieces: Pieces) -> bool:
        return pieces.whole is not None and len(pieces.join.parts) >= self.threshold_to_cat


def _is_cut(node: Node) -> bool:
    if node.target is operator.getitem:
        return True
    return (node.op, node.target) in _keys(CUTS | KEEP_ORDER)


@cache
def _keys(names: frozenset[str]) -> frozenset[tuple[str, Any]]:
    """Op and target of nodes that may be calls of the given overloads."""
    classes = [op_class_by_name(name) for name in spelled(names)]
    return frozenset((cls.fx_op, cls.target) for cls in classes)


__all__ = ["CUTS", "LongPieces", "TorchLevelPieces"]
