"""`merge_getitem_cat_pass`: neighbouring pieces that are joined again are one piece."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xductor.transforms.pieces.pieces_pass import Form, Pieces
from xductor.transforms.pieces.torch_level_pieces import TorchLevelPieces


@dataclass(frozen=True)
class MergeGetitemCatPass(TorchLevelPieces):
    """A cat of consecutive pieces of one tensor becomes one piece of it."""

    name = "merge_getitem_cat_pass"
    inductor = "split_cat.py:merge_getitem_cat"
    counter = "merge_getitem_cat_pass"

    def forms(self, pieces: Pieces) -> Sequence[Form]:
        join = pieces.join
        is_one = not join.stacks and len(join.parts) > 1 and len(pieces.runs) == 1
        return ("view",) if is_one else ()


__all__ = ["MergeGetitemCatPass"]
