"""Attention fused before autograd, through a whole compile."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch._dynamo.utils import counters

import xductor  # noqa: F401
from xductor.backend.without_codegen import without_codegen


def _plain(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return F.softmax(q @ k.transpose(-2, -1) / 4.0, dim=-1) @ v


def test_one_spelling_in_training() -> None:
    torch._dynamo.reset()
    counters.clear()
    inputs = [torch.randn(2, 4, 8, 16, requires_grad=True) for _ in range(3)]
    with without_codegen():
        options = {"xductor.on_error": "raise", "xductor.verify": "types"}
        compiled = torch.compile(_plain, backend="xductor", options=options)(*inputs)
    assert counters["inductor"]["fuse_attention"] == 1
    expected = _plain(*inputs)
    torch.testing.assert_close(compiled, expected)
    found = torch.autograd.grad(compiled.square().sum(), inputs)
    torch.testing.assert_close(found, torch.autograd.grad(expected.square().sum(), inputs))
