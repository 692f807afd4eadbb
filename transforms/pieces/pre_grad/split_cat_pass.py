"""`split_cat_pass`: pieces that are cut and joined again take as few calls as possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xductor.transforms.pieces.pieces_pass import Form, Pieces
from xductor.transforms.pieces.torch_level_pieces import TorchLevelPieces


@dataclass(frozen=True)
class SplitCatPass(TorchLevelPieces):
    """A cat or stack of pieces, in any order and mixed with others, becomes what it reads."""

    name = "split_cat_pass"
    inductor = "split_cat.py:simplify_split_cat"
    counter = "split_cat_pass"

    def forms(self, pieces: Pieces) -> Sequence[Form]:
        return ("view", "reshape", "fewer")


__all__ = ["SplitCatPass"]
