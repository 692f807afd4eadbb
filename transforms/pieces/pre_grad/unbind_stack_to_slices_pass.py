"""`unbind_stack_to_slices_pass`: stacks of rows become slices of the tensor that was cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xductor.transforms.pieces.pieces_pass import Form, Pieces
from xductor.transforms.pieces.torch_level_pieces import LongPieces


@dataclass(frozen=True)
class UnbindStackToSlicesPass(LongPieces):
    """In a stack, adjacent rows become one slice."""

    name = "unbind_stack_to_slices_pass"
    inductor = "split_cat.py:unbind_stack_to_slices"
    counter = "unbind_stack_to_slices_pass"

    def forms(self, pieces: Pieces) -> Sequence[Form]:
        if not pieces.join.stacks or not pieces.has_rows():
            return ()
        return self.if_long(pieces, ("view", "reshape", "fewer"))


__all__ = ["UnbindStackToSlicesPass"]
