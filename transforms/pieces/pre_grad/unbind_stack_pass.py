"""`unbind_stack_pass`: rows that are joined again are the tensor that was cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xductor.transforms.pieces.pieces_pass import Form, Pieces
from xductor.transforms.pieces.torch_level_pieces import TorchLevelPieces


@dataclass(frozen=True)
class UnbindStackPass(TorchLevelPieces):
    """A cat or stack of rows becomes what it reads of the tensor that they are rows of."""

    name = "unbind_stack_pass"
    inductor = "split_cat.py:merge_unbind_stack"
    counter = "unbind_stack_pass"

    def forms(self, pieces: Pieces) -> Sequence[Form]:
        return ("view", "reshape", "fewer") if pieces.join.stacks or pieces.are_rows() else ()


__all__ = ["UnbindStackPass"]
