"""The base of the passes that turn calls per row into loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.dialects.builtin import ModuleOp

from xductor.transforms.editing.editor import Editor
from xductor.transforms.loops.calls_pass import CallsPass
from xductor.transforms.loops.row_loops import LoopMaker, RowLoop


@dataclass(frozen=True)
class RowLoopsPass(CallsPass):
    """Calls that run a graph for each row become loops.

    - `carries`: whether a step passes values on to the next one.
    """

    stage = "post_grad"
    writes_back = True
    carries: ClassVar[bool]

    def replaced(self, op: Any, module: ModuleOp, editor: Editor) -> bool:
        LoopMaker(module, editor).replace(RowLoop.of(op, module, self.carries))
        return True


__all__ = ["RowLoopsPass"]
