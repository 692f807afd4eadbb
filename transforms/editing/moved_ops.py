"""Ops that were moved for a replacement, and go back if it is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xductor.transforms.analysis.analyses import Analyses


class MovedOps:
    """Moves ops to just above another op, in order."""

    def __init__(self, analyses: Analyses, ops: Sequence[Any], below: Any) -> None:
        self._analyses = analyses
        self._back = [(op, op._next_op) for op in ops]
        for op in ops:
            analyses.move(op, below)

    def undo(self) -> None:
        """Put the ops back where they stood."""
        for op, below in reversed(self._back):
            self._analyses.move(op, below)


__all__ = ["MovedOps"]
