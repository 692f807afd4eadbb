"""Finds values for nodes that record none, by running the graph on fake inputs."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import torch
import torch.fx as fx
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

from xductor.frontend.errors import LoweringError
from xductor.frontend.node_types import MISSING, leaves_of, recorded_keys, recorded_value
from xductor.ir.effects.target_effects import target_effects


def recovered_values(
    gm: fx.GraphModule, stage: str, example_inputs: Sequence[Any]
) -> dict[fx.Node, Any]:
    """A value for each node without one, by running the graph on fake copies of the inputs.

    What is recorded is not run again, which might ask the ShapeEnv what it was not asked yet. The
    metadata of the nodes is not changed. Returns {} if all nodes record values, except those
    that are called for an effect.

    Raises LoweringError if the inputs do not fit or a node cannot be run.
    """
    nodes = list(gm.graph.nodes)
    key = recorded_keys(stage)[0]
    unrecorded = [node for node in nodes if key not in node.meta]
    if all(recorded_value(node, stage) is not MISSING or _needs_none(node) for node in unrecorded):
        return {}
    placeholders = [node for node in nodes if node.op == "placeholder"]
    if len(placeholders) != len(example_inputs):
        raise LoweringError(
            None, f"{len(example_inputs)} example inputs for {len(placeholders)} placeholders"
        )
    mode = _fake_mode(nodes, stage, example_inputs)
    runner = _Recorder(gm, mode, stage)
    inputs = [
        mode.from_tensor(value, static_shapes=True)
        if isinstance(value, torch.Tensor) and not isinstance(value, FakeTensor)
        else value
        for value in example_inputs
    ]
    with mode:
        runner.run(*inputs)
    return runner.values


def _needs_none(node: fx.Node) -> bool:
    """Whether lowering needs no value: for a call with an effect, the output, or a subgraph."""
    if node.op == "get_attr":
        owner: Any = node.graph.owning_module
        return isinstance(getattr(owner, str(node.target), None), fx.GraphModule)
    if node.op != "call_function":
        return node.op == "output"
    if node.target in (operator.setitem, operator.delitem):
        return not node.users
    effects = target_effects(node.target)
    return effects.mode or effects.host


def _fake_mode(nodes: Sequence[fx.Node], stage: str, inputs: Sequence[Any]) -> FakeTensorMode:
    """The fake mode of the graph or its inputs, else a new one."""
    for value in (*inputs, *(recorded_value(node, stage) for node in nodes)):
        if isinstance(value, FakeTensor):
            return value.fake_mode
    return FakeTensorMode(allow_non_fake_inputs=True)


def _is_of(value: Any, mode: FakeTensorMode) -> bool:
    """Whether all tensors of a recorded value are fake ones of a mode."""
    return all(
        type(leaf) is FakeTensor and leaf.fake_mode is mode
        for leaf in leaves_of(value)
        if isinstance(leaf, torch.Tensor)
    )


class _Recorder(fx.Interpreter):
    """Runs the nodes of a graph that record no value, and keeps the value of each node."""

    def __init__(self, gm: fx.GraphModule, mode: FakeTensorMode, stage: str) -> None:
        super().__init__(gm)
        self.mode = mode
        self.stage = stage
        self.values: dict[fx.Node, Any] = {}

    def run_node(self, n: fx.Node) -> Any:
        known = recorded_value(n, self.stage)
        if known is not MISSING and _is_of(known, self.mode):
            self.values[n] = known
            return known
        try:
            value = super().run_node(n)
        except Exception as error:  # whatever the user's call raises
            raise LoweringError(n, f"cannot be run on the example inputs: {error}") from error
        if n.op == "get_attr" and isinstance(value, torch.Tensor):
            value = self.mode.from_tensor(value, static_shapes=True)
        self.values[n] = value
        return value
