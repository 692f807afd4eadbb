"""`stable_topological_sort`: puts definitions before uses, and else keeps the order.

Effects keep their order too: when an op moves down, ops that must not run before it move as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from torch.fx import Graph, Node
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from xductor.ir import GraphOp, TorchOp
from xductor.transforms import EXACT, TypedPass, graphs_of
from xductor.transforms.analysis.block_order import arrange, ops_of
from xductor.transforms.analysis.effect_order import predecessors
from xductor.transforms.analysis.op_effects import Bodies


@dataclass(frozen=True)
class StableTopologicalSort(TypedPass):
    """Move each op that uses a later value to just below its definition; else keep the order.

    Counts the graphs whose order changed. Raises PassFailedException if ops wait for each other.
    """

    name = "stable_topological_sort"
    stage = ("pre_grad", "joint", "post_grad")
    inductor = "../pattern_matcher.py:stable_topological_sort"
    numerics = EXACT

    @classmethod
    def may_apply(cls, graph: Graph) -> bool:
        """Whether some node comes before one of its inputs."""
        seen: set[Node] = set()
        add, is_apart_from = seen.add, seen.isdisjoint
        for node in graph.nodes:
            add(node)
            if not is_apart_from(node.users):  # unlike the inputs, users need no new list
                return True
        return False

    def has_work(self, module: ModuleOp) -> bool:
        return not all(_is_sorted(graph.block) for graph in graphs_of(module))

    def rewrite(self, module: ModuleOp) -> int:
        return sum(_sort(graph) for graph in graphs_of(module))


def _sort(graph: GraphOp) -> int:
    block = graph.block
    if _is_sorted(block):
        return 0
    ops = list(block.ops)
    module = graph.parent_op()
    bodies = Bodies(module if isinstance(module, ModuleOp) else ModuleOp([]))
    order = _stable_order(ops, predecessors(graph, ops, bodies))
    if len(order) != len(ops):
        _fail(graph, ops, order)
    arrange(block, order)
    return 1


def _is_sorted(block: Block) -> bool:
    seen = set(map(id, block.args))
    for op in ops_of(block):
        if not seen.issuperset(map(id, op._operands)):
            return False
        seen.update(map(id, op.results))
    return True


def _stable_order(
    ops: list[Operation], before: Mapping[Operation, list[Operation]]
) -> list[Operation]:
    """Each op at its place, or right after the last value or op that it waits for.

    The results of a call become available one after the other, each followed by the ops that wait
    for it, since FX has a node for each. Ops that wait for each other are left out.

    - `before`: the ops that an op must follow although it uses none of their values.
    """
    order: list[Operation] = []
    available: set[SSAValue | Operation] = set()
    waiting: dict[SSAValue | Operation, list[Operation]] = {}
    agenda: list[_Step] = [_Place(op) for op in reversed(ops)]
    while agenda:
        item = agenda.pop()
        if not isinstance(item, _Place):
            available.add(item)
            agenda.extend(_Place(op) for op in reversed(waiting.pop(item, ())))
            continue
        op = item.op
        missing = _missing(op, available, before.get(op, ()))
        if missing is not None:
            waiting.setdefault(missing, []).append(op)
            continue
        order.append(op)
        agenda.append(op)
        agenda.extend(reversed(op.results))
    return order


class _Place(NamedTuple):
    """An op to be placed, unless something that it waits for is missing."""

    op: Operation


#: A value or op that becomes available, or an op to be placed.
_Step = _Place | SSAValue | Operation


def _missing(
    op: Operation, available: set[SSAValue | Operation], before: Sequence[Operation]
) -> SSAValue | Operation | None:
    """The last operand that is not available yet, or else an op that must run first."""
    for operand in reversed(op._operands):
        if operand not in available and isinstance(operand.owner, Operation):
            return operand
    return next((one for one in reversed(before) if one not in available), None)


def _fail(graph: GraphOp, ops: list[Operation], order: list[Operation]) -> None:
    placed = set(order)
    stuck = [op for op in ops if op not in placed]
    names = [op.node.node or op.name if isinstance(op, TorchOp) else op.name for op in stuck[:5]]
    more = f" and {len(stuck) - 5} more" if len(stuck) > 5 else ""
    raise PassFailedException(
        f"stable_topological_sort: fx.graph @{graph.sym_name.data} has no order: "
        f"{', '.join(names)}{more} use each other's results, or results that no op of the graph "
        "makes, or would cross a write, a draw or another effect; a rewrite before this pass made "
        "an op depend on itself"
    )
