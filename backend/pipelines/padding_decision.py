"""Whether padding a matmul pays: Inductor's answer, from its flags, its cache, or a measurement."""

from __future__ import annotations

from types import SimpleNamespace

import torch
import torch.fx as fx
from xdsl.ir import SSAValue

from xductor.backend.steps import stock
from xductor.ir import GetAttrOp, GraphOp, InferenceEnv, TorchOp, result_aliases
from xductor.ir.inference.fake_values import fake_value
from xductor.transforms import Tensor


def should_pad(name: str, mat1: Tensor, mat2: Tensor, bias: Tensor | None) -> bool:
    """What Inductor's `should_pad` decides about a matmul; it may run and measure both forms."""
    operands = {"mat1": mat1, "mat2": mat2} | ({} if bias is None else {"input": bias})
    values = {key: one.value for key, one in operands.items() if one.value is not None}
    if len(values) < len(operands):
        return False
    graph = fx.Graph()
    nodes = {key: _producer(value, graph) for key, value in values.items()}
    with InferenceEnv.of(_graph_of(values["mat1"])) as env:
        for key, node in nodes.items():
            node.meta["val"] = fake_value(values[key].type, env.fake)
        fakes = {key: node.meta["val"] for key, node in nodes.items()}
        return stock.lookup("pad_mm:should_pad")(
            SimpleNamespace(kwargs=nodes),
            fakes["mat1"],
            fakes["mat2"],
            getattr(torch.ops.aten, name),
            input=fakes.get("input"),
        )


def _producer(value: SSAValue, graph: fx.Graph) -> fx.Node:
    """A node for the producer of a value: behind views, the op and its operands; no further."""
    owner = value.owner
    if not isinstance(owner, TorchOp) or isinstance(owner, GetAttrOp) or not callable(owner.target):
        return graph.placeholder("input")
    if result_aliases(owner)[0] is not None:
        inputs = [_producer(owner.operands[0], graph)]
    else:
        inputs = [graph.placeholder("operand") for _ in set(owner.operands)]
    return graph.create_node("call_function", owner.target, tuple(inputs))


def _graph_of(value: SSAValue) -> GraphOp:
    graph = value.owner.parent_op()
    assert isinstance(graph, GraphOp)
    return graph


__all__ = ["should_pad"]
