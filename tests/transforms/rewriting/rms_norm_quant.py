"""The tutorial's fusion, as a program: RMSNorm and quantisation into one custom op.

    python rms_norm_quant.py {xductor,inductor} {cpu,cuda}

compiles the model with the rewrite, compares it with eager, and prints as JSON how often the
rewrite was applied, how often Inductor's cache was hit and missed, and whether the compiled code
calls the op.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import torch

import xductor
from xductor import REASSOCIATES, Rewrite, Tensor, maybe
from xductor.ir import aten, ops, prims

FP8 = torch.float8_e4m3fn


@torch.library.custom_op("rmslib::rms_norm_quant", mutates_args=())
def rms_norm_quant(
    x: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor, eps: float
) -> torch.Tensor:
    """What a fused kernel computes; here in PyTorch, for every device."""
    calls.append(x.device.type)
    wide = x.float()
    normed = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)
    scaled = (weight * normed.to(x.dtype)).float() / scale
    return scaled.clamp(-448.0, 448.0).to(FP8)


@rms_norm_quant.register_fake
def _(x: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor, eps: float) -> torch.Tensor:
    return torch.empty_like(x, dtype=FP8)


calls: list[str] = []
cast = maybe(prims.convert_element_type)  # f32 models have no casts


class FuseRMSNormQuant(Rewrite):
    stage, numerics = "post_grad", REASSOCIATES

    def pattern(self, x: Tensor, w: Tensor, scale: Tensor, eps: float, dtype: torch.dtype):
        wide = cast(x, torch.float32)
        normed = aten.mul(wide, aten.rsqrt(aten.add(aten.mean(aten.pow(wide, 2), [-1], True), eps)))
        scaled = aten.div(cast(aten.mul(w, cast(normed, dtype)), torch.float32), scale)
        clamped = aten.clamp_max(aten.clamp_min(scaled, -448.0), 448.0)
        return prims.convert_element_type(clamped, FP8)

    def where(self, x: Tensor, dtype: torch.dtype):
        return x.dtype == (dtype or torch.float32)

    def replacement(self, x: Tensor, w: Tensor, scale: Tensor, eps: float):
        return ops.rmslib.rms_norm_quant(x, w, scale, eps)


class RMSNormQuant(torch.nn.Module):
    """A norm as vLLM and transformers write it, and the quantisation of the layer behind it."""

    def __init__(self, size: int = 64) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(size) + 0.5)

    def forward(self, x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        wide = x.float()
        normed = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
        out = self.weight * normed.to(x.dtype)
        return (out.float() / scale).clamp(-448.0, 448.0).to(FP8)


def compiled(model: Any, how: str, *, dynamic: bool | None = None) -> Any:
    """The model compiled with the rewrite, by our backend or by stock Inductor."""
    if how == "xductor":
        options: dict[str, Any] = {"xductor.rewrites": [FuseRMSNormQuant]}
        return torch.compile(model, backend="xductor", options=options, dynamic=dynamic)
    options = {"post_grad_custom_post_pass": xductor.inductor_pass(FuseRMSNormQuant)}
    return torch.compile(model, options=options, dynamic=dynamic)


def main(how: str, device: str) -> dict[str, Any]:
    """Compile and compare; what happened."""
    from torch._dynamo.utils import counters

    torch.manual_seed(0)
    model = RMSNormQuant().to(device, torch.bfloat16)
    x = torch.randn(8, 64, dtype=torch.bfloat16, device=device)
    scale = torch.tensor(0.05, device=device)
    with torch.no_grad():
        expected = model(x, scale)
        calls.clear()
        found = compiled(model, how)(x, scale)
    torch.testing.assert_close(found.float(), expected.float())
    name = FuseRMSNormQuant.qualified_name()
    return {
        "fired": counters["xductor"][name],
        "hits": counters["inductor"]["fxgraph_cache_hit"],
        "misses": counters["inductor"]["fxgraph_cache_miss"],
        "calls": list(calls),
    }


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
