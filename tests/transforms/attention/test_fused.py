"""Attention fused before autograd, through a whole compile, checked at each step."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch._dynamo.utils import counters

from xductor.backend.records import stage_records
from xductor.backend.run_as_fx.without_codegen import without_codegen


def _plain(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return F.softmax(q @ k.transpose(-2, -1) / 4.0, dim=-1) @ v


@pytest.mark.parametrize("training", [False, True])
def test_through_a_compile(training: bool) -> None:
    torch._dynamo.reset()
    counters.clear()
    inputs = [torch.randn(2, 4, 8, 16, requires_grad=training) for _ in range(3)]
    options: dict[str, Any] = {"xductor.on_error": "raise", "xductor.verify": "types"}
    with without_codegen(), stage_records.record() as records:
        compiled = torch.compile(_plain, backend="xductor", options=options)(*inputs)
    assert counters["inductor"]["fuse_attention"] == 1
    assert [one.stage for one in records if one.applications("fuse_attention")] == ["pre_grad"]
    expected = _plain(*inputs)
    torch.testing.assert_close(compiled, expected)
    if training:
        found = torch.autograd.grad(compiled.square().sum(), inputs)
        torch.testing.assert_close(found, torch.autograd.grad(expected.square().sum(), inputs))


def test_the_ops_that_were_matched_go() -> None:
    torch._dynamo.reset()
    seen: list[str] = []

    def backend(gm: torch.fx.GraphModule, inputs: list[Any]) -> Any:
        import xductor

        xductor.pre_grad_passes(gm, inputs)
        seen.extend(str(node.target) for node in gm.graph.nodes if node.op.startswith("call"))
        return gm

    inputs = [torch.randn(2, 4, 8, 16) for _ in range(3)]
    torch.compile(_plain, backend=backend)(*inputs)
    assert [one for one in seen if "attention" in one]
    assert not [one for one in seen if "softmax" in one or "matmul" in one or "div" in one]
