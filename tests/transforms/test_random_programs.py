"""All first passes over random programs of copies, views, casts and writes: nobody can tell."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch

from xductor.transforms.joint_graph.pointless_convert import PointlessConvert
from xductor.transforms.joint_graph.pointless_permute_pair import PointlessPermutePair
from xductor.transforms.joint_graph.pointless_view import PointlessView, PointlessViewPair
from xductor.transforms.noops.remove_noop_ops import RemoveNoopOps
from xductor.transforms.post_grad.dead_code_elimination import DeadCodeElimination
from xductor.transforms.post_grad.stable_topological_sort import StableTopologicalSort

aten, prims = torch.ops.aten, torch.ops.prims

PASSES = (
    PointlessView(),
    PointlessViewPair(),
    PointlessPermutePair(),
    PointlessConvert(),
    RemoveNoopOps(),
    DeadCodeElimination(),
    RemoveNoopOps(),
    StableTopologicalSort(),
)

STEPS: tuple[Callable[[Any, Any], Any], ...] = (
    lambda a, b: aten.clone(a),
    lambda a, b: aten.clone(a),
    lambda a, b: aten.alias(a),
    lambda a, b: aten.cat([a]),
    lambda a, b: aten.copy(a, b),
    lambda a, b: aten.repeat(a, [1, 1]),
    lambda a, b: aten.slice.Tensor(a, 0, 0, 9),
    lambda a, b: aten.clone(a, memory_format=torch.contiguous_format).view(9).view(3, 3),
    lambda a, b: aten.permute(a, [1, 0]),
    lambda a, b: aten.permute(aten.permute(a, [-1, 0]), [1, 0]),
    lambda a, b: aten.view(a, [3, 3]),
    lambda a, b: prims.convert_element_type(prims.convert_element_type(a, torch.float64), a.dtype),
    lambda a, b: aten.pow(a, 1),
    lambda a, b: a + b,
    lambda a, b: a * 2,
    lambda a, b: aten.add_(a, b * 2),
    lambda a, b: aten.mul_(a, 3),
    lambda a, b: aten.copy_(a, aten.clone(b)),
    lambda a, b: (a.fill_(7), b)[1],
    lambda a, b: aten.as_strided(aten.clone(a + 1), [3, 3], [3, 1], 0),
)


def program(seed: int) -> Callable[..., Any]:
    """Up to fourteen steps over two inputs; any of the values may be returned."""

    def run(x: Any, y: Any) -> Any:
        chance = random.Random(seed)
        values = [x, y]
        for _ in range(chance.randint(3, 14)):
            step = chance.choice(STEPS)
            values.append(step(chance.choice(values), chance.choice(values)))
        return chance.sample(values[2:], min(3, len(values) - 2))

    return run


@pytest.mark.parametrize("seed", range(100))
def test_nobody_can_tell(seed: int, trace: Any, special: Any) -> None:
    x, y = special(3, 3), torch.arange(9.0).view(3, 3) - 4
    case = trace(program(seed), x, y, stage="post_grad")
    for one in PASSES:
        case.run(one)
    case.check_values(x, y)


def test_programs_give_the_passes_work(trace: Any, special: Any) -> None:
    """Of what the programs hold, a good part goes: the test above is not about idle passes."""
    x = special(3, 3)
    applications = {one.name: 0 for one in PASSES}
    for seed in range(40):
        case = trace(program(seed), x, x + 1)
        for one in PASSES:
            applications[one.name] += case.run(one)
    applications.pop("stable_topological_sort")
    assert min(applications.values()) > 0
    assert applications["remove_noop_ops"] > 40
