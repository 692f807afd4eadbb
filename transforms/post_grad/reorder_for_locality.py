"""`reorder_for_locality`: moves each op to just before its first use."""

from __future__ import annotations

import operator
from dataclasses import dataclass

from torch.fx import Graph, Node
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult

from xductor.ir import GraphOp, TorchOp
from xductor.ir.effects.effects import Effects
from xductor.transforms import EXACT, TypedPass, graphs_of
from xductor.transforms.analysis.block_order import arrange
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
    before: list[TorchOp] = list(graph.block.ops)  # type: ignore[arg-type]
    after = _local_order(before, _Movable(graph, before, bodies))
    if after == before or not should_apply(ReorderForLocality.name):
        return 0
    arrange(graph.block, after)
    return 1


def _local_order(ops: list[TorchOp], movable: _Movable) -> list[TorchOp]:
    """The ops in their new order; they move within a linked list that is walked backwards."""
    previous: dict[TorchOp, TorchOp | None] = dict(zip(ops, (None, *ops), strict=False))
    following: dict[TorchOp, TorchOp | None] = dict(zip(ops, (*ops[1:], None), strict=True))
    first_copy = next((op for op in ops if op.name == _COPY), None)
    in_epilogue = first_copy is not None
    seen: set[Operation] = set()
    order: list[TorchOp] = []
    op: TorchOp | None = ops[-1]
    while op is not None:
        seen.add(op)
        if in_epilogue:
            in_epilogue = op is not first_copy
        else:
            for operand in dict.fromkeys(op._operands):
                used = operand.op if isinstance(operand, OpResult) else None
                if not isinstance(used, TorchOp) or not movable(used, op, seen):
                    continue
                before, after = previous[used], following[used]
                if after is op:
                    continue
                if before is not None:
                    following[before] = after
                assert after is not None
                previous[after] = before
                neighbour = previous[op]
                previous[used], following[used] = neighbour, op
                previous[op] = used
                if neighbour is not None:
                    following[neighbour] = used
        order.append(op)
        op = previous[op]
    order.reverse()
    return order


class _Movable:
    """Which ops may move, and how far."""

    def __init__(self, graph: GraphOp, ops: list[TorchOp], bodies: Bodies) -> None:
        table = graph.symbols.data
        self._unbacked = frozenset(name for name, info in table.items() if not info.backed)
        self._bodies = bodies
        self._region: dict[TorchOp, int] = {}
        self._fixed: dict[TorchOp, bool] = {}
        region = 0
        for op in ops:
            effects = effects_of(op)
            if effects.unknown or effects.mode or written_operands(op, bodies):
                region += 1
            self._region[op] = region
            self._fixed[op] = self._is_fixed(op, effects)

    def _is_fixed(self, op: TorchOp, effects: Effects) -> bool:
        if op.fx_op != "call_function" or op.tuple_valued or len(op.results) != 1:
            return True
        if op.name == _WAIT:
            return False
        if effects != Effects(alloc=effects.alloc):
            return True
        if subgraphs_of(op) and not self._bodies.effects(op).pure:
            return True
        return bool(self._unbacked) and "unbacked_bindings" in op.node.text_items()

    def __call__(self, op: TorchOp, user: TorchOp, seen: set[Operation]) -> bool:
        """Whether `op` may move to right before `user`; `seen` holds all ops from `user` on."""
        return (
            not self._fixed[op]
            and user.name != _WAIT
            and self._region[op] == self._region[user]
            and all(use.operation in seen for use in op.results[0].uses)
        )
