"""What passes ask of a graph again and again: found once, kept from pass to pass.

Whoever runs several passes on a module keeps what they find with `keep`, and says with `changed`
that a pass changed the module; MLIR's pass manager does the same with its analyses. Elsewhere
nothing is kept, since nothing tells that a graph has changed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property
from heapq import merge
from operator import itemgetter
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from xductor.ir.graph import GraphOp
from xductor.transforms.block_order import ops_of, places_of
from xductor.transforms.graphs import graphs_of
from xductor.transforms.memory import Memory
from xductor.transforms.op_effects import Bodies

MEMORY = "memory"
_KEPT = "_analyses"


class Analyses:
    """What is known of one graph; each part is found when it is first asked for."""

    def __init__(self, graph: GraphOp) -> None:
        self.graph = graph

    @cached_property
    def bodies(self) -> Bodies:
        """What the subgraphs of the module do."""
        module = self.graph.parent_op()
        return Bodies(module if isinstance(module, ModuleOp) else ModuleOp([]))

    @cached_property
    def ops(self) -> list[Any]:
        """The ops of the graph in order."""
        return ops_of(self.graph.block)

    @cached_property
    def places(self) -> dict[int, int]:
        """Where each op stands, by its identity; who changes the graph may keep it up to date."""
        return places_of(self.ops)

    @cached_property
    def by_name(self) -> dict[str, list[tuple[int, Any]]]:
        """The ops of each name with their places, in order."""
        found: dict[str, list[tuple[int, Any]]] = {}
        for numbered in enumerate(self.ops):
            name = numbered[1].name
            same = found.get(name)
            if same is None:
                found[name] = [numbered]
            else:
                same.append(numbered)
        return found

    def named(self, names: Collection[str]) -> list[Any]:
        """The ops that have one of some names, in order."""
        present = self.by_name
        if len(names) < len(present):
            lists = [present[name] for name in names if name in present]
        else:
            lists = [ops for name, ops in present.items() if name in names]
        numbered: Iterable[tuple[int, Any]] = (
            lists[0] if len(lists) == 1 else merge(*lists, key=itemgetter(0))
        )
        return [op for _, op in numbered]

    def has_one_of(self, names: frozenset[str]) -> bool:
        """Whether the graph has an op of one of some names."""
        return not names.isdisjoint(self.by_name)

    @cached_property
    def memory(self) -> Memory:
        """Storages and who reads and writes them."""
        return Memory(self.graph, self.bodies, self.ops)

    @property
    def known_memory(self) -> Memory | None:
        """The storages, if somebody has asked for them: to be told of what changes them."""
        return vars(self).get(MEMORY)

    def forget(self, preserved: Collection[str]) -> None:
        """Drop what was found, but for the parts that a pass kept up to date."""
        known = vars(self)
        for part in ("bodies", "ops", "places", "by_name", MEMORY):
            if part not in preserved:
                known.pop(part, None)


def analyses_of(graph: GraphOp) -> Analyses:
    """What is known of a graph: what is kept for it, else nothing yet."""
    kept: Analyses | None = vars(graph).get(_KEPT)
    return Analyses(graph) if kept is None else kept


def keep(module: ModuleOp) -> None:
    """From now on keep what is found of the graphs of a module; `changed` must be called."""
    for graph in graphs_of(module):
        vars(graph)[_KEPT] = Analyses(graph)


def changed(module: ModuleOp, preserved: Collection[str] = ()) -> None:
    """Forget what was kept for the graphs of a module; new graphs are kept too."""
    for graph in graphs_of(module):
        kept: Analyses | None = vars(graph).get(_KEPT)
        if kept is None:
            vars(graph)[_KEPT] = Analyses(graph)
        else:
            kept.forget(preserved)


__all__ = ["MEMORY", "Analyses", "analyses_of", "changed", "keep"]
