"""The base of the passes that turn calls per row into loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp

from xductor.ir import entry_graph
from xductor.transforms import EXACT, TypedPass
from xductor.transforms.editing.editor import Editor
from xductor.transforms.loops.row_loops import LoopMaker, NoLoop, RowLoop
from xductor.transforms.passes.refusals import Refused


@dataclass(frozen=True)
class RowLoopsPass(TypedPass):
    """Calls in the entry graph become loops; the graphs that they run must be in the module.

    Counts the calls. A call that cannot become a loop stays; `explained` reports why.

    - `carries`: whether a step passes values on to the next one.
    """

    stage = "post_grad"
    numerics = EXACT
    writes_back = True
    reads_bodies = True
    roots: ClassVar[frozenset[str]]
    carries: ClassVar[bool]

    def rewrite(self, module: ModuleOp) -> int:
        return self._run(module, None)

    def explained(self, module: ModuleOp, refused: Refused) -> None:
        self._run(module, refused)

    def _run(self, module: ModuleOp, refused: Refused | None) -> int:
        count = 0
        with Editor(entry_graph(module)) as editor:
            maker = LoopMaker(module, editor)
            for op in editor.analyses.named(self.roots):
                try:
                    maker.replace(RowLoop.of(op, module, self.carries))
                    count += 1
                except NoLoop as error:
                    if refused is not None:
                        refused(op, str(error))
        return count


__all__ = ["RowLoopsPass"]
