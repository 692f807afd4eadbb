"""The group fusions of `pre_grad_fusion_options` in a compile: order, counts, options."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch._dynamo.utils import counters
from torch._inductor import config
from torch._inductor.fx_passes import group_batch_fusion, pre_grad

from tests.before_autograd.captured import graph_module
from xductor.backend.records import stage_records
from xductor.backend.run_as_fx.without_codegen import without_codegen
from xductor.backend.stages import pre_grad_passes
from xductor.backend.steps.typed_steps import all_bridged

Function = Callable[..., Any]

FUNCTIONS: dict[str, Function] = {
    "batch_linear_lhs": lambda x, w: torch.cat([F.linear(x, w + n) for n in range(5)], 1),
    "batch_linear": lambda x, w: torch.stack([F.linear(x + n, w) for n in range(5)]),
    "batch_layernorm": lambda x, w: torch.stack(
        [F.layer_norm(x + n, (4,), w[0]) for n in range(5)]
    ),
    "batch_tanh": lambda x, w: torch.stack([torch.tanh(x + n) for n in range(5)]),
    "batch_sigmoid": lambda x, w: torch.stack([torch.sigmoid(x + n) for n in range(5)]),
    "batch_relu": lambda x, w: torch.stack([F.relu(x + n) for n in range(5)]),
    "batch_detach": lambda x, w: torch.stack([(x + n).detach() for n in range(5)]) * x,
    "batch_nan_to_num": lambda x, w: torch.stack([torch.nan_to_num(x / n) for n in range(5)]),
    "batch_clamp": lambda x, w: torch.stack([torch.clamp(x + n, min=0) for n in range(5)]),
    "batch_dropout": lambda x, w: torch.stack([F.dropout(x + n, p=1e-9) for n in range(5)]),
}


def _inputs() -> list[torch.Tensor]:
    x, w = torch.linspace(-2, 2, 12), torch.linspace(-1, 1, 20)
    return [x.reshape(3, 4).double(), w.reshape(5, 4).double()]


def _compiled(function: Function, options: dict[str, Any], slack: float = 1e-7) -> Any:
    """The record of the stage, and counters; results and gradients are those of eager."""
    torch._dynamo.reset()
    counters.clear()
    found, expected = ([one.clone().requires_grad_() for one in _inputs()] for _ in range(2))
    with (
        without_codegen(),
        config.patch(pre_grad_fusion_options=options),
        stage_records.record() as records,
    ):
        ours: dict[str, Any] = {"xductor.on_error": "raise"}
        result = torch.compile(function, backend="xductor", options=ours)(*found)
    wanted = function(*expected)
    torch.testing.assert_close(result, wanted, rtol=slack, atol=slack, equal_nan=True)
    for one in (result, wanted):
        if one.requires_grad:
            torch.nan_to_num(one).cos().sum().backward()
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=slack, atol=slack, equal_nan=True)
    return next(one for one in records if one.stage == "pre_grad"), counters["inductor"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_is_typed_and_counts(name: str) -> None:
    record, counted = _compiled(FUNCTIONS[name], {name: {}})
    kinds = {one.name: one.kind for one in record.passes}
    assert kinds[name] == "typed"
    assert record.applications(name) == counted[name] == 1


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_stock_finds_ours_does(name: str) -> None:
    """As many groups, on the same graph."""
    x, w = _inputs()
    counts: list[int] = []
    for bridged in (all_bridged, nullcontext):
        gm = graph_module(FUNCTIONS[name], x, w)
        counters.clear()
        with bridged(), config.patch(pre_grad_fusion_options={name: {}}):
            pre_grad_passes(gm, [x, w])
        counts.append(counters["inductor"][name])
    assert counts == [1, 1]


def _towers(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    rows = [torch.tanh(F.linear(x + n, w[:4])) for n in range(5)]
    return torch.stack([torch.sigmoid(row) for row in rows])


def test_they_run_in_the_users_order() -> None:
    options = {"batch_sigmoid": {}, "batch_linear": {"min_fuse_set_size": 3}, "batch_tanh": {}}
    record, counted = _compiled(_towers, options)
    ran = [one.name for one in record.passes if one.name in options]
    assert ran == list(options)
    assert [counted[name] for name in options] == [1, 1, 1]


def test_the_numbers_of_eager_are_drawn_if_the_user_asks_for_them() -> None:
    with config.patch(fallback_random=True):
        record, _ = _compiled(FUNCTIONS["batch_dropout"], {"batch_dropout": {}})
    assert record.applications("batch_dropout") == 0


def test_a_fusion_of_the_users_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that he put in the place of Inductor's, and one of a name of his own."""

    base: Any = group_batch_fusion.BatchTanhPreGradFusion

    class Mine(base):
        def fuse(self, graph: Any, subset: Any) -> None:
            counters["inductor"]["mine"] += 1

    for name in ("batch_tanh", "my_fusion"):
        monkeypatch.setitem(group_batch_fusion.PRE_GRAD_FUSIONS, name, Mine)
    record, counted = _compiled(_towers, {"batch_tanh": {}, "my_fusion": {}, "batch_sigmoid": {}})
    assert record.applications("batch_tanh") == 0
    assert record.applications("batch_sigmoid") == 1
    assert counted["mine"] >= 2


def test_a_driver_of_the_users_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []
    own = lambda graph, pre_grad: seen.append(pre_grad)  # noqa: E731
    monkeypatch.setattr(pre_grad, "group_batch_fusion_passes", own)
    record, _ = _compiled(_towers, {"batch_tanh": {}})
    assert seen == [True]
    assert record.applications("batch_tanh") == 0


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"batch_tanh": {}, "no_such": {}}, KeyError, "there is no fusion 'no_such'; there are"),
        ({"batch_tanh": {}, "batch_aten_tanh": {}}, KeyError, "no fusion 'batch_aten_tanh'"),
        ({"batch_tanh": 3}, TypeError, "expected a dict of options, found 3"),
        ({"batch_tanh": {"min_fuse_set_size": "2"}}, TypeError, "a whole number, found '2'"),
        ({"batch_tanh": {"max_fuse_search_depth": -1}}, ValueError, "expected 0 or more, found -1"),
        ({"batch_tanh": {"min_fuse_set_size": 9, "max_fuse_set_size": 8}}, ValueError, "9, above"),
        ({"batch_linear": {"min_fuse_set_size": 301}}, ValueError, "is 301, above"),
    ],
)  # fmt: skip
def test_options_that_cannot_be_meant(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    gm = graph_module(_towers, *_inputs())
    before = str(gm.graph)
    patch = config.patch(pre_grad_fusion_options=options)
    with pytest.raises(error, match=message) as raised, patch:
        pre_grad_passes(gm, _inputs())
    assert "pre_grad_fusion_options" in str(raised.value)
    assert str(gm.graph) == before


def _over_a_buffer(function: Function, write: Function) -> Function:
    def run(x: torch.Tensor, w: torch.Tensor) -> Any:
        buffer, made = torch.zeros_like(x), []
        for number in range(6):
            buffer = write(buffer, x.detach() + number)
            made.append(function(buffer))
        return torch.stack(made)

    return run


def _sum_in_place(function: Function, write: Function) -> Function:
    def run(x: torch.Tensor, w: torch.Tensor) -> Any:
        total, made = x.detach() * 1.0, []
        for _ in range(6):
            made.append(function(total))
            total = write(total)
        return torch.stack([one.sum() for one in made])

    return run


def _set_first(buffer: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    buffer[0] = value[0]
    return buffer


def _iadd(buffer: torch.Tensor) -> torch.Tensor:
    buffer += 1
    return buffer


def _alternating(*ways: Function) -> Function:
    """Calls in turn, whose results are summed up, since they may be of several dtypes."""
    return lambda x, w: torch.stack(
        [ways[n % len(ways)](x + n, w).double().sum() * (n + 1) for n in range(10)]
    )


HARD: dict[str, tuple[str, Function]] = {
    # Arguments by position, of which all count.
    "numbers by position": ("batch_nan_to_num", lambda x, w: torch.stack(
        [torch.nan_to_num(x / (n - 2), 1.0, 2.0, 3.0) for n in range(6)])),
    "two of three": ("batch_nan_to_num", _alternating(
        lambda x, w: torch.nan_to_num(x / 0, 1.0, 2.0), lambda x, w: (x / 0).nan_to_num(1.0))),
    "a method with names": ("batch_nan_to_num", lambda x, w: torch.stack(
        [(x / 0).nan_to_num(neginf=n % 2) for n in range(12)])),
    "bounds by position": ("batch_clamp", _alternating(
        lambda x, w: torch.clamp(x, 0), lambda x, w: x.clamp(-1, 1))),
    # A buffer that is written to between the calls.
    "copied into": ("batch_tanh", _over_a_buffer(torch.tanh, lambda b, v: b.copy_(v))),
    "filled by index": ("batch_tanh", _over_a_buffer(torch.tanh, _set_first)),
    "written through a view": ("batch_relu", _over_a_buffer(
        torch.relu, lambda b, v: (b.view(-1).add_(v.view(-1)), b)[1])),
    "normed": ("batch_layernorm", _over_a_buffer(
        lambda b: F.layer_norm(b, (4,)), lambda b, v: b.copy_(v))),
    # A sum that goes on in place.
    "added to": ("batch_sigmoid", _sum_in_place(torch.sigmoid, lambda t: t.add_(1))),
    "by an operator": ("batch_sigmoid", _sum_in_place(torch.sigmoid, _iadd)),
    "doubled": ("batch_nan_to_num", _sum_in_place(torch.nan_to_num, lambda t: t.mul_(2))),
    "detached": ("batch_detach", _sum_in_place(
        lambda t: t.detach(), lambda t: t.detach().add_(1))),
    # Layers of several dtypes.
    "of two dtypes": ("batch_linear", _alternating(
        F.linear, lambda x, w: F.linear(x.float(), w.float()))),
    "of one input": ("batch_linear_lhs", lambda x, w: torch.cat(
        [*(F.linear(x, w + n) for n in range(5)),
         *(F.linear(x.float(), w.float() + n).double() for n in range(5))], 1)),
    "and a bias": ("batch_linear", _alternating(
        lambda x, w: F.linear(x, w, w[:, 0]), lambda x, w: F.linear(x.float(), w.float()))),
    "16 bits": ("batch_tanh", _alternating(
        lambda x, w: torch.tanh(x), lambda x, w: torch.tanh(x.float()))),
    # Layer norms with and without weights.
    "without weights": ("batch_layernorm", _alternating(
        lambda x, w: F.layer_norm(x, (4,), w[0], w[1]), lambda x, w: F.layer_norm(x, (4,)))),
    "a weight or a bias": ("batch_layernorm", _alternating(
        lambda x, w: F.layer_norm(x, [4], w[0]), lambda x, w: F.layer_norm(x, [4], bias=w[0]))),
    "of two dims": ("batch_layernorm", _alternating(
        lambda x, w: F.layer_norm(x, (3, 4)), lambda x, w: F.layer_norm(x, (4,)))),
    "with two eps": ("batch_layernorm", _alternating(
        lambda x, w: F.layer_norm(x.float(), (4,), eps=0.1), lambda x, w: F.layer_norm(x, (4,)))),
}  # fmt: skip


@pytest.mark.parametrize("what", HARD)
def test_what_calls_differ_in_stays(what: str) -> None:
    name, function = HARD[what]
    _compiled(function, {name: {"min_fuse_set_size": 2}}, slack=2e-4)
