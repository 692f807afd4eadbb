"""Under which conditions attention is fused: policy, dropout, modes, sizes, numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch._dynamo.utils import counters
from torch._inductor import config
from torch.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts

from tests.transforms.attention.fused import compare, fused
from tests.transforms.attention.spelling import bhsd
from xductor.backend.run_as_fx.without_codegen import without_codegen
from xductor.transforms.attention import kernels
from xductor.transforms.attention.replacement import Options

_INF = float("inf")


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


def _plain(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.softmax(q @ k.mT / 4.0, -1) @ v


def _masked(q: Tensor, k: Tensor, v: Tensor, keep: Tensor) -> Tensor:
    return torch.softmax((q @ k.mT / 4.0).masked_fill(~keep, -_INF), -1) @ v


def _causal(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    keep = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril()
    return _masked(q, k, v, keep)


def _sizes(rows: int, columns: int) -> tuple[Tensor, ...]:
    return (
        torch.randn(2, 3, rows, 16),
        torch.randn(2, 3, columns, 16),
        torch.randn(2, 3, columns, 16),
    )


# Sizes.


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("function", [_plain, _causal], ids=["plain", "causal"])
def test_symbolic_sizes(function: Callable[..., Tensor], grad: bool) -> None:
    found = compare(function, _sizes(9, 9), grad=grad, dynamic=True)
    assert found.outcome.count == 1
    assert max(found.forward, found.backward or 0.0) < 2e-6
    run, _ = fused(function, dynamic=True)
    for size in (9, 5, 12):
        inputs = _sizes(size, size)
        torch.testing.assert_close(run(*inputs), function(*inputs))


class _Dropped(torch.nn.Module):
    """Attention with the dropout of a module, whose probability Dynamo reads from a tensor."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        weights = torch.softmax(q @ k.mT / 4.0, -1)
        return F.dropout(weights, p=self.p, training=self.training) @ v


@pytest.mark.parametrize("training", [False, True])
def test_a_probability_that_is_no_constant_of_the_graph(training: bool) -> None:
    module = _Dropped(0.25).train(training)
    run, outcome = fused(module, dynamic=True)
    for size in (9, 5, 12):
        inputs = _sizes(size, size)
        found = run(*inputs)
        if not training:
            torch.testing.assert_close(found, module(*inputs))
    assert outcome.count == (0 if training else 1)
    assert outcome.reasons == (["the kernel on cpu has no dropout"] if training else [])


def test_another_probability_is_another_graph() -> None:
    module = _Dropped(0.25).eval()
    run, outcome = fused(module, dynamic=True)
    for p, training in ((0.25, False), (0.5, False), (0.0, True)):
        module.p, inputs = p, _sizes(7, 6)
        module.train(training)
        torch.testing.assert_close(run(*inputs), module(*inputs))
    assert outcome.count >= 2


def test_causal_in_a_symbol() -> None:
    def positions(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        place = torch.arange(q.shape[2])
        return _masked(q, k, v, place[:, None] >= place[None, :])

    found = compare(positions, _sizes(9, 9), dynamic=True)
    assert "is_causal" in found.outcome.text


@pytest.mark.parametrize(("rows", "columns"), [(4, 9), (9, 4)])
def test_a_triangle_that_is_no_square_is_a_mask(rows: int, columns: int) -> None:
    found = compare(_causal, _sizes(rows, columns))
    assert found.outcome.count == 1
    assert found.forward < 2e-6
    assert "is_causal" not in found.outcome.text
    assert "attn_mask" in found.outcome.text


@pytest.mark.parametrize(("rows", "columns"), [(1, 9), (1, 1), (3, 1)])
def test_few_rows_and_columns(rows: int, columns: int) -> None:
    assert compare(_plain, _sizes(rows, columns), grad=True).forward < 2e-6


@pytest.mark.parametrize(("rows", "columns"), [(0, 4), (4, 0)])
def test_empty(rows: int, columns: int) -> None:
    found = compare(_plain, _sizes(rows, columns))
    assert found.outcome.count == 0
    assert found.forward == 0


def test_the_triangle_below_the_diagonal_is_not_causal() -> None:
    def below(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return _masked(q, k, v, torch.ones(8, 8, dtype=torch.bool).tril(-1))

    found = compare(below, bhsd())
    assert found.outcome.count == 1
    assert found.forward < 2e-6  # the first row is NaN in both
    assert "is_causal" not in found.outcome.text


# Layouts.


def test_a_copy_that_would_become_a_view() -> None:
    def written(q: Tensor, k: Tensor, v: Tensor) -> Any:
        out = _plain(q, k, v).transpose(1, 2)
        rows = out.reshape(2, 8, 64)
        rows.mul_(2.0)
        return rows, out.sum(-1).reshape(2, 32)

    def returned(q: Tensor, k: Tensor, v: Tensor) -> Any:
        out = _plain(q, k, v).transpose(1, 2)
        return out.reshape(2, 8, 64), out.reshape(16, 64)

    for function in (written, returned):
        found = compare(function, bhsd())
        assert found.outcome.count == 1
        assert found.forward < 2e-6
        assert "contiguous" in found.outcome.text


# Numbers.


@pytest.mark.parametrize("number", [math.nan, _INF, 1e30, -1e30])
@pytest.mark.parametrize("place", [0, 1, 2], ids=["query", "key", "value"])
def test_numbers_that_are_none(number: float, place: int) -> None:
    """What a row gives that reads NaN or an infinity; rows that do not are as they were."""
    inputs = tuple(torch.randn(2, 4, 16, 16) for _ in range(3))
    inputs[place][0, 0, 3, 2] = number
    run, outcome = fused(_plain)
    found, expected = run(*inputs), _plain(*inputs)
    assert outcome.count == 1
    torch.testing.assert_close(found, expected, equal_nan=True)


def test_a_row_of_nan_over_few_keys() -> None:
    """The kernel for CPU gives zeros there if the keys are fewer than the lanes of a vector."""
    inputs = bhsd()
    inputs[0][0, 0, 3, 2] = math.nan
    run, outcome = fused(_plain)
    found, kernel = run(*inputs), F.scaled_dot_product_attention(*inputs)
    assert outcome.count == 1
    torch.testing.assert_close(found, kernel, equal_nan=True)
    others = torch.ones_like(found, dtype=torch.bool)
    others[0, 0, 3] = False
    torch.testing.assert_close(found[others], _plain(*inputs)[others])


def test_a_row_without_a_column_by_policy() -> None:
    keep = torch.rand(2, 1, 8, 8) > 0.3
    keep[0, 0, 3] = False
    inputs = (*bhsd(), keep)
    default, found = fused(_masked)
    assert default(*inputs)[0, 0, 3].isnan().all()
    assert found.count == 1
    fast, found = fused(_masked, Options("fast"))
    assert (fast(*inputs)[0, 0, 3] == 0).all()
    assert found.count == 1


def test_nothing_is_fused_under_strict() -> None:
    torch._dynamo.reset()
    counters.clear()
    with without_codegen():
        options: dict[str, Any] = {"xductor.numerics": "strict"}
        found = torch.compile(_plain, backend="xductor", options=options)(*(inputs := bhsd()))
    assert counters["inductor"]["fuse_attention"] == 0
    torch.testing.assert_close(found, _plain(*inputs))


# Dropout.

#: A device that has a kernel for everything.
_ANY = kernels.Kernels(lambda dtype, dropout: None, lambda request: None)


def _dropped(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return F.dropout(torch.softmax(q @ k.mT / 4.0, -1), 0.25, True) @ v


def test_dropout_where_a_kernel_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the device had such a kernel: the mean over many draws is what it was."""
    monkeypatch.setitem(kernels._DEVICES, "cpu", _ANY)
    run, outcome = fused(_dropped)
    q, k, v = bhsd()
    draws = torch.stack([run(q, k, v) for _ in range(600)])
    assert outcome.count == 1
    assert "dropout_p = 0.25" in outcome.text
    expected = torch.stack([_dropped(q, k, v) for _ in range(600)])
    torch.testing.assert_close(draws.mean(0), expected.mean(0), atol=0.2, rtol=0)
    ratio = draws.var(0).mean() / expected.var(0).mean()
    assert 0.95 < ratio < 1.05


def test_no_dropout_that_has_to_draw_as_eager_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(kernels._DEVICES, "cpu", _ANY)
    found = compare(_dropped, bhsd(), Options(permits=()))
    assert found.outcome.count == 0
    assert found.outcome.reasons == ["dropout has to draw as eager does"]


@pytest.mark.parametrize("flag", ["fallback_random", "deterministic", ""])
def test_what_keeps_dropout_as_it_is(flag: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(kernels._DEVICES, "cpu", _ANY)
    torch._dynamo.reset()
    counters.clear()
    deterministic = torch.are_deterministic_algorithms_enabled()
    patch = {"fallback_random": flag == "fallback_random"}
    try:
        torch.use_deterministic_algorithms(flag == "deterministic")
        with config.patch(patch), without_codegen():
            torch.compile(_dropped, backend="xductor")(*bhsd())
    finally:
        torch.use_deterministic_algorithms(deterministic)
    assert counters["inductor"]["fuse_attention"] == (0 if flag else 1)


# Flags and regions.


def _counted(function: Callable[..., Any], *inputs: Any, **patch: Any) -> int:
    torch._dynamo.reset()
    counters.clear()
    with config.patch(patch), without_codegen():
        options: dict[str, Any] = {"xductor.on_error": "raise"}
        found = torch.compile(function, backend="xductor", options=options)(*inputs)
    torch.testing.assert_close(found, function(*inputs), atol=2e-2, rtol=2e-2)
    return counters["inductor"]["fuse_attention"]


def test_inductor_flag() -> None:
    assert _counted(_plain, *bhsd()) == 1
    assert _counted(_plain, *bhsd(), pattern_matcher=False) == 0


def test_under_autocast() -> None:
    def inside(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return _plain(q, k, v)

    def outside(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return _plain(q, k, v)

    inputs = bhsd()
    assert _counted(inside, *inputs) == 1
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert _counted(outside, *inputs) == 1


def test_in_a_region_without_gradients() -> None:
    def inside(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        with torch.no_grad():
            context = _plain(q, k, v)
        return context * q

    found = compare(inside, bhsd(), grad=True)
    assert found.outcome.count == 1
    assert (found.backward or 0.0) < 2e-6


def _saves_products() -> Any:
    return create_selective_checkpoint_contexts([torch.ops.aten.mm.default])


def test_bodies_of_checkpoints() -> None:
    def whole(q: Tensor, k: Tensor, v: Tensor) -> Any:
        return checkpoint(_plain, q, k, v, use_reentrant=False)

    def chosen(q: Tensor, k: Tensor, v: Tensor) -> Any:
        return checkpoint(_plain, q, k, v, use_reentrant=False, context_fn=_saves_products)

    inputs = [one.requires_grad_() for one in bhsd()]
    assert _counted(whole, *inputs) == 1
    assert _counted(chosen, *inputs) == 0


def test_what_stock_gets_wrong_is_left_to_nobody() -> None:
    """Inductor's own patterns do not run where ours decline: a softmax over rows stays one."""

    def rows(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return torch.softmax(q @ k.mT / 2, -2) @ v

    with torch.no_grad():
        assert _counted(rows, *(torch.randn(4, 4, 4, 4) for _ in "qkv")) == 0
