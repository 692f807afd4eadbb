"""`move_view_after_cat_aten_pass`: the same view of every piece becomes one view of the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xductor.transforms.pieces.pieces_pass import Form, Pieces, PiecesPass

_VIEWS = ("aten.reshape.default", "aten.view.default", "aten._unsafe_view.default")


@dataclass(frozen=True)
class MoveViewAfterCatAtenPass(PiecesPass):
    """A cat of reshaped pieces becomes a reshape of what was cut, or of a permutation of it."""

    name = "move_view_after_cat_aten_pass"
    inductor = "split_cat.py:move_view_after_cat"
    counter = "move_view_after_cat_aten_pass"

    def forms(self, pieces: Pieces) -> Sequence[Form]:
        if pieces.join.stacks or len(pieces.join.parts) < 2:
            return ()
        return ("view", "reshape") if pieces.are_made_by(*_VIEWS) else ()


__all__ = ["MoveViewAfterCatAtenPass"]
