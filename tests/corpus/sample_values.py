"""Running captured graphs on real values, and comparing what they give."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import torch.fx as fx
from torch.utils._python_dispatch import _disable_current_modes

from xductor.ir.execution.sample_inputs import NoSample


@contextmanager
def _outside_of_the_compile() -> Iterator[None]:
    """No fake mode, no gradients, the same random numbers; uninitialised memory is filled."""
    deterministic = torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    devices = [] if not torch.cuda.is_available() else None
    with _disable_current_modes(), torch.random.fork_rng(devices=devices), torch.no_grad():
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.manual_seed(0)
        try:
            yield
        finally:
            torch.use_deterministic_algorithms(deterministic, warn_only=warn_only)


def run_graph(gm: fx.GraphModule, inputs: Sequence[Any]) -> list[Any]:
    """The outputs of a graph, flat, and its inputs afterwards (a graph may write to them)."""
    for node in gm.graph.find_nodes(op="get_attr"):
        value: Any = gm
        for part in str(node.target).split("."):
            value = getattr(value, part)
        if isinstance(value, torch._subclasses.FakeTensor):
            raise NoSample(f"attribute '{node.target}' is a fake tensor")
    with _outside_of_the_compile():
        own = [copy.deepcopy(value) for value in inputs]
        result = fx.Interpreter(gm).run(*own)
        return [*_flat(result), *own]


def _flat(result: Any) -> list[Any]:
    return torch.utils._pytree.tree_leaves(result)


def equal_values(left: Sequence[Any], right: Sequence[Any]) -> str | None:
    """None where two runs agree bit by bit, NaN where NaN; else what differs first."""
    if len(left) != len(right):
        return f"{len(left)} values against {len(right)}"
    for index, (ours, theirs) in enumerate(zip(left, right, strict=True)):
        if isinstance(ours, torch.Tensor) and isinstance(theirs, torch.Tensor):
            try:
                with _disable_current_modes():
                    torch.testing.assert_close(
                        ours, theirs, rtol=0, atol=0, equal_nan=True, check_stride=True
                    )
            except AssertionError as error:
                return f"value {index}: {error}"
        elif type(ours) is not type(theirs) or ours != theirs:
            return f"value {index}: {ours!r} against {theirs!r}"
    return None
