"""`select_cat_aten_pass`: a cat of rows is the tensor itself, reshaped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xductor.transforms.pieces.pieces_pass import Form, Pieces, PiecesPass


@dataclass(frozen=True)
class SelectCatAtenPass(PiecesPass):
    """A cat of results of `select` or `unbind` becomes a reshape of their operand."""

    name = "select_cat_aten_pass"
    inductor = "split_cat.py:merge_select_cat_aten"
    counter = "select_cat_aten_pass"

    def forms(self, pieces: Pieces) -> Sequence[Form]:
        if pieces.join.stacks or len(pieces.join.parts) < 2:
            return ()
        if not pieces.are_made_by("aten.select.int", "aten.unbind.int"):
            return ()
        return ("view", "reshape")


__all__ = ["SelectCatAtenPass"]
