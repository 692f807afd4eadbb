"""A residual is added and the sum is normalized: one kernel with two results."""

import torch

from xductor import REASSOCIATES, Rewrite, Tensor, all_of, bind, maybe, shared
from xductor.ir import aten, ops, prims


@torch.library.custom_op("examples::add_rms_norm", mutates_args=())
def add_rms_norm_kernel(
    x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    total = x + residual
    wide = total.float()
    scale = torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)
    return weight * (wide * scale).to(x.dtype), total


@add_rms_norm_kernel.register_fake
def _(x, residual, weight, eps):
    return torch.empty_like(x), torch.empty_like(x)


def add_rms_norm(x, residual, weight, eps: float = 1e-6):
    """The code of the model: the sum is the residual of the next layer."""
    total = x + residual
    wide = total.to(torch.float32)
    normed = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)
    return weight * normed.to(x.dtype), total


cast = maybe(prims.convert_element_type)


class FuseAddRMSNorm(Rewrite):
    """Written by hand, since one word says more than a trace: the sum is `shared`, it has other
    users in the model. A float32 graph has no casts, so each of them is a `maybe`, and `where` asks
    that the sum is float32 behind the first one.
    """

    stage, numerics = "post_grad", REASSOCIATES

    def pattern(
        self,
        x: Tensor,
        residual: Tensor,
        weight: Tensor,
        wide: Tensor,
        eps: float,
        dtype: torch.dtype,
    ):
        total = shared(aten.add(x, residual))
        wide = bind(wide, cast(total, torch.float32))
        mean = aten.mean(aten.pow(wide, 2), [-1], True)
        normed = aten.mul(wide, aten.rsqrt(aten.add(mean, eps)))
        return aten.mul(weight, cast(normed, dtype)), total

    def where(self, x: Tensor, residual: Tensor, weight: Tensor, wide: Tensor, dtype: torch.dtype):
        return all_of(
            wide.dtype == torch.float32,
            x.dtype == (dtype or torch.float32),
            x.same_layout(residual),
            x.is_contiguous(),
            weight.same_dtype(x),
            weight.has_sizes([x.shape[-1]]),
        )

    def replacement(self, x: Tensor, residual: Tensor, weight: Tensor, eps: float):
        both = ops.examples.add_rms_norm(x, residual, weight, eps)
        return both[0], both[1]

    def instances(self):
        """What `xductor validate` tries before graphs of its own, few of which have these sizes."""
        for dtype in (torch.float32, torch.bfloat16):
            x, residual = torch.randn(2, 3, 4, 8, dtype=dtype)
            yield {
                "x": x,
                "residual": residual,
                "weight": torch.rand(8, dtype=dtype),
                "eps": 1e-6,
                "dtype": None if dtype == torch.float32 else dtype,
            }
