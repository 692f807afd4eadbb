"""`-p infer-types`: gives every op the types that its operands lead to, after an edit by hand."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import VerifyException

from xductor.ir import GraphOp, InferenceEnv, NotInferred, TorchOp
from xductor.ir.inference.ambient_modes import Modes, UnknownMode, after_autograd
from xductor.ir.inference.body_modes import modes_of_graph, replay
from xductor.ir.inference.infer import (
    Inferred,
    NotApplicable,
    inferred,
    refusal_before_running,
)
from xductor.ir.text.diagnostics import op_line
from xductor.transforms import graphs_of


@dataclass(frozen=True)
class InferTypes(ModulePass):
    """Infers the types of all results from those of the inputs, op by op, as PyTorch does.

    The types of inputs stay. So do those of results that cannot be inferred, such as those of
    subgraphs, with a line on stderr that says so. Raises VerifyException for an op that PyTorch
    does not apply to operands of the inferred types.
    """

    name = "infer-types"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for graph in graphs_of(op):
            with InferenceEnv.of(graph) as env, _modes(graph, op) as modes:
                for one in list(graph.block.ops):
                    if isinstance(one, TorchOp):
                        _infer(one, env, modes)


@contextmanager
def _modes(graph: GraphOp, module: ModuleOp) -> Iterator[Modes | None]:
    if graph.stage.data == "pre_grad":
        with modes_of_graph(graph, module) as modes:
            yield modes
        return
    with after_autograd(graph.ambient.data):
        yield None


def _infer(op: TorchOp, env: InferenceEnv, modes: Modes | None) -> None:
    reason = refusal_before_running(op)
    if modes is not None:
        if op.raw_arguments and op.effects.mode:
            _follow(op, modes)
            return
        env.modes = modes.key()
        reason = "it is within a functorch transform" if modes.functorch else reason
    if reason == "output":
        return
    try:
        found = None if reason else inferred(op, env)[0]
    except NotInferred as refusal:
        found, reason = None, refusal.reason
    except NotApplicable as error:
        raise VerifyException(f"{op_line(op)}\ncannot have these operands: {error}") from error
    if found is None or found.fresh or len(found.types) != len(op.results):
        why = reason or "sizes that are known only when it runs"
        print(f"infer-types: {op_line(op)}: its types stay: {why}", file=sys.stderr)
        return
    if list(found.types) != [result.type for result in op.results]:
        _give(op, found)


def _follow(op: TorchOp, modes: Modes) -> None:
    try:
        replay(modes, op)
    except UnknownMode as error:
        raise VerifyException(f"{op_line(op)}\nnothing can be inferred after {error}") from error


def _give(op: TorchOp, found: Inferred) -> None:
    """Make an op again with other types."""
    made = type(op).make(
        op.args,
        op.operands,
        found.types,
        op.node,
        structure=op.structure,
        aliases=found.aliases,
    )
    block = op.parent
    assert block is not None
    block.insert_op_before(made, op)
    for old, new in zip(op.results, made.results, strict=True):
        old.replace_all_uses_with(new)
    block.erase_op(op)


__all__ = ["InferTypes"]
