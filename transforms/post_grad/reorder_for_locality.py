"""`reorder_for_locality`: moves each op to just before its first use."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

from torch.fx import Graph, Node
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult

from xductor.ir import GraphOp, TorchOp
from xductor.ir.effects.effects import PURE, Effects
from xductor.transforms import EXACT, TypedPass, graphs_of
from xductor.transforms.analysis.block_order import arrange, ops_of
from xductor.transforms.analysis.effect_order import Silence
from xductor.transforms.analysis.op_effects import (
    Bodies,
    effects_of,
    subgraphs_of,
    written_operands,
)
from xductor.transforms.passes.debug_counters import should_apply

_COPY = "aten.copy_.default"
_WAIT = "_c10d_functional.wait_tensor.default"


@dataclass(frozen=True)
class ReorderForLocality(TypedPass):
    """Move ops down to just before their first use, from the end of the graph to its start.

    An op stays if it writes, draws random numbers, communicates, binds an unbacked symbol or has
    any other effect; but the wait for a collective moves to where its result is needed. Nothing
    moves past an op that writes, or within the epilogue that copies into inputs. A collective does
    not move towards its wait, since that could reorder collectives.

    Counts the graphs whose order changed.
    """

    name = "reorder_for_locality"
    stage = "post_grad"
    inductor = "post_grad.py:reorder_for_locality"
    numerics = EXACT

    @classmethod
    def may_apply(cls, graph: Graph) -> bool:
        """Whether some call is not right before its first use."""
        seen: set[Node] = set()
        for node in reversed(graph.nodes):
            seen.add(node)
            expected = node.prev
            for used in reversed(node.all_input_nodes):
                if used.op != "call_function" or used.target is operator.getitem:
                    continue
                if used is expected:
                    expected = used.prev
                elif seen.issuperset(used.users):
                    return True
        return False

    def rewrite(self, module: ModuleOp) -> int:
        bodies = Bodies(module)
        return sum(_reorder(graph, bodies) for graph in graphs_of(module))


def _reorder(graph: GraphOp, bodies: Bodies) -> int:
    before = ops_of(graph.block)
    order = _Order(before, _Movable(graph, before, bodies))
    after = [before[place] for place in order.run()]
    if after == before or not should_apply(ReorderForLocality.name):
        return 0
    arrange(graph.block, after)
    return 1


class _Order:
    """The ops by their places: a list that is linked backwards, and walked from its end."""

    def __init__(self, ops: list[Any], movable: _Movable) -> None:
        self.ops = ops
        self.movable = movable
        self.place = {id(op): place for place, op in enumerate(ops)}
        self.previous = list(range(-1, len(ops) - 1))
        self.following = list(range(1, len(ops) + 1))
        self.seen = bytearray(len(ops))

    def run(self) -> list[int]:
        """The places of the ops in their new order."""
        first_copy = next((place for place, op in enumerate(self.ops) if op.name == _COPY), None)
        in_epilogue = first_copy is not None
        order: list[int] = []
        place = len(self.ops) - 1
        while place >= 0:
            self.seen[place] = 1
            if in_epilogue:
                in_epilogue = place != first_copy
            else:
                self.bring(place)
            order.append(place)
            place = self.previous[place]
        order.reverse()
        return order

    def bring(self, place: int) -> None:
        """Move what an op needs to right before it."""
        previous, following = self.previous, self.following
        brought: list[int] = []
        for operand in self.ops[place]._operands:
            used = self.place.get(id(operand.op)) if type(operand) is OpResult else None
            if used is None or used in brought:
                continue
            brought.append(used)
            if not self.movable.between(used, place) or not self.is_seen(operand):
                continue
            before, after = previous[used], following[used]
            if after == place:
                continue
            if before >= 0:
                following[before] = after
            previous[after] = before
            neighbour = previous[place]
            previous[used], following[used] = neighbour, place
            previous[place] = used
            if neighbour >= 0:
                following[neighbour] = used

    def is_seen(self, value: Any) -> bool:
        """Whether all users of a value have been passed."""
        use = value.first_use
        while use is not None:
            if not self.seen[self.place[id(use.operation)]]:
                return False
            use = use._next_use
        return True


class _Movable:
    """Which ops may move, and how far."""

    def __init__(self, graph: GraphOp, ops: list[Any], bodies: Bodies) -> None:
        table = graph.symbols.data
        self._unbacked = frozenset(name for name, info in table.items() if not info.backed)
        self._bodies = bodies
        self._region: list[int] = []
        self._fixed: list[bool] = []
        self._waits = [op.name == _WAIT for op in ops]
        silence, region = Silence(), 0
        for op in ops:
            silent = silence.of(type(op))
            effects = PURE if silent else effects_of(op)
            if not silent and (effects.unknown or effects.mode or written_operands(op, bodies)):
                region += 1
            self._region.append(region)
            self._fixed.append(self._is_fixed(op, effects))

    def _is_fixed(self, op: TorchOp, effects: Effects) -> bool:
        if op.fx_op != "call_function" or op.tuple_valued or len(op.results) != 1:
            return True
        if op.name == _WAIT:
            return False
        if not effects.silent:
            return True
        if subgraphs_of(op) and not self._bodies.effects(op).pure:
            return True
        return bool(self._unbacked) and "unbacked_bindings" in op.node.text_items()

    def between(self, op: int, user: int) -> bool:
        """Whether the op at a place may move to right before the one at another."""
        return (
            not self._fixed[op] and not self._waits[user] and self._region[op] == self._region[user]
        )
