"""Every group fusion before autograd on random graphs of rows of calls, writes, views and modes."""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import torch

import xductor
from tests.before_autograd.random_group_graphs import GroupGraph, run, without_draws
from tests.before_autograd.type_soundness import has_sound_types
from xductor.transforms.groups.batch_layernorm import BatchLayernorm
from xductor.transforms.groups.batch_linear import BatchLinear
from xductor.transforms.groups.batch_linear_lhs import BatchLinearLhs
from xductor.transforms.groups.pre_grad_pointwise import (
    BatchClamp,
    BatchDetach,
    BatchDropout,
    BatchNanToNum,
    BatchRelu,
    BatchSigmoid,
    BatchTanh,
)

FUSIONS = (
    BatchLinearLhs,
    BatchLinear,
    BatchLayernorm,
    BatchTanh,
    BatchSigmoid,
    BatchRelu,
    BatchDetach,
    BatchNanToNum,
    BatchClamp,
    BatchDropout,
)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Fake kernels log what the graphs are not given."""
    logging.disable(logging.ERROR)
    yield
    logging.disable(logging.NOTSET)


def _options(rng: random.Random) -> dict[str, Any]:
    return {
        "min_fuse_set_size": rng.choice((1, 2, 2, 3)),
        "max_fuse_set_size": rng.choice((3, 300)),
        "max_fuse_search_depth": rng.randrange(7),
        "fuse_nodes_with_same_users": rng.random() < 0.2,
        "fuse_nodes_with_same_parent": rng.random() < 0.2,
    }


def check(seed: int) -> Counter[str]:
    """One graph with all fusions in some order; how often each was applied."""
    one = GroupGraph(seed)
    applied: Counter[str] = Counter()
    try:
        facts, numbers = run(without_draws(xductor.to_fx(_lowered(one))), one.inputs)
    except RuntimeError:  # what only real values show: a write to what overlaps itself
        return applied
    module = _lowered(one)
    is_sound = has_sound_types(module)
    rng = random.Random(seed)
    for cls in rng.sample(FUSIONS, len(FUSIONS)):
        applied[cls.name] += cls(**_options(rng)).rewrite(module)
    assert not is_sound or has_sound_types(module), seed
    found, others = run(without_draws(xductor.to_fx(module)), one.inputs)
    assert found == facts, seed
    for number, wanted in zip(others, numbers, strict=True):
        torch.testing.assert_close(
            number, wanted, rtol=1e-9, atol=1e-9, equal_nan=True, msg=lambda text: f"{seed}: {text}"
        )
    return applied


def _lowered(one: GroupGraph) -> Any:
    return xductor.from_fx(one.gm, stage="pre_grad")


@pytest.mark.parametrize("part", range(3))
def test_nobody_can_tell(part: int) -> None:
    applied: Counter[str] = Counter()
    for seed in range(40 * part, 40 * part + 40):
        applied += check(seed)
    assert applied.total() > 40
