"""The base of passes that look at each op of some names, and replace what they find there."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from xductor.ir import GraphOp, InferenceEnv
from xductor.ir.inference.ambient_modes import UnknownMode
from xductor.transforms.analysis.analyses import ORDER, Analyses, analyses_of
from xductor.transforms.analysis.graphs import graphs_of
from xductor.transforms.passes.refusals import Refused
from xductor.transforms.passes.typed_pass import TypedPass
from xductor.transforms.rewriting.building import Unbuildable
from xductor.transforms.rewriting.contracts import Declined
from xductor.transforms.rewriting.driver import Procedure
from xductor.transforms.rewriting.graph_state import GraphState

#: What `Procedure.replace` raises where the graph does not allow a replacement.
REFUSALS = (Declined, Unbuildable, UnknownMode)


@dataclass(frozen=True)
class ProceduralPass(TypedPass):
    """A pass that replaces what it finds at the ops of some names, under the contracts of rewrites.

    Subclasses implement `replace_at`; those whose roots are not names of ops, or that want some
    number of ops, override `ops_in`.
    """

    preserves = frozenset((ORDER,))

    @abstractmethod
    def replace_at(self, ops: Sequence[Any], procedure: Procedure) -> int:
        """Replace what is found at `ops`, in order; returns the number of applications."""

    def ops_in(self, analyses: Analyses) -> list[Any]:
        """The ops of a graph to look at; it is left alone if there are none."""
        names: Any = self.roots
        return analyses.named(names)

    def has_work(self, module: ModuleOp) -> bool:
        return any(self.ops_in(analyses_of(graph)) for graph in graphs_of(module))

    def rewrite(self, module: ModuleOp) -> int:
        return sum(self._rewrite(graph, None) for graph in graphs_of(module))

    def explained(self, module: ModuleOp, refused: Refused) -> None:
        for graph in graphs_of(module):
            self._rewrite(graph, refused)

    def _rewrite(self, graph: GraphOp, refused: Refused | None) -> int:
        analyses = analyses_of(graph)
        ops = self.ops_in(analyses)
        if not ops:
            return 0
        with InferenceEnv.of(graph) as env:
            draws_anew = "draws" in self.permits
            state = GraphState(graph, analyses.bodies, env, analyses, draws_anew=draws_anew)
            return self.replace_at(ops, Procedure(self.name, state, self.permits, refused))


__all__ = ["REFUSALS", "ProceduralPass"]
