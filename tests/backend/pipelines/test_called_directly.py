"""The stage functions on a graph of one's own, outside of any compile."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from xductor.backend import stages

PROGRAMS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "alias": lambda x: torch.ops.aten.alias(x) + 1,
    "full slice": lambda x: x[:] + 1,
    "clone of a view": lambda x: x.t().clone().sin() + x.t().contiguous(),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_steps_that_build_values_find_the_graphs_fake_mode(name: str) -> None:
    program = PROGRAMS[name]
    x = torch.randn(4, 4)
    gm = make_fx(program, tracing_mode="fake")(x)
    stages.joint_graph_passes(gm)
    stages.post_grad_passes(gm, True)
    assert torch.equal(gm(x), program(x))


def test_random_ops_are_replaced() -> None:
    gm = make_fx(lambda x: x + torch.rand(4), tracing_mode="fake")(torch.randn(4))
    stages.joint_graph_passes(gm)
    assert "inductor_random" in gm.code
