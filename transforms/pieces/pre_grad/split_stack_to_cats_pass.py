"""`split_stack_to_cats_pass`: long stacks of pieces become cats of slices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xductor.transforms.pieces.pieces_pass import Form, Pieces
from xductor.transforms.pieces.torch_level_pieces import LongPieces


@dataclass(frozen=True)
class SplitStackToCatsPass(LongPieces):
    """In a stack, adjacent pieces become one reshaped slice."""

    name = "split_stack_to_cats_pass"
    inductor = "split_cat.py:split_stack_to_cats"
    counter = "split_stack_to_cats_pass"

    def forms(self, pieces: Pieces) -> Sequence[Form]:
        return self.if_long(pieces, ("view", "reshape", "fewer")) if pieces.join.stacks else ()


__all__ = ["SplitStackToCatsPass"]
