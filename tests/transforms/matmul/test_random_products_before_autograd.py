"""The passes over products before autograd on random graphs of products, sums, writes and modes."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator

import pytest
import torch

import xductor
from tests.before_autograd.random_group_graphs import run
from tests.before_autograd.random_product_graphs import ProductGraph
from tests.before_autograd.type_soundness import has_sound_types
from xductor.transforms import TypedPass
from xductor.transforms.groups.fuse_parallel_linear_pass import FuseParallelLinearPass
from xductor.transforms.matmul.fuse_split_linear_add_pass import FuseSplitLinearAddPass

PASSES: tuple[TypedPass, ...] = (FuseSplitLinearAddPass(), FuseParallelLinearPass())


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Fake kernels log what the graphs are not given."""
    logging.disable(logging.ERROR)
    yield
    logging.disable(logging.NOTSET)


def check(seed: int) -> Counter[str]:
    """One graph, with the passes in either order; how often each was applied."""
    one = ProductGraph(seed)
    applied: Counter[str] = Counter()
    try:
        facts, numbers = run(one.gm, one.inputs)
    except RuntimeError:  # what only real values show: a write to what overlaps itself
        return applied
    module = xductor.from_fx(one.gm, stage="pre_grad")
    is_sound = has_sound_types(module)
    for each in PASSES if seed % 2 else PASSES[::-1]:
        applied[each.name] += each.rewrite(module)
    assert not is_sound or has_sound_types(module), seed
    found, others = run(xductor.to_fx(module), one.inputs)
    assert found == facts, seed
    for number, wanted in zip(others, numbers, strict=True):
        torch.testing.assert_close(
            number, wanted, rtol=1e-9, atol=1e-9, equal_nan=True, msg=lambda text: f"{seed}: {text}"
        )
    return applied


@pytest.mark.parametrize("part", range(3))
def test_nobody_can_tell(part: int) -> None:
    applied: Counter[str] = Counter()
    for seed in range(40 * part, 40 * part + 40):
        applied += check(seed)
    assert min(applied[each.name] for each in PASSES) > 4
