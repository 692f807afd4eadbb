"""Counting what a compile should not leave in memory."""

from __future__ import annotations

import gc
from collections import Counter

import torch
from torch._guards import TracingContext
from torch._subclasses import FakeTensor, FakeTensorMode
from torch.fx import GraphModule
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from xductor.backend.config.compile_state import CompileState
from xductor.ir.inference.infer import drop_shape_env_caches

KINDS = (ShapeEnv, FakeTensor, GraphModule, TracingContext, CompileState)


def census() -> Counter[str]:
    """How many objects of the kinds that hold a compile's memory are alive.

    What torch keeps by itself is let go first: its caches, and a cycle of each ShapeEnv through
    C++, by which even ``backend="eager"`` leaves one for every compile with dynamic shapes.
    """
    torch._dynamo.reset()
    FakeTensorMode.cache_clear()
    drop_shape_env_caches()
    for thing in gc.get_objects():
        if issubclass(type(thing), ShapeEnv):
            thing.tracked_fakes = None
    del thing
    for _ in range(3):
        gc.collect()
    alive = [type(thing) for thing in gc.get_objects()]
    return Counter(kind.__name__ for cls in alive for kind in KINDS if issubclass(cls, kind))
