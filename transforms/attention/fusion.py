"""Puts fused attention in the place of attention that was spelled out, in one graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult, SSAValue

from xductor.ir.graph import GraphOp, OutputOp
from xductor.ir.inference import InferenceEnv
from xductor.ir.operations import TorchOp
from xductor.transforms.attention.building import Torch
from xductor.transforms.attention.matching import Matcher
from xductor.transforms.attention.parts import Attention, NotAttention
from xductor.transforms.attention.reading import Reader
from xductor.transforms.attention.replacement import Options, replacement
from xductor.transforms.debug_counters import should_apply
from xductor.transforms.graphs import graphs_of
from xductor.transforms.op_effects import Bodies, effects_of
from xductor.transforms.rewriting.building import ReplacementBuilder, Unbuildable
from xductor.transforms.rewriting.contracts import (
    Declined,
    Violation,
    check_aliases,
    check_effects,
    check_output,
    check_region,
)
from xductor.transforms.rewriting.graph_state import GraphState

PRODUCTS = frozenset(("matmul", "baddbmm", "einsum"))

Report = Callable[[TorchOp, str], None]
"""Told of each product below which a softmax stands and that is not fused, and why."""


@dataclass
class Fragment:
    """The matched ops, in the form in which contracts are asked about them."""

    attention: Attention

    @property
    def anchor(self) -> TorchOp:
        return self.attention.root

    def matched_ops(self) -> list[tuple[None, TorchOp]]:
        return [(None, op) for op in self.attention.ops]

    def removable(self) -> set[TorchOp]:
        return set(self.attention.ops)


def fuse(module: ModuleOp, options: Options, report: Report | None = None) -> int:
    """Fuse the attention in all graphs of a module; returns how many there were."""
    bodies = Bodies(module)
    return sum(_Fusion(graph, bodies, options, report).run() for graph in graphs_of(module))


class _Fusion:
    def __init__(
        self, graph: GraphOp, bodies: Bodies, options: Options, report: Report | None
    ) -> None:
        self.graph = graph
        self.bodies = bodies
        self.options = options
        self.report = report
        self.reader = Reader()

    def run(self) -> int:
        roots: list[TorchOp] = []
        for op in self.graph.block.ops:
            if (
                isinstance(op, TorchOp)
                and len(op.results) == 1
                and self.reader.kind(op.results[0]) in PRODUCTS
            ):
                roots.append(op)
        if len(roots) < 2:
            return 0
        fused = 0
        with InferenceEnv.of(self.graph) as env:
            state = GraphState(self.graph, self.bodies, env)
            for root in roots:
                fused += self._try(root, state)
        return fused

    def _try(self, root: TorchOp, state: GraphState) -> bool:
        try:
            attention = Matcher(self.reader, state.facts).at(root)
            self._apply(attention, state)
        except NotAttention as refusal:
            if refusal.near and self.report is not None:
                self.report(root, refusal.reason)
            return False
        except (Declined, Violation, Unbuildable) as refusal:
            if self.report is not None:
                self.report(root, str(refusal))
            return False
        return True

    def _apply(self, attention: Attention, state: GraphState) -> None:
        fragment: Any = Fragment(attention)
        _check_escape(attention)
        root = attention.root
        builder = ReplacementBuilder(
            state.env,
            state.facts,
            root.node,
            [attention.query.value, attention.key.value, attention.value.value],
            state.symints,
            lambda value: _is_above(value, root, state),
        )
        try:
            new = replacement(attention, self.reader, Torch(builder, state.facts), self.options)
            made = builder.made
            check_region(fragment, made, state)
            check_output(attention.result, new, 0, state)
            check_effects(fragment, made, state)
            check_aliases([(attention.result, new)], state)
            if not should_apply("fuse_attention"):
                raise Declined("its debug counter says no")
        except BaseException:
            builder.discard()
            raise
        self._connect(attention, new, made, state)

    def _connect(
        self, attention: Attention, new: SSAValue, made: list[TorchOp], state: GraphState
    ) -> None:
        block, root = self.graph.block, attention.root
        for op in made:
            block.insert_op_before(op, root)
            state.order.insert(op, root)
        attention.result.replace_all_uses_with(new)
        pending: list[Any] = sorted(dict.fromkeys(attention.ops), key=state.order.key, reverse=True)
        while pending:
            op = pending.pop(0)
            if op.parent is None or any(result.first_use is not None for result in op.results):
                continue
            if op not in attention.ops and not _is_pure(op):
                continue
            above = [operand.owner for operand in op.operands if type(operand) is OpResult]
            state.order.forget(op)
            block.erase_op(op)
            pending += [one for one in above if isinstance(one, TorchOp)]
        state.changed()


def _check_escape(attention: Attention) -> None:
    """Nothing between the two products is used elsewhere: the work would be done twice."""
    inside = set(attention.ops)
    for value in attention.interior:
        for use in value.uses:
            user: Any = use.operation
            if user not in inside:
                where = "returned" if type(user) is OutputOp else f"used by {user.name}"
                what: Any = value.owner
                raise NotAttention(f"what {what.name} gives is {where} too", near=True)


def _is_pure(op: TorchOp) -> bool:
    return op.fx_op != "call_module" and effects_of(op).pure


def _is_above(value: SSAValue, op: TorchOp, state: GraphState) -> bool:
    if not isinstance(value, OpResult):
        return True
    return value.op not in state.order.keys or state.order.before(value.op, op)


__all__ = ["PRODUCTS", "Report", "fuse"]
