"""The subgraphs that a call runs, and values for those that a pass made."""

from __future__ import annotations

from typing import Any

import torch
import torch.fx as fx
from torch.fx.passes.fake_tensor_prop import FakeTensorProp

from xductor.ir.dialect.metadata import place_metadata

_DEPENDENCIES = "control_deps"
_QUANTIZED = "invoke_quant"
_REPEATED = "invoke_subgraph"


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
