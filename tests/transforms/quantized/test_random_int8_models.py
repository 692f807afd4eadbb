"""Random quantised models, computed in 8 bits, give what eager gives, but for steps."""

from __future__ import annotations

from random import Random

import pytest
import torch

from tests.transforms.quantized.int8_passes import run_passes
from tests.transforms.quantized.random_int8_models import RandomInt8Model

pytestmark = pytest.mark.skipif(not torch._C._has_mkldnn, reason="no oneDNN")


def _run(seed: int) -> tuple[int, int]:
    rng = Random(seed)
    model = RandomInt8Model(rng)
    x = model.input(rng)
    layers = len(model.layers)
    packed, fused, _ = run_passes(model, x, tolerance=1 / 8, steps=2, dynamic=rng.random() < 0.3)
    assert packed <= layers
    return packed, fused


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_random_models(first: int) -> None:
    counts = [_run(seed) for seed in range(first, first + 10)]
    assert sum(packed for packed, _ in counts) >= 10
    assert sum(fused for _, fused in counts) >= 8


if __name__ == "__main__":
    for number in range(1000, 2000):
        _run(number)
