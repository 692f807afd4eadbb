"""Checks the inputs of a run against the arguments of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from xductor.ir.dialect.graph import GraphOp
from xductor.ir.dialect.types import TensorType


def input_problem(graph: GraphOp, inputs: Sequence[Any], *, any_dtype: bool = False) -> str:
    """What is wrong with the inputs of a graph, one for each argument; empty if nothing is.

    An input is wrong if its dtype (unless `any_dtype`), its rank, or a size that is a number in the
    graph differs. Symbolic sizes, strides and devices are left to the ops.
    """
    for argument, name, value in zip(graph.arguments, graph.argument_names, inputs, strict=True):
        type_ = argument.type
        if not isinstance(type_, TensorType):
            continue
        if not isinstance(value, torch.Tensor):
            return f"input %{name} is {value!r}, expected {type_}"
        static = all(
            not isinstance(dim, int) or dim == size
            for dim, size in zip(type_.shape, value.shape, strict=False)
        )
        other = value.dtype != type_.dtype and not any_dtype
        if other or value.dim() != type_.rank or not static:
            found = f"{value.dtype} of size {list(value.shape)}"
            return f"input %{name} is {found}, expected {type_}"
    return ""


__all__ = ["input_problem"]
