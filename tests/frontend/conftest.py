"""Graphs for the lowering tests: built by hand under a fake mode, or captured by Dynamo."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.fx as fx
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx._lazy_graph_module import _LazyGraphModule
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from xdsl.dialects.builtin import ModuleOp

from xductor.frontend import from_fx
from xductor.ir import parse_ir, print_ir, same, verify


class GraphBuilder:
    """Adds nodes to a graph and records their values as AOTAutograd or Dynamo does."""

    def __init__(self, key: str = "val") -> None:
        self.key = key
        self.graph = fx.Graph()
        self.root = torch.nn.Module()
        self.mode = FakeTensorMode(shape_env=ShapeEnv())

    def fake(self, *size: Any, **kwargs: Any) -> torch.Tensor:
        with self.mode:
            return torch.empty(*size, **kwargs)

    def input(self, name: str, value: Any) -> fx.Node:
        node = self.graph.placeholder(name)
        node.meta[self.key] = value
        return node

    def tensor(self, name: str, *size: Any, **kwargs: Any) -> fx.Node:
        return self.input(name, self.fake(*size, **kwargs))

    def call(self, target: Any, *args: Any, value: Any = ..., **kwargs: Any) -> fx.Node:
        """A call whose value is computed on the fake values, unless it is given."""
        node = self.graph.call_function(target, args, kwargs)
        return self._record(node, value, target)

    def method(self, name: str, *args: Any, value: Any = ..., **kwargs: Any) -> fx.Node:
        node = self.graph.call_method(name, args, kwargs)
        return self._record(node, value, lambda this, *rest, **kw: getattr(this, name)(*rest, **kw))

    def attribute(self, path: str, value: Any = ...) -> fx.Node:
        node = self.graph.get_attr(path)
        if value is not ...:
            node.meta[self.key] = value
        return node

    def _record(self, node: fx.Node, value: Any, run: Callable[..., Any]) -> fx.Node:
        if value is ...:
            args, kwargs = fx.map_arg((node.args, node.kwargs), lambda arg: arg.meta[self.key])
            with self.mode:
                value = run(*args, **kwargs)
        node.meta[self.key] = value
        return node

    def module(self, output: Any) -> fx.GraphModule:
        self.graph.output(output)
        # Lazy, as Inductor has it: what holds live objects has no Python code that compiles.
        return _LazyGraphModule(self.root, self.graph)


def snapshot(gm: fx.GraphModule) -> list[Any]:
    """All that lowering must leave alone: code, nodes in order, arguments, metadata objects."""
    rows: list[Any] = [gm.graph.python_code("self").src, id(gm.graph), dict(gm.meta)]
    for node in gm.graph.nodes:
        meta = {key: id(value) for key, value in node.meta.items()}
        users = [user.name for user in node.users]
        rows.append(
            (
                id(node),
                node.name,
                node.op,
                node.target,
                str(node.args),
                str(node.kwargs),
                users,
                meta,
            )
        )
    return rows


def check(gm: fx.GraphModule, stage: str = "joint", **options: Any) -> tuple[ModuleOp, str]:
    """Lower, verify, print, parse and print again; returns the module and its text."""
    before = snapshot(gm)
    module = from_fx(gm, stage, **options)
    assert snapshot(gm) == before
    verify(module, "structure")
    text = print_ir(module)
    parsed = parse_ir(text)
    verify(parsed, "structure")
    assert print_ir(parsed) == text
    assert same(parsed, module)
    return module, text


@pytest.fixture
def build() -> GraphBuilder:
    return GraphBuilder()


@pytest.fixture
def build_torch() -> GraphBuilder:
    """A graph of the torch level, as Dynamo makes it."""
    return GraphBuilder("example_value")


@pytest.fixture
def lower() -> Callable[..., tuple[ModuleOp, str]]:
    return check


@pytest.fixture
def untouched() -> Callable[[fx.GraphModule], list[Any]]:
    return snapshot
