"""`unbind_cat_to_view_pass`: a cat of rows is a view of the tensor that was cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xductor.transforms.pieces.pieces_pass import Form, Pieces
from xductor.transforms.pieces.torch_level_pieces import LongPieces


@dataclass(frozen=True)
class UnbindCatToViewPass(LongPieces):
    """In a cat, adjacent rows become one view."""

    name = "unbind_cat_to_view_pass"
    inductor = "split_cat.py:unbind_cat_to_view"
    counter = "unbind_cat_to_view_pass"

    def forms(self, pieces: Pieces) -> Sequence[Form]:
        if pieces.join.stacks or not pieces.has_rows():
            return ()
        return self.if_long(pieces, ("view", "reshape", "fewer"))


__all__ = ["UnbindCatToViewPass"]
