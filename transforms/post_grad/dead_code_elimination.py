"""`dead_code_elimination`: erases ops that have no effect and whose results are unused."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from torch.fx import Graph, Node
from xdsl.dialects.builtin import ModuleOp

from xductor.ir import GetAttrOp, GraphOp, NodeMeta, OutputOp, SymExpr, TorchOp
from xductor.ir.dialect.arguments import leaves
from xductor.ir.dialect.types import symbols_of
from xductor.ir.effects.target_effects import (
    has_subgraph_effects,
    is_removable_call,
    target_effects,
)
from xductor.transforms import EXACT, TypedPass, graphs_of
from xductor.transforms.analysis.op_effects import Bodies, arguments_of, subgraphs_of
from xductor.transforms.passes.applications import applied
from xductor.transforms.passes.debug_counters import should_apply


@dataclass(frozen=True)
class DeadCodeElimination(TypedPass):
    """Erase ops that are known to do nothing but compute unused results.

    An op stays if it writes, draws random numbers (see below), asserts, communicates, changes a
    mode, is registered as having an effect, or is unknown. So does the op that binds an unbacked
    symbol, if a type below it or a fact about another symbol mentions that symbol.

    - `fallback_random`: random numbers must equal those of eager mode, so unused draws stay.
    """

    name = "dead_code_elimination"
    stage = "post_grad"
    inductor = "../../fx/graph.py:Graph.eliminate_dead_code"
    numerics = EXACT

    fallback_random: bool = False

    @classmethod
    def may_apply(cls, graph: Graph) -> bool:
        """Whether some node has no users, and FX does not consider it impure."""
        return any(
            not node.users and node.op not in _NEVER_DEAD and not _is_impure(node)
            for node in graph.nodes
        )

    def rewrite(self, module: ModuleOp) -> int:
        bodies = Bodies(module)
        return sum(self._rewrite(graph, bodies) for graph in graphs_of(module))

    def _rewrite(self, graph: GraphOp, bodies: Bodies) -> int:
        removed = 0
        block = graph.block
        unbacked = _Unbacked(graph)
        for op in reversed(block.ops):
            assert isinstance(op, TorchOp)
            if any(result.first_use is not None for result in op.results):
                removed += _forget_items(op)
            elif (
                self._is_removable(op, bodies)
                and not unbacked.is_needed(op)
                and should_apply(self.name)
            ):
                applied(op)
                block.erase_op(op)
                removed += 1
                continue
            unbacked.see(op)
        return removed

    def _is_removable(self, op: TorchOp, bodies: Bodies) -> bool:
        if type(op) is GetAttrOp:
            return True
        if type(op) is OutputOp or op.fx_op == "call_module":
            return False
        if not is_removable_call(
            op.target,
            impure=op.node.origin is not None and _is_impure(op.node.origin),
            fallback_random=self.fallback_random,
            arguments=arguments_of(op),
        ):
            return False
        if not has_subgraph_effects(op.target) and not subgraphs_of(op):
            return True
        if bodies.declared(op):
            # The body is not in this module, so FX's own verdict counts, if there is a node.
            return op.node.origin is not None
        return bodies.effects(op).removable(self.fallback_random)


def _forget_items(op: TorchOp) -> int:
    """Drop the unused `getitem` nodes of a call's results; return their number.

    They are not ops in the IR: a result has a name if FX has a node for it.
    """
    meta = op.node
    if meta.getitems is None or len(meta.getitems) == 0:
        return 0
    dead = {
        slot: items
        for slot, items in meta.getitems.items()
        if slot >= 0 and op.results[slot].first_use is None
    }
    if not dead:
        return 0
    fields = {key: value for key, value in vars(meta).items() if key != "data"}
    fields["getitems"] = {slot: items for slot, items in meta.getitems.items() if slot not in dead}
    names = tuple("" if slot in dead else name for slot, name in enumerate(meta.names))
    op.attributes["node"] = NodeMeta(names, **fields)
    return sum(len(items) for items in dead.values())


_NEVER_DEAD = frozenset(("placeholder", "output"))


def _is_impure(node: Node) -> bool:
    """Whether FX considers a node impure, not counting random draws."""
    if _knows_random():
        return node.is_impure(impure_random=False)
    return node.is_impure() and not target_effects(node.target).rng


@cache
def _knows_random() -> bool:
    return "impure_random" in inspect.signature(Node.is_impure).parameters


class _Unbacked:
    """The unbacked symbols that remaining ops need, as the graph is walked from its end."""

    def __init__(self, graph: GraphOp) -> None:
        table = graph.symbols.data
        self.names = frozenset(name for name, info in table.items() if not info.backed)
        self.needed: set[str] = set()
        if self.names:
            facts: list[Any] = list(table.replacements.values())
            for info in table.values():
                facts += [info.lower, info.upper]
            self.needed.update(_symbols_in(facts))

    def see(self, op: TorchOp) -> None:
        """Note the symbols that a remaining op mentions."""
        if not self.names:
            return
        for result in op.results:
            self.needed |= symbols_of(result._type)
        self.needed.update(_symbols_in(leaves(op.args.data)))

    def is_needed(self, op: TorchOp) -> bool:
        """Whether an op binds a symbol that is needed below."""
        if not self.names:
            return False
        return not self.needed.isdisjoint(self._bound_by(op))

    def _bound_by(self, op: TorchOp) -> Iterator[str]:
        """The symbols that the op is recorded to bind; without a record, all those in its types."""
        text = op.node.text_items().get("unbacked_bindings")
        if text:
            for part in text.split(", "):
                yield part.partition(" = ")[0].strip()
            return
        for result in op.results:
            yield from symbols_of(result._type) & self.names


def _symbols_in(items: Any) -> Iterator[str]:
    for item in items:
        if type(item) is SymExpr:
            yield from item.symbols
