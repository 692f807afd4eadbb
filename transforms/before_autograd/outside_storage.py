"""What the live GraphModule says of what is outside a graph: storages of its inputs, and bodies."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule
from xdsl.ir import BlockArgument, SSAValue

from xductor.ir import GetAttrOp, GraphOp
from xductor.transforms.before_autograd.torch_level_writes import may_write
from xductor.transforms.editing.aliasing import is_outside


def may_overlap(one: SSAValue, other: SSAValue, graph: GraphOp) -> bool:
    """Whether two inputs, parameters or constants may share storage.

    The values that a graph was captured with share storage wherever the real ones do.
    """
    if not (is_outside(one) and is_outside(other)):
        return False
    first, second = _storage(one, graph), _storage(other, graph)
    return first is None or second is None or first == second


def _storage(value: SSAValue, graph: GraphOp) -> int | None:
    """The storage that an input had when the graph was captured; None if that is not known."""
    gm = graph.live.gm if graph.live is not None else None
    if gm is None:
        return None
    if isinstance(value, BlockArgument):
        held = _held_by_placeholder(gm, graph, value)
    elif isinstance(value.owner, GetAttrOp):
        held = _attribute(gm, value.owner.path)
    else:
        return None
    if not isinstance(held, torch.Tensor) or held.layout is not torch.strided:
        return None
    return held.untyped_storage()._cdata


def _held_by_placeholder(gm: GraphModule, graph: GraphOp, value: BlockArgument) -> Any:
    name = graph.argument_names[value.index]
    for node in gm.graph.find_nodes(op="placeholder"):
        if node.name == name:
            return node.meta.get("example_value", node.meta.get("val"))
    return None


def _attribute(module: Any, path: str) -> Any:
    for name in path.split("."):
        module = getattr(module, name, None)
    return module


def is_body_without_writes(name: str, graph: GraphOp) -> bool:
    """Whether a body that is only declared exists as a GraphModule in which no call, not even in
    the bodies within it, writes or may write.
    """
    gm = graph.live.gm if graph.live is not None else None
    body = _attribute(gm, name)
    return isinstance(body, GraphModule) and not may_write(body)


__all__ = ["is_body_without_writes", "may_overlap"]
