"""`cat_of_pieces`: pieces that are joined again are read from where they were cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xductor.transforms.pieces.pieces_pass import Form, Pieces, PiecesPass


@dataclass(frozen=True)
class CatOfPieces(PiecesPass):
    """A cat or stack of pieces as a view of what was cut, or a cat of fewer and larger pieces.

    Where Inductor's pattern asks for all pieces of one `split_with_sizes`, this one takes pieces
    however they were cut: some of them, of several tensors, mixed with other operands.
    """

    name = "cat_of_pieces"

    def forms(self, pieces: Pieces) -> Sequence[Form]:
        if len(pieces.runs) == len(pieces.join.parts) > 1:
            return ()
        return ("view", "fewer")


__all__ = ["CatOfPieces"]
