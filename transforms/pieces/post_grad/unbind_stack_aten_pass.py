"""`unbind_stack_aten_pass`: rows that are stacked again are the tensor that was cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xductor.transforms.pieces.pieces_pass import Form, Pieces, PiecesPass


@dataclass(frozen=True)
class UnbindStackAtenPass(PiecesPass):
    """A stack, or a cat of unsqueezed rows, becomes a view of what the rows were taken from."""

    name = "unbind_stack_aten_pass"
    inductor = "split_cat.py:merge_unbind_stack_aten"
    counter = "unbind_stack_aten_pass"

    def forms(self, pieces: Pieces) -> Sequence[Form]:
        stacks = pieces.join.stacks or pieces.are_made_by("aten.unsqueeze.default")
        return ("view",) if stacks else ()


__all__ = ["UnbindStackAtenPass"]
