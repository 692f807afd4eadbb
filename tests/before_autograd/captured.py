"""The graph before autograd of a function, as Dynamo captures it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule
from xdsl.dialects.builtin import ModuleOp

import xductor


def graph_module(function: Callable[..., Any], *args: Any, dynamic: bool = False) -> GraphModule:
    """The only graph of a call."""
    found: list[GraphModule] = []

    def keep(gm: GraphModule, _: Any) -> Callable[..., Any]:
        found.append(gm)
        return gm.forward

    torch._dynamo.reset()
    torch.compile(function, backend=keep, dynamic=dynamic or None, fullgraph=True)(*args)
    torch._dynamo.reset()
    (gm,) = found
    return gm


def captured(function: Callable[..., Any], *args: Any, dynamic: bool = False) -> ModuleOp:
    """The only graph of a call, as a typed module."""
    return xductor.from_fx(graph_module(function, *args, dynamic=dynamic), stage="pre_grad")
