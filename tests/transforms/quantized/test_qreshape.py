"""`qreshape`: what is reshaped between dequantisation and quantisation."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
import torch
from torch._dynamo.utils import counters
from torch.fx.experimental.proxy_tensor import make_fx

import xductor
from tests.transforms.quantized.pt2e_programs import ALL, aten, down, up
from tests.transforms.quantized.pt2e_programs import changed as changed_by
from xductor.backend.fx.export import to_fx
from xductor.frontend import from_fx
from xductor.transforms.quantized.qreshape import QRESHAPE
from xductor.transforms.rewriting.rewrite_pass import RewritePass


def changed(program: Callable[..., Any], x: torch.Tensor) -> tuple[int, list[str]]:
    return changed_by(QRESHAPE, program, x)


def reshaped(x: Any, *sizes: int) -> Any:
    return aten.reshape.default(x, list(sizes))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8])
@pytest.mark.parametrize("scale", [1e-30, 1e-6, 0.003, 0.1, 1 / 3, 2.0, 1e30])
def test_all_numbers_come_back(scale: float, dtype: torch.dtype) -> None:
    for zero in (-1024, -1, 0, 128, 255, 1024):

        def program(x: Any, zero: int = zero) -> Any:
            return down(reshaped(up(x, scale, zero, dtype), -1, 8), scale, zero, dtype) * 2

        count, names = changed(program, ALL[dtype])
        assert count == 2
        assert not [one for one in names if "quantize" in one]


def test_narrower_bounds_clamp() -> None:
    def program(x: Any) -> Any:
        return down(reshaped(up(x, 0.1, 3), -1), 0.1, 3, high=127) * 2

    count, names = changed(program, ALL[torch.uint8])
    assert count == 2
    assert "aten.clamp_max.default" in names


def test_scales_that_are_nearly_one() -> None:
    for other, fires in ((0.1 * (1 + 9e-6), True), (0.1 * (1 + 2e-5), False), (0.2, False)):

        def program(x: Any, other: float = other) -> Any:
            return down(reshaped(up(x, 0.1, 3), -1), other, 3) * 2

        assert (changed(program, ALL[torch.uint8])[0] == 2) == fires


STAYS: dict[str, Callable[[Any], Any]] = {
    "another zero point": lambda x: down(reshaped(up(x, 0.1, 3), -1), 0.1, 4),
    "a large zero point": lambda x: down(reshaped(up(x, 0.1, 5000), -1), 0.1, 5000),
    "another dtype": lambda x: down(reshaped(up(x, 0.1, 3), -1), 0.1, 3, torch.int8),
    "a scale near 0": lambda x: down(reshaped(up(x, 1e-39, 3), -1), 1e-39, 3),
    "a negative scale": lambda x: down(reshaped(up(x, -0.1, 3), -1), -0.1, 3),
    "something between": lambda x: down(reshaped(up(x, 0.1, 3), -1).relu(), 0.1, 3),
    "another reader of the reshape": lambda x: (lambda y: down(y, 0.1, 3) + y)(
        reshaped(up(x, 0.1, 3), -1)
    ),
}


@pytest.mark.parametrize("what", STAYS)
def test_what_stays(what: str) -> None:
    assert changed(STAYS[what], ALL[torch.uint8])[0] == 0


def test_the_dequantised_numbers_have_another_reader() -> None:
    """It keeps them; Inductor copies a dequantisation for each reader first."""

    def program(x: Any) -> Any:
        wide = up(x, 0.1, 3)
        return down(reshaped(wide, -1), 0.1, 3) + wide.amax()

    count, names = changed(program, ALL[torch.uint8])
    assert count == 2
    assert not [one for one in names if "quantize_per" in one and "dequantize_per" not in one]


def test_nothing_comes_to_share_memory() -> None:
    """The result of a quantisation is a tensor of its own."""

    def program(x: Any) -> Any:
        return down(up(x, 0.1, 3), 0.1, 3)

    gm = make_fx(program, tracing_mode="fake")(ALL[torch.uint8])
    lowered = from_fx(gm, "post_grad")
    RewritePass.of(QRESHAPE).rewrite(lowered)
    x = ALL[torch.uint8].clone()
    assert to_fx(lowered)(x).data_ptr() != x.data_ptr()


def test_empty_and_sizes_of_one() -> None:
    for sizes in ((0, 4), (1, 1), (1,), (2, 0)):

        def program(x: Any) -> Any:
            return down(reshaped(up(x, 0.1, 3), 1, x.numel()), 0.1, 3) * 2

        assert changed(program, torch.zeros(sizes, dtype=torch.uint8))[0] == 2


def test_random_chains() -> None:
    fired = 0
    for seed in range(60):
        rng = Random(seed)
        steps = [
            (rng.choice((0.1, 0.1, 0.25)), rng.choice((0, 3, 3)), rng.choice((255, 255, 100)))
            for _ in range(4)
        ]

        def program(x: Any, steps: Any = steps, rng: int = seed) -> Any:
            for place, (scale, zero, high) in enumerate(steps):
                wide = up(x, 0.1, 3)
                wide = reshaped(wide, -1, 2 ** (1 + (place + rng) % 3)) if place % 2 else wide
                x = down(wide, scale, zero, high=high)
            return x + 1

        fired += changed(program, ALL[torch.uint8])[0]
    assert fired > 60


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("high", [255, 127])
@pytest.mark.parametrize("dynamic", [False, True])
def test_compiled(dynamic: bool, high: int) -> None:
    """Inductor's own entry is not needed: the reshape is of the narrow numbers."""
    torch._dynamo.reset()
    counters.clear()

    def program(x: torch.Tensor) -> torch.Tensor:
        return down(torch.flatten(up(x, 0.1, 3)), 0.1, 3, high=high) * 2

    options: dict[str, Any] = {"xductor.on_error": "raise", "xductor.verify": "types"}
    x = ALL[torch.uint8].clone()
    if dynamic:
        torch._dynamo.mark_dynamic(x, 0)
    compiled = torch.compile(program, backend="xductor", options=options)
    with torch.no_grad(), torch._inductor.config.patch(freezing=True):
        torch.testing.assert_close(compiled(x), program(x), rtol=0, atol=0)
    assert xductor.last_compile().count("qreshape") == 2
    assert counters["inductor"]["qreshape_matcher_count"] == 1
