"""Ops on lists that Inductor makes ones in place, in graphs that are run as FX, against eager."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.fx import Graph

from xductor.backend.fx.results_of_writes import read_what_was_written
from xductor.backend.run_as_fx.without_codegen import without_codegen

aten = torch.ops.aten
foreach_of: Any = torch


def _scaled(q: Tensor, w: Tensor) -> Tensor:
    foreach_of._foreach_mul_([q], 1.5)
    return q * w


def _by_lists(q: Tensor, w: Tensor) -> Tensor:
    foreach_of._foreach_add_([q, w], [w.sin(), q.cos()])
    return q * w


def _twice(q: Tensor, w: Tensor) -> Tensor:
    foreach_of._foreach_mul_([q, w], 2.0)
    foreach_of._foreach_sub_([w, q], 1.0)
    return q - w


def _in_lists_and_by_itself(q: Tensor, w: Tensor) -> tuple[Tensor, ...]:
    foreach_of._foreach_addcmul_([q, w], [w, w], [w, w], 0.5)
    q.mul_(2)
    return q + w, w.sin()


def _in_part(q: Tensor, w: Tensor) -> Tensor:
    foreach_of._foreach_exp_([q[0], q[1]])
    return q + w


@pytest.mark.parametrize("backend", ["inductor", "xductor"])
@pytest.mark.parametrize(
    "function", [_scaled, _by_lists, _twice, _in_lists_and_by_itself, _in_part]
)
def test_lists_are_written_in_place(function: Callable[..., Any], backend: str) -> None:
    torch._dynamo.reset()
    generator = torch.Generator().manual_seed(0)
    inputs = [torch.randn(4, 4, generator=generator) for _ in "qw"]
    given = [one.clone() for one in inputs]
    with without_codegen():
        found = torch.compile(function, backend=backend)(*given)
    expected = function(*inputs)
    torch.testing.assert_close((found, given), (expected, inputs))


def test_what_takes_the_results_as_a_whole_is_told() -> None:
    graph = Graph()
    x = graph.placeholder("x")
    written = graph.call_function(aten._foreach_exp_.default, ([x],))
    graph.output(graph.call_function(len, (written,)))
    with pytest.raises(RuntimeError, match=r"aten\._foreach_exp_\.default .* returns nothing"):
        read_what_was_written(graph)
