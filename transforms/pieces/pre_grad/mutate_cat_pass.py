"""`mutate_cat_pass`: pieces that are joined in order are what was cut, or a slice of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xductor.transforms.pieces.pieces_pass import Form, Pieces
from xductor.transforms.pieces.torch_level_pieces import TorchLevelPieces


@dataclass(frozen=True)
class MutateCatPass(TorchLevelPieces):
    """A cat of consecutive pieces of one tensor becomes that tensor or a slice of it."""

    name = "mutate_cat_pass"
    inductor = "split_cat.py:mutate_cat_node"
    counter = "mutate_cat_pass"

    def forms(self, pieces: Pieces) -> Sequence[Form]:
        return () if pieces.join.stacks or len(pieces.runs) > 1 else ("view",)


__all__ = ["MutateCatPass"]
