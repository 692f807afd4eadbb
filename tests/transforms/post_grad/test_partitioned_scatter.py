"""Scatters into several buffers: values, what stays, and what Inductor's config says."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch
import torch._inductor.config as inductor_config
from torch._dynamo.utils import counters

from xductor.backend.fx.export import to_fx
from xductor.transforms.post_grad.partitioned_scatter import PartitionedScatterOptimization
from xductor.transforms.validation.validate import validate
from xductor.transforms.validation.values import validating

aten = torch.ops.aten
ANY = {"min_index_size": 1}
DTYPES = (torch.float32, torch.float64, torch.int64, torch.int32, torch.int8, torch.uint8)


def _put(x: Any, index: Any, values: Any, dim: int = 0, accumulate: bool = True) -> Any:
    return aten.index_put(x, [None] * dim + [index], values, accumulate)


def _added(x: Any, index: Any, values: Any) -> Any:
    return _put(x, index, values)


def _close(found: torch.Tensor, wanted: torch.Tensor) -> None:
    assert (found.dtype, found.stride()) == (wanted.dtype, wanted.stride())
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-4, equal_nan=True)


@pytest.mark.parametrize("seed", range(60))
def test_random_scatters(trace: Any, seed: int) -> None:
    """Of any rank and dim, places counted from the end, and values that are broadcast."""
    chosen = random.Random(seed)
    torch.manual_seed(seed)
    dtype, rank = chosen.choice(DTYPES), chosen.randint(1, 3)
    sizes = tuple(chosen.randint(1, 5) for _ in range(rank))
    dim = chosen.randrange(rank)
    shape = chosen.choice(((), (1,), (40,), (5, 9)))
    index = torch.randint(-sizes[dim], sizes[dim], shape)
    index = index.to(chosen.choice((torch.int64, torch.int32)))
    whole = (*sizes[:dim], *shape, *sizes[dim + 1 :])
    given = chosen.choice((whole, whole[1:], (), tuple(1 for _ in whole)))
    x, values = ((torch.randn(one) * 5).to(dtype) for one in (sizes, given))
    case = trace(lambda a, i, v: _put(a, i, v, dim), x, index, values)
    with validating():
        options = {"max_partitions": chosen.choice((2, 3, 16, 128))}
        assert case.run(PartitionedScatterOptimization(**ANY, **options)) == 1
    _close(to_fx(case.module)(x, index, values), _put(x, index, values, dim))


def test_what_is_not_finite(trace: Any, special: Any) -> None:
    x, values = special(4, 3), special(10, 3).flip(0)
    index = torch.arange(10) % 3
    case = trace(_added, x, index, values)
    assert case.run(PartitionedScatterOptimization(**ANY)) == 1
    _close(to_fx(case.module)(x, index, values), _put(x, index, values))


def test_a_place_that_is_out_of_bounds_is_an_error(trace: Any) -> None:
    """It does not come to lie in the next buffer."""
    x, index, values = torch.zeros(3), torch.tensor([0, 3, 1]), torch.ones(3)
    case = trace(_added, x, torch.tensor([0, 2, 1]), values)
    assert case.run(PartitionedScatterOptimization(**ANY)) == 1
    with pytest.raises(IndexError, match="out of"):
        to_fx(case.module)(x, index, values)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, i, v: _put(x, i, v, accumulate=False),
        lambda x, i, v: aten.index_put(x, [i > 0], x[0, 0], True),
        lambda x, i, v: aten.index_put(x, [i, i], x[0, 0], True),
        lambda x, i, v: _put(x, i.to(torch.uint8), v),
        lambda x, i, v: _put(x > 0, i, v > 0),
        lambda x, i, v: _put(x.to(torch.complex64), i, v.to(torch.complex64)),
        lambda x, i, v: _put(x[:, :0], i, v[:, :0]),
    ],
)
def test_what_stays(trace: Any, function: Any) -> None:
    given = torch.randn(3, 2), torch.tensor([0, 1, 2]), torch.randn(3, 2)
    if "uint8" in str(function.__code__.co_names):
        given = torch.randn(3, 2), torch.tensor([1, 1, 1]), torch.randn(3, 2)
    assert trace(function, *given).run(PartitionedScatterOptimization(**ANY)) == 0


def test_when_it_pays(trace: Any) -> None:
    given = torch.randn(3, 2), torch.zeros(50, dtype=torch.int64), torch.randn(50, 2)
    for options, applied in (
        ({}, 0),
        ({"min_index_size": 50}, 1),
        ({"min_index_size": 51}, 0),
        ({"min_index_size": 1, "memory_budget": 24}, 1),
        ({"min_index_size": 1, "memory_budget": 23}, 0),
        ({"min_index_size": 1, "max_partitions": 1}, 0),
    ):
        assert trace(_added, *given).run(PartitionedScatterOptimization(**options)) == applied
    assert trace(_added, *given, dynamic=True).run(PartitionedScatterOptimization(**ANY)) == 0


def test_it_is_validated() -> None:
    found = validate(PartitionedScatterOptimization, instances=30, rounds=2)
    assert found.status == "validated", str(found)


def test_compiled() -> None:
    """Where the user turned it on, in the place of Inductor's own."""
    given = torch.zeros(10), torch.randint(-10, 10, (5000,)), torch.randint(0, 9, (5000,)).float()
    for enabled in (False, True):
        torch._dynamo.reset()
        counters.clear()
        with inductor_config.patch(partitioned_scatter_enabled=enabled), torch.no_grad():
            options: dict[str, Any] = {"xductor.on_error": "raise"}
            found = torch.compile(_put, backend="xductor", options=options)(*given)
        _close(found, _put(*given))
        assert counters["inductor"]["partitioned_scatter_applied"] == enabled
        applied = {name.rpartition(".")[2]: n for name, n in counters["xductor"].items()}
        assert applied.get("PartitionedScatterOptimization", 0) == enabled
