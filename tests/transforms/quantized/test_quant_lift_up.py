"""`quant_lift_up`: quantisations above views, before autograd."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
import torch
from torch._dynamo.utils import counters

import xductor
from tests.transforms.quantized.pt2e_programs import aten, down, up
from xductor.backend.fx.export import to_fx
from xductor.transforms.quantized.quant_lift_up import QUANT_LIFT_UP
from xductor.transforms.rewriting.rewrite_pass import RewritePass

OPTIONS: dict[str, Any] = {"xductor.on_error": "raise", "xductor.verify": "types"}

VIEWS: dict[str, Callable[[Any], Any]] = {
    "transpose": lambda y: aten.transpose.int(y, 0, -1),
    "permute": lambda y: aten.permute.default(y, [2, 0, 1]),
    "view": lambda y: aten.view.default(y, [y.shape[0], -1, 1]),
    "reshape": lambda y: aten.reshape.default(y, [-1, 2]),
    "methods": lambda y: y.view(y.shape[0], -1, 1).transpose(1, 2).permute(2, 0, 1),
}


def quantised(y: Any) -> Any:
    return up(down(y, 0.1, 3), 0.1, 3) + 1


def flat(given: Any) -> Any:
    return given if isinstance(given, tuple | list) else (given,)


@pytest.fixture
def lifted(trace: Any) -> Callable[..., int]:
    """How often the rewrite applies to a traced program; values are compared bit for bit."""

    def run(program: Callable[[Any], Any], x: torch.Tensor, *, dynamic: bool = False) -> int:
        case = trace(lambda x: program(x), x, dynamic=dynamic, stage="pre_grad")
        count = case.run(RewritePass.of(QUANT_LIFT_UP))
        for found, wanted in zip(
            *(flat(one(x.clone())) for one in (to_fx(case.module), program)), strict=True
        ):
            torch.testing.assert_close(found, wanted, rtol=0, atol=0)
            steps = zip(found.stride(), wanted.stride(), found.shape, strict=True)
            assert not found.numel() or all(a == b or size == 1 for a, b, size in steps)
        return count

    return run


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("what", VIEWS)
def test_views(what: str, dynamic: bool, lifted: Callable[..., int]) -> None:
    def program(x: Any) -> Any:
        return down(VIEWS[what](aten.mul.Tensor(x, 2)), 0.1, 3)

    views = 3 if what == "methods" else 1
    assert lifted(program, torch.randn(6, 4, 2), dynamic=dynamic) == views


def _second_reader(y: Any) -> Any:
    moved = aten.permute.default(aten.view.default(y, [3, 2, 8]), [1, 0, 2])
    return quantised(moved), y.amax()


def _second_reader_of_a_view(y: Any) -> Any:
    view = aten.view.default(y, [3, 2, 8])
    return quantised(aten.permute.default(view, [1, 0, 2])), view.amax()


STAYS: dict[str, Callable[[Any], Any]] = {
    "what is viewed is read elsewhere": _second_reader,
    "a view is read elsewhere": _second_reader_of_a_view,
    "no view": lambda y: quantised(y),
    "a slice": lambda y: quantised(aten.slice.Tensor(y, 0, 1, 3)),
    "an expanded tensor": lambda y: quantised(aten.expand.default(y, [2, 6, 4, 2])),
    "something between": lambda y: quantised(aten.permute.default(y, [2, 0, 1]).neg()),
    "numbers that are tensors": lambda y: torch.ops.quantized_decomposed.quantize_per_tensor.tensor(
        aten.permute.default(y, [2, 0, 1]),
        torch.tensor(0.1),
        torch.tensor(3),
        0,
        255,
        torch.uint8,
    ),
}


@pytest.mark.parametrize("what", STAYS)
def test_what_stays(what: str, lifted: Callable[..., int]) -> None:
    assert lifted(lambda x: STAYS[what](aten.mul.Tensor(x, 2)), torch.randn(6, 4, 2)) == 0


def test_special_numbers_and_no_elements(lifted: Callable[..., int]) -> None:
    def program(x: Any) -> Any:
        return quantised(aten.permute.default(aten.mul.Tensor(x, 2), [1, 0]))

    inf = float("inf")
    assert lifted(program, torch.tensor([[0.0, -0.0, inf, -inf], [1e30, 0.05, 0.15, 25.2]])) == 1
    assert lifted(program, torch.randn(0, 4)) == 1
    assert lifted(program, torch.randn(1, 1)) == 1


@pytest.mark.filterwarnings("ignore")
def test_a_gradient_beside_it() -> None:
    """The quantised result has none; what it is computed from keeps its own."""
    x = torch.randn(6, 4, 2, requires_grad=True)
    made = torch.compile(
        lambda x: (quantised(aten.permute.default(x * 2, [2, 0, 1])), x.sin()),
        backend="xductor",
        options=OPTIONS,
    )
    made(x)[1].sum().backward()
    torch.testing.assert_close(x.grad, x.detach().cos())


@pytest.mark.filterwarnings("ignore")
def test_compiled() -> None:
    """One quantisation is counted, of three views. A write to what was viewed stays behind."""

    def program(x: torch.Tensor) -> Any:
        y = aten.mul.Tensor(x, 2)
        moved = aten.permute.default(y, [2, 0, 1])
        y.add_(1)
        return quantised(VIEWS["methods"](torch.mul(x, 2))), quantised(moved)

    torch._dynamo.reset()
    counters.clear()
    x = torch.randn(6, 4, 2)
    made = torch.compile(program, backend="xductor", options=OPTIONS)
    torch.testing.assert_close(made(x), program(x), rtol=0, atol=0)
    assert xductor.last_compile().count("quant_lift_up") == 3
    assert counters["inductor"]["quant_lift_up_count"] == 1


def _random_view(rng: Random, shape: list[int]) -> tuple[Callable[[Any], Any], list[int]]:
    kind = rng.choice(("permute", "transpose", "reshape"))
    if kind == "permute":
        dims = rng.sample(range(len(shape)), len(shape))
        return lambda y: aten.permute.default(y, dims), [shape[dim] for dim in dims]
    if kind == "transpose":
        a, b = rng.randrange(len(shape)), rng.randrange(len(shape))
        sizes = list(shape)
        sizes[a], sizes[b] = sizes[b], sizes[a]
        return lambda y: aten.transpose.int(y, a, b), sizes
    sizes = rng.choice(([48], [6, 8], [4, 3, 4], [2, 2, 3, 4], [1, 48, 1]))
    return lambda y: aten.reshape.default(y, sizes), sizes


def test_random_views(lifted: Callable[..., int]) -> None:
    moved = 0
    for seed in range(60):
        rng, shape, views = Random(seed), [6, 4, 2], list[Callable[[Any], Any]]()
        for _ in range(rng.randint(1, 5)):
            view, shape = _random_view(rng, shape)
            views.append(view)

        def program(x: Any, views: Any = tuple(views)) -> Any:
            y = aten.mul.Tensor(x, 2)
            for view in views:
                y = view(y)
            return down(y, 0.1, 3)

        moved += lifted(program, torch.randn(6, 4, 2) * 9)
    assert moved > 100
