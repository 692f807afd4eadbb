"""Runs the passes of 8 bits over a quantised model, and compares with eager."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from tests.transforms.onednn.random_packed_models import lowered
from xductor.backend.fx.export import to_fx
from xductor.ir import entry_graph, verify
from xductor.transforms.in_place.reinplace_inplaceable_ops import ReinplaceInplaceableOps
from xductor.transforms.quantized.qconv_packing import QconvWeightPrepack
from xductor.transforms.quantized.qconv_post_ops import QconvPostOps
from xductor.transforms.quantized.qlinear_packing import QlinearWeightPrepack
from xductor.transforms.quantized.qlinear_post_ops import QlinearPostOps
from xductor.transforms.quantized.quantization_parameters import QuantizationParameters


def run_passes(
    model: nn.Module,
    x: torch.Tensor,
    *,
    dynamic: bool = False,
    policy: Any = "default",
    tolerance: float = 1e-5,
    steps: int = 1,
) -> tuple[int, int, list[str]]:
    """How many calls were packed, and how many of these got more to compute; the ops after.

    Results are compared: what is quantised may be `steps` apart. Inputs stay as they were.
    """
    module = lowered(model, x, dynamic=dynamic)
    QuantizationParameters().rewrite(module)
    packed = sum(one().rewrite(module) for one in (QconvWeightPrepack, QlinearWeightPrepack))
    fused = sum(one(policy=policy).rewrite(module) for one in (QconvPostOps, QlinearPostOps))
    verify(module, "types")
    names = [op.name for op in entry_graph(module).block.ops]
    assert_near(to_fx(module)(x), model(x), tolerance, steps)
    ReinplaceInplaceableOps().rewrite(module)
    verify(module, "structure")
    given = x.clone()
    found = to_fx(module)
    for _ in range(2):  # what is written to is not read again
        assert_near(found(x), model(x), tolerance, steps)
    torch.testing.assert_close(x, given, rtol=0, atol=0, equal_nan=True)
    return packed, fused, names


def assert_near(found: Any, wanted: Any, tolerance: float = 1e-5, steps: int = 1) -> None:
    """Results are the same, but for steps of what is quantised, and for rounding."""
    assert len(found) == len(wanted)
    for new, old in zip(found, wanted, strict=True):
        assert (new.dtype, new.shape, new.stride()) == (old.dtype, old.shape, old.stride())
        if new.is_floating_point():
            near = max(tolerance, 2e-2) if new.dtype is torch.bfloat16 else tolerance
            torch.testing.assert_close(new, old, rtol=near, atol=near, equal_nan=True)
        else:
            assert int((new.int() - old.int()).abs().max()) <= steps


__all__ = ["assert_near", "run_passes"]
