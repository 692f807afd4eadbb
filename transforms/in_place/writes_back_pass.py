"""The base of passes that make ops write in place."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp

from xductor.ir import GraphOp
from xductor.transforms import EXACT, TypedPass, graphs_of
from xductor.transforms.analysis.analyses import analyses_of
from xductor.transforms.editing.editor import Editor
from xductor.transforms.in_place.contract import FunctionalContract, Unreadable


@dataclass(frozen=True)
class WritesBackPass(TypedPass):
    """A pass that makes ops write in place, while the graph read functionally stays the same.

    This contract is checked after every change.
    """

    stage = "post_grad"
    numerics = EXACT
    writes_back = True
    roots: ClassVar[frozenset[str]]

    def own_views(self) -> Collection[int]:
        """The positions of results instead of which the caller gets views of its own inputs."""
        return ()

    @abstractmethod
    def write(self, editor: Editor) -> int:
        """Change the editor's graph, and return the number of applications."""

    def has_work(self, module: ModuleOp) -> bool:
        return any(analyses_of(graph).has_one_of(self.roots) for graph in graphs_of(module))

    def rewrite(self, module: ModuleOp) -> int:
        return sum(self._rewrite(graph) for graph in graphs_of(module))

    def _rewrite(self, graph: GraphOp) -> int:
        """Raises what `FunctionalContract.check` raises if the pass breaks the contract."""
        with Editor(graph) as editor:
            if not editor.analyses.has_one_of(self.roots):
                return 0
            try:
                contract = FunctionalContract(graph, editor.analyses.bodies, self.own_views())
            except Unreadable:
                return 0
            applied = self.write(editor)
            if applied:
                contract.check(graph, self.name)
        return applied


__all__ = ["WritesBackPass"]
