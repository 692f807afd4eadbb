"""Graphs written by hand, for what Dynamo does not write: Inductor gets them as they are."""

from __future__ import annotations

from typing import Any

import torch
import torch.fx as fx
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx._lazy_graph_module import _LazyGraphModule
from torch.fx.experimental.symbolic_shapes import ShapeEnv, compute_unbacked_bindings


class GraphBuilder:
    """Adds nodes to a graph of the torch level, and records the values that they give."""

    def __init__(self) -> None:
        self.graph = fx.Graph()
        self.root = torch.nn.Module()
        self.mode = FakeTensorMode(shape_env=ShapeEnv(), allow_non_fake_inputs=True)

    def fake(self, *size: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        with self.mode:
            return torch.empty(size, dtype=dtype)

    def tensor(self, name: str, *size: int, dtype: torch.dtype = torch.float32) -> fx.Node:
        """An input."""
        node = self.graph.placeholder(name)
        node.meta["example_value"] = self.fake(*size, dtype=dtype)
        return node

    def attribute(self, path: str, value: Any) -> fx.Node:
        node = self.graph.get_attr(path)
        node.meta["example_value"] = value
        return node

    def call(self, target: Any, *args: Any, value: Any = ..., **kwargs: Any) -> fx.Node:
        """A call; its value is computed on the fake values, unless it is given."""
        node = self.graph.call_function(target, args, kwargs)
        if value is ...:
            args, kwargs = fx.map_arg(  # type: ignore[assignment]
                (node.args, node.kwargs), lambda used: used.meta["example_value"]
            )
            with self.mode:
                value = target(*args, **kwargs)
        return self._recorded(node, value)

    def method(self, name: str, *args: Any) -> fx.Node:
        node = self.graph.call_method(name, args)
        values = fx.map_arg(args, lambda used: used.meta["example_value"])
        with self.mode:
            return self._recorded(node, getattr(values[0], name)(*values[1:]))

    def _recorded(self, node: fx.Node, value: Any) -> fx.Node:
        node.meta["example_value"] = value
        bound = compute_unbacked_bindings(self.mode.shape_env, value)
        if bound:
            node.meta["unbacked_bindings"] = bound
        return node

    def module(self, output: Any) -> fx.GraphModule:
        self.graph.output(output)
        # Lazy, as Dynamo's are: what holds live objects has no Python code that compiles.
        return _LazyGraphModule(self.root, self.graph)
