"""`split_cat_to_slices_pass`: long cats of pieces become cats of slices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xductor.transforms.pieces.pieces_pass import Form, Pieces
from xductor.transforms.pieces.torch_level_pieces import LongPieces


@dataclass(frozen=True)
class SplitCatToSlicesPass(LongPieces):
    """In a cat, adjacent pieces become one slice."""

    name = "split_cat_to_slices_pass"
    inductor = "split_cat.py:split_cat_to_slices"
    counter = "split_cat_to_slices_pass"

    def forms(self, pieces: Pieces) -> Sequence[Form]:
        return () if pieces.join.stacks else self.if_long(pieces, ("view", "fewer"))


__all__ = ["SplitCatToSlicesPass"]
