"""Replaces spelled-out attention by fused attention."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import torch
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xductor.ir import GraphOp, InferenceEnv, OutputOp, TorchOp
from xductor.ir.inference.ambient_modes import UnknownMode
from xductor.transforms import graphs_of
from xductor.transforms.analysis.op_effects import Bodies, effects_of
from xductor.transforms.analysis.usual_sizes import UsualSizes
from xductor.transforms.attention.building import Torch
from xductor.transforms.attention.kernels import refusal_of_all
from xductor.transforms.attention.known_calls import known_values
from xductor.transforms.attention.layouts import layout_is_seen
from xductor.transforms.attention.masks import SharedMasks
from xductor.transforms.attention.matching import Matcher
from xductor.transforms.attention.parts import Attention, NotAttention
from xductor.transforms.attention.reading import Reader, is_product, reads_metadata, tensor_type
from xductor.transforms.attention.replacement import Options, Replacement
from xductor.transforms.attention.versions import WrittenVersions
from xductor.transforms.matching.matcher import Match
from xductor.transforms.passes.applications import applied
from xductor.transforms.passes.debug_counters import should_apply
from xductor.transforms.passes.events import tell
from xductor.transforms.passes.refusals import Refused
from xductor.transforms.rewriting.building import ReplacementBuilder, Unbuildable
from xductor.transforms.rewriting.contracts import Declined, Violation
from xductor.transforms.rewriting.graph_state import GraphState
from xductor.transforms.rewriting.layouts import lay_out_anew
from xductor.transforms.rewriting.legality import Legality
from xductor.transforms.rewriting.modes import modes_at

#: Called for each product that follows a softmax and is not fused, with the reason.
Report = Refused


@dataclass
class Fused:
    """One fusion, checked and not yet connected; it is valid until a listener returns.

    - `match`: the attention that was found.
    - `made`: the ops that will replace it; `call` is the fused one of them.
    - `new_outputs`: the new value of the result, in a list.
    """

    graph: GraphOp
    match: Any
    made: list[TorchOp]
    call: TorchOp
    new_outputs: list[SSAValue]
    state: GraphState


def fuse(module: ModuleOp, options: Options, report: Report | None = None) -> int:
    """Fuse the attention in all graphs of a module; returns the number of fusions."""
    bodies = Bodies(module)
    return sum(_Fusion(graph, bodies, options, report).run() for graph in graphs_of(module))


class _Fusion:
    """The pass on one graph."""

    def __init__(
        self, graph: GraphOp, bodies: Bodies, options: Options, report: Report | None
    ) -> None:
        self.graph = graph
        self.bodies = bodies
        self.options = options
        self.report = report
        self.sizes = UsualSizes(graph)

    def run(self) -> int:
        roots = [op for op in self.graph.block.ops if is_product(op)]
        if len(roots) < 2:
            return 0
        with InferenceEnv.of(self.graph) as env, ExitStack() as self.modes:
            state = GraphState(self.graph, self.bodies, env)
            self.versions = WrittenVersions(self.graph, state.writes, self.bodies)
            self.reader = Reader(self.versions if self.versions else None)
            self.known = known_values(self.reader, state.facts)
            self.masks = SharedMasks()
            self.matcher = Matcher(self.reader, self.known, state.facts)
            return sum(self._try(root, state) for root in roots)

    def _try(self, root: TorchOp, state: GraphState) -> bool:
        try:
            attention = self.matcher.at(root)
            self._apply(attention, state)
        except NotAttention as refusal:
            if refusal.near and self.report is not None:
                self.report(root, refusal.reason, at=refusal.at, remedy=refusal.remedy)
            return False
        except (Declined, Violation, Unbuildable, UnknownMode) as refusal:
            if self.report is not None:
                self.report(root, str(refusal))
            return False
        return True

    def _apply(self, attention: Attention, state: GraphState) -> None:
        read = [attention.query.value, attention.key.value, attention.value.value]
        match = Match.of(attention.root, attention.ops, [attention.result], read)
        _check_escape(attention)
        _check_device(attention)
        root = attention.root
        builder = ReplacementBuilder(
            state.env,
            state.facts,
            root.node,
            read,
            state.symints,
            lambda value: state.is_above(value, root),
        )
        try:
            self._enter_modes(root, state)
            new, call, is_seen = self._replacement(attention, builder, state)
            made = builder.made
            self._check_operands(made, root)
            self._check_gradients(attention, made, state)
            Legality(state).check(match, root, made, [new], self.options.permits, strides=is_seen)
            if not should_apply("fuse_attention"):
                raise Declined("its debug counter says no")
            tell(Fused(self.graph, match, made, call, [new], state))
        except BaseException:
            builder.discard()
            self.masks.forget()
            raise
        self._connect(attention, new, made, state)
        self.masks.keep()

    def _enter_modes(self, root: TorchOp, state: GraphState) -> None:
        """Infer types as at `root`, until attention of another region is found."""
        if state.entered is None or state.entered != state.region(root):
            self.modes.close()
            self.modes.enter_context(modes_at(root, state))

    def _check_operands(self, made: Sequence[TorchOp], root: TorchOp) -> None:
        """Check that operands are unwritten since they were made; copies were looked through."""
        inside = set(made)
        for operand in {operand for op in made for operand in op._operands}:
            if operand.owner not in inside and not self.versions.is_unwritten(operand, root):
                raise Declined("what the fused call would read is written before it")

    def _check_gradients(
        self, attention: Attention, made: Sequence[TorchOp], state: GraphState
    ) -> None:
        """Check that no operand gets a gradient that a view made under `no_grad` kept from it."""
        root = attention.root
        if not state.mode_ops_above(root) or not torch.is_grad_enabled():
            return
        inside = set(made)
        operands = {one for op in made for one in op._operands if one.owner not in inside}
        wanting = set(filter(_wants_gradient, operands))
        seen: set[SSAValue] = {attention.result}
        pending: list[SSAValue] = [attention.result]
        while pending and not wanting <= seen:
            value = pending.pop()
            op = value.owner
            if value in wanting or not isinstance(op, TorchOp) or self.reader.term(value) is None:
                continue
            if state.region(op) == state.region(root) or _records_gradients(op, state):
                pending.extend(set(op._operands) - seen)
                seen.update(op._operands)
        if not wanting <= seen:
            raise Declined("an operand was viewed under no_grad, and would get a gradient")

    def _replacement(
        self, attention: Attention, builder: ReplacementBuilder, state: GraphState
    ) -> tuple[SSAValue, TorchOp, bool]:
        """The new result, the fused call, and whether the layout of the result is observable.

        The kernel chooses the layout of its result. If that would be observable, the result is
        copied into the layout that the product has.
        """
        make = Torch(builder, state.facts)
        replacement = Replacement(
            attention, self.reader, self.known, make, self.options, self.masks, self.sizes
        )
        new, call = replacement.value()
        is_seen = layout_is_seen(attention.result, call, builder.made, new, state)
        if is_seen:
            builder.discard()
            self.masks.forget()
            new, call = replacement.value(as_product=True)
        owner = call.owner
        assert isinstance(owner, TorchOp)
        return new, owner, is_seen

    def _connect(
        self, attention: Attention, new: SSAValue, made: list[TorchOp], state: GraphState
    ) -> None:
        applied(attention.root, new)
        for op in made:
            state.put(op, attention.root)
        state.take_over(attention.result, new)
        state.erase_dead(attention.ops, _is_pure)
        lay_out_anew(new, state)


def _records_gradients(op: TorchOp, state: GraphState) -> bool:
    with modes_at(op, state):
        return torch.is_grad_enabled()


def _wants_gradient(value: SSAValue) -> bool:
    type_ = tensor_type(value)
    return type_ is not None and "requires_grad" in type_.data.flags


def _check_escape(attention: Attention) -> None:
    """Check that nothing between the two products is used elsewhere, to avoid doing work twice.

    An op of which only sizes are read may stay; it disappears when the graph is traced.
    """
    inside = set(attention.ops)
    for value in attention.interior:
        for use in value.uses:
            user: Any = use.operation
            if user not in inside and not reads_metadata(user, value):
                where = "returned" if type(user) is OutputOp else f"used by {user.name}"
                what: Any = value.owner
                raise NotAttention(
                    f"what {what.name} gives is {where} too",
                    near=True,
                    at=what,
                    remedy="a model that does not ask for the scores or the weights of attention",
                )


def _check_device(attention: Attention) -> None:
    """Check that the device may have a kernel, as far as that is known before a mask is made."""
    result = tensor_type(attention.result)
    assert result is not None
    reason = refusal_of_all(result.device, result.dtype, attention.dropout)
    if reason is not None:
        raise NotAttention(reason, near=True)


def _is_pure(op: TorchOp) -> bool:
    return op.fx_op != "call_module" and effects_of(op).pure


__all__ = ["Fused", "Report", "fuse"]
