"""`split_cat_aten_pass`: long cats of pieces become cats of slices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xductor.transforms.pieces.joins import Run
from xductor.transforms.pieces.pieces_pass import Form, Pieces, PiecesPass


@dataclass(frozen=True)
class SplitCatAtenPass(PiecesPass):
    """In a cat of many parts, adjacent pieces become one slice.

    - `threshold_to_cat`: the fewest parts of a cat, and the fewest pieces of a run that becomes
      one where it is not all of what was cut.
    """

    name = "split_cat_aten_pass"
    inductor = "split_cat.py:merge_split_cat_aten"
    counter = "split_cat_aten_pass"

    threshold_to_cat: int = 10

    def forms(self, pieces: Pieces) -> Sequence[Form]:
        if pieces.join.stacks or len(pieces.join.parts) < self.threshold_to_cat:
            return ()
        if len(pieces.runs) == 1 and not self.wants(pieces.runs[0]):
            return ()
        return ("view", "fewer")

    def wants(self, run: Run) -> bool:
        return len(run.parts) >= self.threshold_to_cat or run.is_all_of_one


__all__ = ["SplitCatAtenPass"]
