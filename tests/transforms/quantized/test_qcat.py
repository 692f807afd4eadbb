"""`qcat`: what is joined between dequantisation and quantisation."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
import torch
from torch._dynamo.utils import counters

import xductor
from tests.transforms.quantized.pt2e_programs import ALL, aten, changed, down, up
from xductor.transforms.quantized.qcat import QuantizeBeforeCat
from xductor.transforms.quantized.qreshape import QRESHAPE

U8, I8 = torch.uint8, torch.int8
REWRITES = (QuantizeBeforeCat, *QRESHAPE)


def joined(x: Any, *scales: float, dtype: torch.dtype = U8, dim: int = 0) -> Any:
    """Pieces of 8-bit numbers that differ, each dequantised by a scale."""
    pieces = [up(x + place, scale, 3, dtype) for place, scale in enumerate(scales)]
    return aten.cat.default(pieces, dim)


@pytest.mark.parametrize("dtype", [U8, I8])
@pytest.mark.parametrize("scale", [1e-30, 0.003, 1 / 3, 2.0, 1e30])
def test_all_numbers_come_back(scale: float, dtype: torch.dtype) -> None:
    for count in (1, 2, 4):
        for dim in (0, -1):

            def program(x: Any, scales: Any = (scale,) * count, dim: int = dim) -> Any:
                return down(joined(x, *scales, dtype=dtype, dim=dim), scale, 3, dtype) * 2

            fired, names = changed(REWRITES, program, ALL[dtype])
            assert fired == 1 + count
            assert not [one for one in names if "quantize" in one]


def test_narrower_bounds_clamp() -> None:
    fired, names = changed(REWRITES, lambda x: down(joined(x, 0.1, 0.1), 0.1, 3, high=99), ALL[U8])
    assert fired == 3
    assert names.count("aten.clamp_max.default") == 2


def test_scales_that_are_nearly_one() -> None:
    for other, fires in ((0.1 * (1 + 9e-6), 4), (0.1 * (1 + 2e-5), 0)):

        def program(x: Any, other: float = other) -> Any:
            return down(joined(x, 0.1, other, 0.1), 0.1, 3)

        assert changed(REWRITES, program, ALL[U8])[0] == fires


def _shared(x: Any) -> Any:
    wide = up(x, 0.1, 3)
    return down(aten.cat.default([wide, up(x + 1, 0.1, 3)]), 0.1, 3) + wide.amax()


STAYS: dict[str, Callable[[Any], Any]] = {
    "another scale of one piece": lambda x: down(joined(x, 0.1, 0.2), 0.1, 3),
    "another scale of the result": lambda x: down(joined(x, 0.1, 0.1), 0.2, 3),
    "another zero point": lambda x: down(joined(x, 0.1, 0.1), 0.1, 4),
    "another dtype of the result": lambda x: down(joined(x, 0.1, 0.1), 0.1, 3, I8),
    "another dtype of one piece": lambda x: down(
        aten.cat.default([up(x, 0.1, 3), up(x.to(I8), 0.1, 3, I8)]), 0.1, 3
    ),
    "a scale near 0": lambda x: down(joined(x, 1e-39, 1e-39), 1e-39, 3),
    "a piece that was not dequantised": lambda x: down(
        aten.cat.default([up(x, 0.1, 3), x.float()]), 0.1, 3
    ),
    "something behind": lambda x: down(joined(x, 0.1, 0.1).relu(), 0.1, 3),
    "a cat that is read elsewhere": lambda x: (lambda y: down(y, 0.1, 3) + y)(joined(x, 0.1, 0.1)),
}


@pytest.mark.parametrize("what", STAYS)
def test_what_stays(what: str) -> None:
    assert changed(REWRITES, STAYS[what], ALL[U8])[0] == 0


def test_a_piece_that_is_read_elsewhere() -> None:
    count, names = changed(REWRITES, _shared, ALL[U8])
    assert count == 3
    assert not [one for one in names if "quantize_per" in one and "dequantize_per" not in one]


def test_empty_pieces() -> None:
    def program(x: Any) -> Any:
        return down(aten.cat.default([up(x[:0], 0.1, 3), up(x, 0.1, 3)]), 0.1, 3)

    assert changed(REWRITES, program, ALL[U8])[0] == 3


def test_random_cats() -> None:
    fired = 0
    for seed in range(40):
        rng = Random(seed)
        scales = [rng.choice((0.1, 0.1, 0.1, 0.25)) for _ in range(rng.randint(1, 4))]
        after = rng.choice((0.1, 0.25)), 3, rng.choice((255, 100))

        def program(x: Any, scales: Any = scales, after: Any = after, dim: int = seed % 2) -> Any:
            return down(joined(x, *scales, dim=dim), *after[:2], high=after[2]) + 1

        fired += changed(REWRITES, program, ALL[U8])[0] > 0
    assert fired > 8


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dynamic", [False, True])
def test_compiled(dynamic: bool) -> None:
    torch._dynamo.reset()
    counters.clear()

    def program(x: torch.Tensor) -> torch.Tensor:
        same = down(joined(x, 0.1, 0.1), 0.1, 3)
        other = down(joined(x, 0.1, 0.1), 0.1, 3, I8)  # Inductor returns uint8
        narrower = down(joined(x, 0.1, 0.1), 0.1, 3, high=99)  # Inductor does not clamp
        return same.int() + other + narrower

    options: dict[str, Any] = {"xductor.on_error": "raise", "xductor.verify": "types"}
    x = ALL[U8].clone()
    if dynamic:
        torch._dynamo.mark_dynamic(x, 0)
    compiled = torch.compile(program, backend="xductor", options=options)
    with torch.no_grad():
        torch.testing.assert_close(compiled(x), program(x), rtol=0, atol=0)
    assert xductor.last_compile().count("qcat") == 2
    assert xductor.last_compile().count("qreshape") == 4
    assert counters["inductor"]["qcat_matcher_count"] == 2
