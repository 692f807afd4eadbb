"""The base of the passes that replace calls of graphs, such as loops and branches."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.dialects.builtin import ModuleOp

from xductor.ir import entry_graph
from xductor.transforms import EXACT, TypedPass
from xductor.transforms.editing.editor import Editor
from xductor.transforms.loops.stays import Stays
from xductor.transforms.passes.refusals import Refused


@dataclass(frozen=True)
class CallsPass(TypedPass):
    """Calls in the entry graph are replaced; the graphs that they run must be in the module.

    Counts the calls that are replaced. `explained` reports why another one stays.
    """

    numerics = EXACT
    reads_bodies = True
    roots: ClassVar[frozenset[str]]

    def rewrite(self, module: ModuleOp) -> int:
        return self._run(module, None)

    def explained(self, module: ModuleOp, refused: Refused) -> None:
        self._run(module, refused)

    def _run(self, module: ModuleOp, refused: Refused | None) -> int:
        count = 0
        with Editor(entry_graph(module)) as editor:
            for op in editor.analyses.named(self.roots):
                try:
                    count += self.replaced(op, module, editor)
                except Stays as error:
                    if refused is not None:
                        refused(op, str(error))
        return count

    @abstractmethod
    def replaced(self, op: Any, module: ModuleOp, editor: Editor) -> bool:
        """Replace a call; False if its debug counter says no.

        Raises Stays if it cannot be replaced; the graph is then unchanged.
        """


__all__ = ["CallsPass"]
