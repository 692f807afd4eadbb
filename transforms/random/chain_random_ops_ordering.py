"""`chain_random_ops_ordering`: keeps random ops in program order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import torch
from torch._ops import OpOverload
from torch.fx import Graph
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue

from xductor.ir import GraphOp, OutputOp, Ref, SymbolRef, TorchOp, entry_graph, op_class
from xductor.ir.dialect.arguments import Pack
from xductor.ir.dialect.graph import raw_args
from xductor.ir.dialect.results import flat_structure
from xductor.transforms import EXACT, TypedPass
from xductor.transforms.analysis.fx_targets import called_functions
from xductor.transforms.analysis.graphs import free_subgraph_name
from xductor.transforms.editing.editor import Editor


@dataclass(frozen=True)
class ChainRandomOpsOrdering(TypedPass):
    """Each random op waits for the one before it, so that it draws the numbers of eager mode.

    Draws from PyTorch's own generator must run in program order, but Inductor's scheduler respects
    data dependencies only. So each random op becomes the body of a `control_deps` that depends on
    the previous one. Runs under `fallback_random` only. Counts the ops that wait.
    """

    name = "chain_random_ops_ordering"
    stage = "post_grad"
    inductor = "post_grad.py:_chain_random_ops_for_ordering"
    numerics = EXACT

    @classmethod
    def may_apply(cls, graph: Graph) -> bool:
        """Whether there are at least two random ops."""
        random = [
            target
            for target in called_functions(graph)
            if isinstance(target, OpOverload) and _is_random(target)
        ]
        return sum(len(graph.find_nodes(op="call_function", target=one)) for one in random) > 1

    def rewrite(self, module: ModuleOp) -> int:
        editor = Editor(entry_graph(module))
        ops: list[Any] = [op for op in editor.analyses.ops if _draws(op)]
        for index in range(1, len(ops)):
            ops[index] = _wait(module, editor, ops[index], ops[index - 1])
        return max(len(ops) - 1, 0)


def _draws(op: Any) -> bool:
    return isinstance(op.target, OpOverload) and _is_random(op.target)


@cache
def _is_random(target: OpOverload) -> bool:
    return torch.Tag.nondeterministic_seeded in target.tags


def _wait(module: ModuleOp, editor: Editor, op: TorchOp, before: TorchOp) -> TorchOp:
    """Replace `op` by a `control_deps` that runs it after `before`."""
    graph = editor.graph
    name = free_subgraph_name(module, graph, f"subgraph_{op.node.node or op.name.split('.')[1]}")
    inputs = list(dict.fromkeys(op._operands))
    module.body.block.add_op(_body(graph, op, name, inputs))
    count = len(before.results)
    arguments = tuple([Ref(count + index) for index in range(len(inputs))])
    awaited = ((_whole(before),), SymbolRef(name), *arguments)
    target = import_module("torch._inductor.fx_passes.control_dependencies").control_deps
    made = editor.put(
        op_class(target),
        raw_args(awaited),
        [*before.results, *inputs],
        op.result_types,
        op,
        named=True,
        structure=flat_structure(len(op.results)) if op.tuple_valued else None,
    )
    editor.replace(op, *made.results)
    return made


def _whole(op: TorchOp) -> Any:
    """A reference to the value of a call, whose results are the first operands."""
    if not op.tuple_valued:
        return Ref(0)
    return Pack(tuple([Ref(index) for index in range(len(op.results))]))


def _body(graph: GraphOp, op: TorchOp, name: str, inputs: Sequence[SSAValue]) -> GraphOp:
    """A graph that takes the operands of `op`, calls it, and returns its value."""
    block = Block(arg_types=[value.type for value in inputs])
    argument = dict(zip(inputs, block.args, strict=True))
    inner = type(op).make(
        op.args,
        [argument[operand] for operand in op._operands],
        op.result_types,
        op.node.inherited(op.node.names, op.node.node),
        structure=op.structure,
        aliases=op.aliases,
    )
    block.add_op(inner)
    block.add_op(OutputOp.make(raw_args((_whole(inner),)), inner.results, []))
    return GraphOp(
        name,
        graph.stage.data,
        block,
        graph.symbols.data,
        graph.ambient.data,
        arguments=[f"arg_{index}" for index in range(len(inputs))],
    )
