"""Indexing by random permutations of any length compiles; Inductor's own patterns fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch._inductor.config as inductor_config

from xductor.backend.records import stage_records
from xductor.backend.run_as_fx.without_codegen import without_codegen

aten = torch.ops.aten
Function = Callable[..., Any]


def _all(count: int) -> Function:
    return lambda x, y: x[torch.randperm(count)]


def _begin(count: int) -> Function:
    def function(x: Any, y: Any) -> Any:
        index = torch.randperm(count)[:4]
        return x[index], index

    return function


def _added(count: int) -> Function:
    return lambda x, y: x.index_add(0, torch.randperm(count), y[:count])


def _run(function: Function, **options: Any) -> Any:
    """Where which of the passes fired; the compiled function must agree with eager."""
    x, y = torch.arange(24.0).reshape(8, 3), torch.ones(8, 3)
    torch.manual_seed(0)
    expected = function(x, y)
    torch.manual_seed(0)
    with (
        without_codegen(),
        inductor_config.patch(fallback_random=True),
        stage_records.record() as records,
    ):
        found = torch.compile(function, backend="xductor", options=options)(x, y)
    torch.testing.assert_close(found, expected)
    names = ("randperm_index", "randperm_index_add")
    return [(one.stage, name) for one in records for name in names if one.applications(name)]


@pytest.mark.parametrize("count", [8, 4, 1, 0])
@pytest.mark.parametrize("kind", [_all, _begin, _added])
def test_permutations_of_at_most_the_rows(kind: Callable[[int], Function], count: int) -> None:
    name = "randperm_index_add" if kind is _added else "randperm_index"
    assert _run(kind(count)) == [("joint", name)]


@pytest.mark.parametrize("kind", [_all, _begin])
def test_the_pass_is_disabled(kind: Callable[[int], Function]) -> None:
    """Inductor's pattern does not run instead, in either stage."""
    options = {"xductor.disabled_passes": ["randperm_index"]}
    assert _run(kind(4), **options) == []


def test_an_index_out_of_range_is_an_error_as_in_eager() -> None:
    compiled = torch.compile(_all(9), backend="xductor")
    with without_codegen(), pytest.raises(IndexError, match="out of bounds"):
        compiled(torch.ones(8, 3), torch.ones(8, 3))


def test_a_permutation_that_is_found_in_post_grad() -> None:
    """As in Inductor, which has the patterns in both stages."""

    def checked_again(graph: torch.fx.Graph) -> None:
        for node in graph.find_nodes(op="call_function", target=aten._unsafe_index.Tensor):
            node.target = aten.index.Tensor

    with inductor_config.patch(post_grad_custom_pre_pass=checked_again):
        assert _run(_all(8)) == [("joint", "randperm_index"), ("post_grad", "randperm_index")]
