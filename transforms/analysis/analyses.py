"""Analyses that passes ask of a graph again and again: computed once, kept from pass to pass.

Whoever runs several passes on a module turns this on with `keep`, and reports with `changed` that
a pass changed the module, much as MLIR's pass manager preserves its analyses. Elsewhere nothing is
kept, since nothing tells that a graph has changed.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Collection
from functools import cached_property
from itertools import chain
from typing import Any, TypeVar

from xdsl.dialects.builtin import ModuleOp

from xductor.ir import GraphOp
from xductor.transforms.analysis.block_order import Order, erase_unused, ops_of
from xductor.transforms.analysis.dependence import reaches
from xductor.transforms.analysis.effect_order import events
from xductor.transforms.analysis.graphs import graphs_of
from xductor.transforms.analysis.memory import Memory
from xductor.transforms.analysis.op_effects import Bodies, never_writes, written_operands

#: Preserved by a pass that tells `memory` which value stands for which, and what it inserts where.
MEMORY = "memory"
#: Preserved by a pass that changes a graph only by `insert`, `erase` and `move` of its analyses.
ORDER = "order"
_PARTS = {ORDER: ("ops", "order", "by_name")}
_KEPT = "_analyses"

Found = TypeVar("Found")


class Analyses:
    """What is known of one graph; each part is computed when it is first asked for."""

    def __init__(self, graph: GraphOp) -> None:
        self.graph = graph

    @cached_property
    def bodies(self) -> Bodies:
        """The effects of the module's subgraphs."""
        module = self.graph.parent_op()
        return Bodies(module if isinstance(module, ModuleOp) else ModuleOp([]))

    @cached_property
    def ops(self) -> list[Any]:
        """The ops of the graph in order."""
        return ops_of(self.graph.block)

    @cached_property
    def order(self) -> Order:
        """The positions of the ops."""
        return Order(self.graph.block, self.ops)

    @cached_property
    def by_name(self) -> dict[str, list[Any]]:
        """The ops of each name, in order."""
        found: dict[str, list[Any]] = {}
        for op in self.ops:
            same = found.get(op.name)
            if same is None:
                found[op.name] = [op]
            else:
                same.append(op)
        return found

    @cached_property
    def names(self) -> Counter[str]:
        """How many ops have each name, where nobody has asked yet which they are."""
        found: Counter[str] = Counter()
        for cls, count in Counter(map(type, self.ops)).items():
            found[cls.name] += count
        return found

    def named(self, names: Collection[str]) -> list[Any]:
        """The ops whose name is one of `names`, in order."""
        present = self.by_name
        if len(names) < len(present):
            lists = [present[name] for name in names if name in present]
        else:
            lists = [ops for name, ops in present.items() if name in names]
        if len(lists) == 1:
            return lists[0].copy()
        return sorted(chain.from_iterable(lists), key=self.order.key) if lists else []

    def has_one_of(self, names: frozenset[str]) -> bool:
        """Whether the graph has an op whose name is one of `names`."""
        present = self.by_name if "by_name" in vars(self) else self.names
        return not names.isdisjoint(present)

    def reaches(self, one: Any, other: Any) -> bool:
        """Whether an op depends on another, `one`, by values; for passes with several anchors."""
        return reaches(one, other, self.order)

    def find_writes(self) -> list[Any]:
        """The ops that may write to an operand, in order."""
        names = [name for name, (one, *_) in self.by_name.items() if not never_writes(type(one))]
        return [op for op in self.named(names) if len(written_operands(op, self.bodies)) > 0]

    @cached_property
    def memory(self) -> Memory:
        """Storages, and who reads and writes them."""
        return Memory(self.graph, self.bodies, self.ops)

    @cached_property
    def events(self) -> list[Any]:
        """The ops whose relative order can be observed, in order."""
        return events(self.ops, self.bodies)

    @property
    def known_memory(self) -> Memory | None:
        """The storages if they have been computed, so that they can be kept up to date."""
        return vars(self).get(MEMORY)

    def find(self, part: str, make: Callable[[], Found]) -> Found:
        """A pass's own analysis called `part`, made by `make` when it is first asked for."""
        known = vars(self)
        if part not in known:
            known[part] = make()
        return known[part]

    def insert(self, made: Any, op: Any) -> None:
        """Insert a new op right before another, keeping `ORDER` up to date."""
        self.graph.block.insert_op_before(made, op)
        known = vars(self)
        for part in ("ops", "events"):
            known.pop(part, None)
        if "names" in known:
            self.names[made.name] += 1
        if "order" in known:
            self.order.insert(made, op)
        if "by_name" in known:
            insort(self.by_name.setdefault(made.name, []), made, key=self.order.key)

    def erase(self, op: Any) -> None:
        """Erase an op, keeping `ORDER` up to date."""
        known = vars(self)
        for part in ("ops", "events"):
            known.pop(part, None)
        if "names" in known:
            self.names[op.name] -= 1
            if not self.names[op.name]:
                del self.names[op.name]
        if "by_name" in known:
            same = self.by_name[op.name]
            if len(same) == 1:
                del self.by_name[op.name]
            else:
                key = self.order.key
                del same[bisect_left(same, key(op), key=key)]
        if "order" in known:
            self.order.forget(op)
        erase_unused(op)

    def move(self, op: Any, above: Any) -> None:
        """Move an op of the graph right before another, keeping `ORDER` up to date."""
        known = vars(self)
        known.pop("ops", None)
        known.pop("events", None)
        if "by_name" in known:
            key = self.order.key
            same = self.by_name[op.name]
            del same[bisect_left(same, key(op), key=key)]
        if "order" in known:
            self.order.forget(op)
        op.detach()
        self.graph.block.insert_op_before(op, above)
        if "order" in known:
            self.order.insert(op, above)
        if "by_name" in known:
            insort(self.by_name[op.name], op, key=self.order.key)

    def forget(self, preserved: Collection[str]) -> None:
        """Drop what was computed, except the parts that a pass kept up to date."""
        known = vars(self)
        kept = {"graph", *chain.from_iterable(_PARTS.get(one, (one,)) for one in preserved)}
        for part in known.keys() - kept:
            del known[part]


def analyses_of(graph: GraphOp) -> Analyses:
    """What is known of a graph: what is kept for it, or else nothing yet."""
    kept: Analyses | None = vars(graph).get(_KEPT)
    return Analyses(graph) if kept is None else kept


def keep(module: ModuleOp) -> None:
    """From now on keep analyses of the graphs of a module; `changed` must be called."""
    for graph in graphs_of(module):
        vars(graph)[_KEPT] = Analyses(graph)


def changed(module: ModuleOp, preserved: Collection[str] = ()) -> None:
    """Forget what was kept for the graphs of a module; start keeping it for new graphs."""
    for graph in graphs_of(module):
        kept: Analyses | None = vars(graph).get(_KEPT)
        if kept is None:
            vars(graph)[_KEPT] = Analyses(graph)
        else:
            kept.forget(preserved)


__all__ = ["MEMORY", "ORDER", "Analyses", "analyses_of", "changed", "keep"]
