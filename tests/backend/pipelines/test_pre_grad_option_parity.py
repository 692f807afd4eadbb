"""Each option of the fusions before autograd means to ours what it means to Inductor's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch._dynamo.utils import counters
from torch._inductor import config
from torch._inductor.fx_passes import pre_grad

from tests.before_autograd.captured import graph_module
from tests.corpus.capture import graph_copy
from xductor.backend.stages import pre_grad_passes

Function = Callable[..., Any]
x, w = torch.linspace(-2, 2, 12).reshape(3, 4), torch.linspace(-1, 1, 20).reshape(5, 4)

CALLS: Mapping[str, Function] = {
    "batch_linear_lhs": lambda x, w, n: F.linear(x, w + n),
    "batch_linear": lambda x, w, n: F.linear(x, w[:4]),
    "batch_layernorm": lambda x, w, n: F.layer_norm(x, (4,), w[0]),
    "batch_tanh": lambda x, w, n: torch.tanh(x),
    "batch_sigmoid": lambda x, w, n: torch.sigmoid(x),
    "batch_relu": lambda x, w, n: F.relu(x),
    "batch_detach": lambda x, w, n: x.detach(),
    "batch_nan_to_num": lambda x, w, n: torch.nan_to_num(x),
    "batch_clamp": lambda x, w, n: torch.clamp(x, min=0),
    "batch_dropout": lambda x, w, n: F.dropout(x, p=1e-9),
}


def _graphs(name: str) -> Mapping[str, Function]:
    """Six calls that one call reads, or several; above each other; with two parents."""
    call = CALLS[name]

    def made(x: torch.Tensor, w: torch.Tensor) -> list[torch.Tensor]:
        shift = name != "batch_linear_lhs"
        return [call(x + n if shift else x, w, n) for n in range(6)]

    def several(x: torch.Tensor, w: torch.Tensor) -> Any:
        results = made(x, w)
        return torch.stack(results[:4]), results[4] * 2, results[5] + 1

    def above(x: torch.Tensor, w: torch.Tensor) -> Any:
        return torch.stack([call(one[:, :4], w, 0) for one in made(x, w)])

    def parents(x: torch.Tensor, w: torch.Tensor) -> Any:
        own = [call(x, w, n) for n in range(3)]
        return torch.stack([*own, *[call(x + 1, w, n) for n in range(3)]])

    return {
        "one reader": lambda x, w: torch.stack(made(x, w)),
        "several readers": several,
        "levels": above,
        "two parents": parents,
    }


OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"min_fuse_set_size": 2},
    {"min_fuse_set_size": 6},
    {"min_fuse_set_size": 7},
    {"min_fuse_set_size": 2, "max_fuse_set_size": 3},
    {"min_fuse_set_size": 2, "max_fuse_search_depth": 1},
    {"min_fuse_set_size": 2, "max_fuse_search_depth": 0},
    {"min_fuse_set_size": 2, "fuse_nodes_with_same_parent": True},
    {"min_fuse_set_size": 2, "fuse_nodes_with_same_users": True},
)


def _counts(function: Function, options: Mapping[str, Any], *inputs: torch.Tensor) -> list[int]:
    """The counts of stock's stage and of ours on one graph, for the last option."""
    gm = graph_module(function, *inputs)
    found: list[int] = []
    for stage in (pre_grad.pre_grad_passes, pre_grad_passes):
        counters.clear()
        with config.patch(pre_grad_fusion_options=dict(options)):
            stage(graph_copy(gm), inputs)
        found.append(counters["inductor"][list(options)[-1]])
    return found


@pytest.mark.parametrize("name", CALLS)
def test_groups(name: str) -> None:
    groups = 0
    for what, function in _graphs(name).items():
        for options in OPTIONS:
            stock, ours = _counts(function, {name: options}, x, w)
            groups += ours
            # Inductor groups the calls of its own groups again, above what it is asked for.
            again = "max_fuse_set_size" in options or "fuse_nodes_with_same_parent" in options
            assert stock == ours or (again and stock > ours > 0), (what, options, stock, ours)
    assert groups > 10


LONG: Mapping[str, Function] = {
    "split_cat_to_slices_pass": lambda x, y: torch.cat([*x.split(1, 1), y], 1) * 2,
    "unbind_cat_to_view_pass": lambda x, y: torch.cat([*x.view(12, 4).unbind(0), y[:, 0]]) * 2,
    "unbind_stack_to_slices_pass": lambda x, y: torch.stack([*x.unbind(1), y[:, 0]], 1) * 2,
    "move_reshape_out_of_split_stack_pass": lambda x, y: (
        torch.stack([torch.reshape(one, (2, 2)) for one in torch.split(x, 1, 1)]) * 2
    ),
}


@pytest.mark.parametrize("threshold", [2, 10, 12, 13])
@pytest.mark.parametrize("name", LONG)
def test_how_long_a_join_is(name: str, threshold: int) -> None:
    """Of twelve pieces, beside another part or not; all of a tensor are taken in any case."""
    options = {"normalization_pass": {}, name: {"threshold_to_cat": threshold}}
    stock, ours = _counts(LONG[name], options, torch.randn(4, 12), torch.randn(4, 12))
    assert ours == stock


@pytest.mark.parametrize("times", [1, 2, 3])
def test_how_often_a_table_runs(times: int) -> None:
    """Ours merges all levels of splits at once; Inductor's needs a run for each."""

    def function(x: torch.Tensor) -> Any:
        first = torch.split(x, [4, 8], 1)
        second = torch.split(first[1], [3, 5], 1)
        third = torch.split(second[1], [2, 3], 1)
        return [one.sin() for one in (first[0], second[0], *third)]

    options = {"normalization_pass": {}, "merge_splits_pass": {"counter": times}}
    stock, ours = _counts(function, options, torch.randn(4, 12))
    assert ours == 2
    assert stock <= ours
