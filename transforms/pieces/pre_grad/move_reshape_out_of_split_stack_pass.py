"""`move_reshape_out_of_split_stack_pass`: pieces that are reshaped and stacked are one reshape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xductor.transforms.pieces.pieces_pass import Form, Pieces
from xductor.transforms.pieces.torch_level_pieces import LongPieces

RESHAPES = (
    "aten.reshape.default",
    "aten.reshape_as.default",
    "aten.view.default",
    "aten.view_as.default",
    "aten.flatten.using_ints",
    "aten.ravel.default",
    "aten.unflatten.int",
)


@dataclass(frozen=True)
class MoveReshapeOutOfSplitStackPass(LongPieces):
    """A stack of reshaped pieces becomes a reshape of the whole tensor."""

    name = "move_reshape_out_of_split_stack_pass"
    inductor = "split_cat.py:move_reshape_out_of_split_stack"
    counter = "move_reshape_out_of_split_stack_pass"

    def forms(self, pieces: Pieces) -> Sequence[Form]:
        if not pieces.join.stacks or not pieces.has_one_made_by(*RESHAPES):
            return ()
        return self.if_long(pieces, ("view", "reshape", "fewer"))


__all__ = ["MoveReshapeOutOfSplitStackPass"]
