"""The subgraphs that a call runs, and values for those that a pass made."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.fx as fx
from torch.fx.passes.fake_tensor_prop import FakeTensorProp

from xductor.ir.dialect.metadata import place_metadata

_DEPENDENCIES = "control_deps"
_QUANTIZED = "invoke_quant"
_REPEATED = "invoke_subgraph"
_PRODUCTS = "b2b_gemm"
#: The operator for loops.
LOOP = "higher_order.while_loop"


def child_at(node: fx.Node) -> fx.GraphModule | None:
    """The subgraph that a `get_attr` node names, or None."""
    found: Any = node.graph.owning_module
    for part in str(node.target).split(".") if node.op == "get_attr" else ():
        found = getattr(found, part, None)
    return found if node.op == "get_attr" and isinstance(found, fx.GraphModule) else None


def record_in_child(node: fx.Node, args: Any, mode: Any) -> None:
    """Record values and places in the body of a call that only runs it, from those of the call."""
    name = getattr(node.target, "__name__", "")
    if name == _REPEATED:
        _record_once(args[0], args[2:], mode)
    if name == _PRODUCTS:
        child, *matrices, left = args
        rows, columns = matrices[:2] if left else matrices[1:]
        inner = rows.new_empty(rows.shape[0], columns.shape[1])
        FakeTensorProp(child, mode).propagate_dont_convert_inputs(inner)
    if name not in (_DEPENDENCIES, _QUANTIZED):
        return
    child, *inputs = args[1:] if name == _DEPENDENCIES else args
    FakeTensorProp(child, mode).propagate_dont_convert_inputs(*inputs)
    if name == _QUANTIZED:
        return  # its body keeps its own places
    for inner in child.graph.nodes:
        if inner.op == "call_function":
            inner.meta.update(place_metadata(node.meta))


def _record_once(child: fx.GraphModule, inputs: Any, mode: Any) -> None:
    """Record values in a new body that is called repeatedly: those of its first call."""
    placeholders = child.graph.find_nodes(op="placeholder")
    if all(getattr(node.meta.get("val"), "fake_mode", None) is mode for node in placeholders):
        return
    own = [_with_own_storage(value) for value in inputs]
    FakeTensorProp(child, mode).propagate_dont_convert_inputs(*own)


def _with_own_storage(value: Any) -> Any:
    """A tensor like a piece of another, but at the beginning of its own storage."""
    if not isinstance(value, torch.Tensor) or value.storage_offset() == 0:
        return value
    return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=value.device)


def record_in_loop(node: fx.Node, mode: Any) -> None:
    """Record values in the graphs of a loop that a pass made: those of the first time round.

    Without a ShapeEnv there is no value for the number of a row, and the graphs keep the values
    that were made from their types.
    """
    if mode.shape_env is None:
        return
    arguments: Any = node.args
    condition, body, carried, shared = arguments
    given = [_recorded(one) for one in (*carried, *shared)]
    for graph in (condition, body):
        child = child_at(graph)
        assert child is not None
        for inner in child.graph.nodes:
            for key in ("val", "tensor_meta", "unbacked_bindings"):
                inner.meta.pop(key, None)
        with mode, _elements_as_sizes(mode):
            _LoopValues(child, mode).propagate_dont_convert_inputs(*map(_alone, given))


def _recorded(node: fx.Node) -> Any:
    """The value of a node; that of a part of a call is found in the value of the call."""
    if "val" not in node.meta and node.target is operator.getitem:
        call: Any = node.args[0]
        node.meta["val"] = _recorded(call)[node.args[1]]
    return node.meta["val"]


class _LoopValues(FakeTensorProp):
    """Values of a graph that may hold loops itself, whose values are those that they carry."""

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        if str(getattr(target, "__name__", "")) == LOOP.partition(".")[2]:
            return tuple([_alone(value) for value in args[2]])
        return super().call_function(target, args, kwargs)


def _alone(value: Any) -> Any:
    """A tensor like another in a storage of its own; any other value itself."""
    if not isinstance(value, torch.Tensor):
        return value
    return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=value.device)


@contextmanager
def _elements_as_sizes(mode: Any) -> Iterator[None]:
    """Let an element of a tensor be a size, as the number of a row is, whatever the options say.

    The user asks with `capture_scalar_outputs` that his own elements be.
    """
    before = mode.allow_scalar_outputs
    mode.allow_scalar_outputs = True
    try:
        yield
    finally:
        mode.allow_scalar_outputs = before
