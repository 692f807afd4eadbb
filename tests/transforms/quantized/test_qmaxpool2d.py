"""`qmaxpool2d`: what is pooled between dequantisation and quantisation."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
import torch
from torch._dynamo.utils import counters

import xductor
from tests.transforms.quantized.pt2e_programs import ALL, changed, down, up
from xductor.transforms.quantized.operators import max_pool2d
from xductor.transforms.quantized.qmaxpool2d import Qmaxpool2d
from xductor.transforms.quantized.qreshape import QRESHAPE

U8, I8 = torch.uint8, torch.int8
REWRITES = (Qmaxpool2d, *QRESHAPE)
pool = torch.ops.aten.max_pool2d_with_indices.default

#: Two channels that differ.
IMAGES = {dtype: torch.stack([x, x.flip(0).t()]).reshape(1, 2, 16, 16) for dtype, x in ALL.items()}

WINDOWS: dict[str, tuple[Any, ...]] = {
    "apart": ([2, 2], [2, 2]),
    "no stride": ([3, 2],),
    "one number each": ([3], [2], [1]),
    "overlapping": ([3, 3], [1, 2], [1, 1]),
    "dilated": ([2, 3], [1, 1], [1, 0], [3, 2]),
    "rounded up": ([3, 3], [2, 2], [0, 0], [1, 1], True),
    "rounded up, padded": ([3, 3], [2, 2], [1, 1], [1, 1], True),
    "large": ([13, 11], [2, 1], [6, 5]),
    "all": ([16, 16], [1, 1]),
}


@pytest.mark.parametrize("dtype", [U8, I8])
@pytest.mark.parametrize("what", WINDOWS)
def test_windows(what: str, dtype: torch.dtype) -> None:
    for scale, zero in ((1e-30, 0), (0.1, 3), (1 / 3, 128), (1e30, -1024)):

        def program(x: Any, scale: float = scale, zero: int = zero) -> Any:
            return down(pool(up(x, scale, zero, dtype), *WINDOWS[what])[0], scale, zero, dtype)

        fired, names = changed(REWRITES, program, IMAGES[dtype])
        assert fired == 1
        assert names == ["xductor.max_pool2d.default"]


def test_narrower_bounds_clamp() -> None:
    def program(x: Any) -> Any:
        return down(pool(up(x, 0.1, 3), [2, 2])[0], 0.1, 3, high=99)

    names = ["aten.clamp_max.default", "xductor.max_pool2d.default"]
    assert changed(REWRITES, program, IMAGES[U8]) == (1, names)


@pytest.mark.parametrize("dtype", [U8, I8])
def test_a_window_that_lies_outside(dtype: torch.dtype) -> None:
    """Its maximum is minus infinity, which becomes the least number."""

    def program(x: Any) -> Any:
        return down(pool(up(x, 0.1, 3, dtype), [2, 2], [1, 1], [1, 1], [9, 9])[0], 0.1, 3, dtype)

    for image in (IMAGES[dtype][..., :8, :8], IMAGES[dtype][..., :8, :9]):
        fired, _ = changed(REWRITES, program, image.contiguous())
        assert fired == 1


STAYS: dict[str, Callable[[Any], Any]] = {
    "another scale": lambda x: down(pool(up(x, 0.1, 3), [2, 2])[0], 0.2, 3),
    "another zero point": lambda x: down(pool(up(x, 0.1, 3), [2, 2])[0], 0.1, 4),
    "another dtype": lambda x: down(pool(up(x, 0.1, 3), [2, 2])[0], 0.1, 3, I8),
    "a negative scale": lambda x: down(pool(up(x, -0.1, 3), [2, 2])[0], -0.1, 3),
    "the least number out of bounds": lambda x: down(
        pool(up(x.to(I8), 0.1, 3, I8), [2, 2])[0].clamp_min(-0.5), 0.1, 3, I8
    ),
    "the places of the maxima": lambda x: (lambda y: down(y[0], 0.1, 3) + y[1])(
        pool(up(x, 0.1, 3), [2, 2])
    ),
    "another reader": lambda x: (lambda y: down(y, 0.1, 3) + y)(pool(up(x, 0.1, 3), [2, 2])[0]),
    "a mean": lambda x: down(torch.ops.aten.avg_pool2d(up(x, 0.1, 3), [2, 2]), 0.1, 3),
}


@pytest.mark.parametrize("what", STAYS)
def test_what_stays(what: str) -> None:
    assert changed(REWRITES, STAYS[what], IMAGES[U8])[0] == 0


def test_a_higher_least_number_stays() -> None:
    def program(x: Any) -> Any:
        wide = pool(up(x, 0.1, 3, I8), [2, 2], [1, 1], [1, 1], [9, 9])[0]
        return torch.ops.quantized_decomposed.quantize_per_tensor(wide, 0.1, 3, -127, 127, I8)

    assert changed(REWRITES, program, IMAGES[I8][..., :8, :8].contiguous())[0] == 0


@pytest.mark.parametrize("dtype", [U8, I8])
@pytest.mark.parametrize("sizes", [(0, 2, 4, 4), (2, 4, 4), (1, 1, 2, 2), (3, 5, 7, 2)])
def test_operator(sizes: tuple[int, ...], dtype: torch.dtype) -> None:
    x = torch.randint(0, 127, sizes).to(dtype)
    given = ([2, 2], [], [1, 1], [1, 1], True)
    for one in (x, x.to(memory_format=torch.channels_last) if x.ndim == 4 else x.flip(0)):
        found, wanted = max_pool2d(one, *given), pool(one, *given)[0]
        steps = zip(found.stride(), wanted.stride(), found.shape, strict=True)
        assert all(one == other or size == 1 for one, other, size in steps)
        torch.testing.assert_close(found, wanted, rtol=0, atol=0)


def test_random_pools() -> None:
    for seed in range(40):
        rng = Random(seed)
        kernel = [rng.randint(1, 5), rng.randint(1, 5)]
        padding = [rng.randint(0, one // 2) for one in kernel]
        stride = [rng.randint(1, 3), rng.randint(1, 3)]
        window = (kernel, stride, padding, [rng.randint(1, 3), 1], rng.random() < 0.5)
        dtype = rng.choice((U8, I8))
        scale = rng.choice((0.1, 0.1, 0.25))

        def program(x: Any, given: Any = (window, dtype, scale)) -> Any:
            window, dtype, scale = given
            return down(pool(up(x, 0.1, 3, dtype), *window)[0], scale, 3, dtype)

        x = torch.randint(0, 256, (2, 3, 16, 13)).to(dtype)
        assert changed(REWRITES, program, x)[0] == (scale == 0.1)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dynamic", [False, True])
def test_compiled(dynamic: bool) -> None:
    """Inductor rounds down in the second, keeps uint8 in the third, and raises for int8."""
    torch._dynamo.reset()
    counters.clear()

    def program(x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
        wide, narrow = up(x, 0.1, 3), up(y, 0.1, 3, I8)
        return [
            down(torch.max_pool2d(wide, 3, 2, 1), 0.1, 3),
            down(torch.max_pool2d(wide, 3, 2, 1, ceil_mode=True), 0.1, 3),
            down(torch.max_pool2d(wide, 2), 0.1, 3, I8),
            down(torch.max_pool2d(wide, 2), 0.2, 3),
            down(torch.max_pool2d(narrow, 3, 1), 0.1, 3, I8),
        ]

    options: dict[str, Any] = {"xductor.on_error": "raise", "xductor.verify": "types"}
    x = IMAGES[U8].repeat(3, 1, 1, 1)
    y = IMAGES[I8].repeat(3, 1, 1, 1).to(memory_format=torch.channels_last)
    if dynamic:
        torch._dynamo.mark_dynamic(x, 0)
        torch._dynamo.mark_dynamic(y, 0)
    compiled = torch.compile(program, backend="xductor", options=options)
    with torch.no_grad():
        for found, wanted in zip(compiled(x, y), program(x, y), strict=True):
            torch.testing.assert_close(found, wanted, rtol=0, atol=0)
            assert found.stride() == wanted.stride()
    assert xductor.last_compile().count("qmaxpool2d") == 3
    assert counters["inductor"]["qmaxpool2d_matcher_count"] == 3
