"""Linears of slices and views of symbolic sizes: grouped or declined, and no guard either way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch._inductor import config
from torch._subclasses.fake_tensor import FakeTensor

import xductor
from tests.corpus.capture import StageCall, capture
from xductor.backend.config import settings
from xductor.backend.records import stage_records
from xductor.backend.stages import pre_grad_passes

OPTIONS = {"batch_linear": {"min_fuse_set_size": 2}, "normalization_pass": {}}
WEIGHTS = [torch.randn(4, 4) for _ in range(6)]

Piece = Callable[[torch.Tensor, int, int], torch.Tensor]

#: What the linears read of a matrix, by the number of the linear and an int that is an input.
PIECES: dict[str, tuple[Piece, int]] = {
    "columns": (lambda x, i, n: x[:, i * 4 : i * 4 + 4], 1),
    "columns of a size that is given": (lambda x, i, n: x[:, i * n : (i + 1) * n], 1),
    "a step": (lambda x, i, n: x[i % 2 :: 2, :4], 2),
    "all rows but one": (lambda x, i, n: x[: x.shape[0] - 1, :4], 1),
    "some rows": (lambda x, i, n: x[i : i + n, :4], 0),
    "rows from each on": (lambda x, i, n: x[i:, :4], 0),
    "rows of a view": (lambda x, i, n: x.view(x.shape[0] // 2, 2, -1)[:, 0, i * 4 : i * 4 + 4], 0),
}


def _towers(piece: Piece) -> Callable[..., torch.Tensor]:
    def program(x: torch.Tensor, n: int, *weights: torch.Tensor) -> torch.Tensor:
        found = [F.linear(piece(x, i, n), weight) for i, weight in enumerate(weights)]
        return torch.cat([one.relu().view(one.shape[0], 2, -1) for one in found])

    return program


def _known(call: StageCall) -> Any:
    """What the graph's ShapeEnv knows."""
    values = [node.meta.get("example_value") for node in call.gm.graph.nodes]
    env: Any = next(one for one in values if isinstance(one, FakeTensor)).fake_mode.shape_env
    return len(env.guards), dict(env.replacements), dict(env.var_to_range)


@pytest.mark.parametrize("name", PIECES)
def test_no_fallback_and_no_guard(name: str) -> None:
    piece, groups = PIECES[name]
    program, x = _towers(piece), torch.randn(24, 24)
    found: list[int] = []

    def on_call(call: StageCall) -> None:
        if call.stage != "pre_grad":
            return
        before = _known(call)
        strict = settings.current().replace(on_error="raise", verify="types")
        with settings.use(strict), stage_records.record() as records:
            call.run_on_copy(pre_grad_passes)
        assert _known(call) == before
        found.append(records[0].applications("batch_linear"))

    with config.patch(pre_grad_fusion_options=OPTIONS):
        capture(lambda compiler: compiler(program)(x, 4, *WEIGHTS), on_call, dynamic=True)
    assert found == [groups]


def test_what_would_need_a_guard_is_declined_with_it() -> None:
    piece, _ = PIECES["some rows"]
    with (
        config.patch(pre_grad_fusion_options=OPTIONS),
        torch._dynamo.config.patch(assume_static_by_default=False),
    ):
        told = xductor.explain("batch_linear", _towers(piece), torch.randn(24, 24), 4, *WEIGHTS)
    assert "needs a new guard" in str(told)
