"""Real values for the inputs of a captured graph, and running graphs on them."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import torch.fx as fx
from torch.utils._python_dispatch import _disable_current_modes

UNBACKED = 3
"""The value of a size that only the run would tell."""


class NoSample(Exception):
    """A graph that cannot be run on made-up inputs; the message says why."""


def sample_inputs(gm: fx.GraphModule, seed: int = 0) -> list[Any]:
    """A value for each placeholder, of the size, strides and dtype that it records.

    Integers are 0 or 1, so that they can be indices. Raises NoSample for inputs that are neither
    tensors nor numbers.
    """
    generator = torch.Generator().manual_seed(seed)
    inputs = []
    for node in gm.graph.find_nodes(op="placeholder"):
        value = node.meta.get("val", node.meta.get("example_value"))
        inputs.append(_sample(value, generator, node.name))
    return inputs


def _sample(value: Any, generator: torch.Generator, name: str) -> Any:
    if isinstance(value, torch.Tensor):
        return _tensor(value, generator)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
        return number(value)
    raise NoSample(f"input '{name}' is a {type(value).__name__}")


def number(value: Any) -> Any:
    """The value behind a symbolic number: its hint."""
    if not isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
        return value
    hint = value.node.hint
    if hint is not None:
        return hint
    expr = value.node.expr
    known = {
        s: value.node.shape_env.var_to_hint_override.get(s, UNBACKED) for s in expr.free_symbols
    }
    return int(expr.xreplace(known))


def _tensor(fake: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    size = [number(dim) for dim in fake.shape]
    if fake.layout is not torch.strided:
        raise NoSample(f"an input is {fake.layout}")
    stride, offset = [number(step) for step in fake.stride()], number(fake.storage_offset())
    room = offset + 1 + sum((dim - 1) * step for dim, step in zip(size, stride, strict=True) if dim)
    with _disable_current_modes():
        values = _numbers(room, fake.dtype, generator, probability=not size).to(fake.device)
        return values.as_strided(size, stride, offset)


def _numbers(
    count: int, dtype: torch.dtype, generator: torch.Generator, *, probability: bool
) -> torch.Tensor:
    """Numbers of a dtype; a single one may be a probability, so it lies between 0 and 1."""
    if dtype.is_floating_point or dtype.is_complex:
        draw = torch.rand if probability else torch.randn
        made = torch.float64 if dtype == torch.float64 else torch.float32
        return draw(count, generator=generator, dtype=made).to(dtype)
    return torch.randint(0, 2, (count,), generator=generator).to(dtype)


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
