"""The gate of an MLP, `silu(x) * y` of the two halves of one product, becomes one kernel."""

import torch
import torch.nn.functional as F

import xductor
from xductor import Tensor


@torch.library.custom_op("examples::silu_and_mul", mutates_args=())
def silu_and_mul_kernel(x: torch.Tensor) -> torch.Tensor:
    """The kernel: all in float32, with one rounding at the end."""
    return silu_and_mul(x.float()).to(x.dtype)


@silu_and_mul_kernel.register_fake
def _(x):
    return x.new_empty(*x.shape[:-1], x.shape[-1] // 2)


def silu_and_mul(x: torch.Tensor) -> torch.Tensor:
    """The code of the model."""
    half = x.shape[-1] // 2
    return F.silu(x[..., :half]) * x[..., half:]


# At the end of the stages, where silu is spelled out and bfloat16 is cast to float32 and back: the
# pattern has an alternative for each dtype. A forward of which the backward reads something inside
# does not fit; here the backward computes it again.
traced = xductor.pattern_from(
    silu_and_mul,
    torch.randn(4, 16),
    also=[(torch.randn(4, 16, dtype=torch.bfloat16),)],
    stage="post_grad",
    replacement=torch.ops.examples.silu_and_mul,
    numerics=xductor.ROUNDS_LESS_OFTEN,
    name="SiluAndMulTraced",
)


class FuseSiluAndMul(traced.rewrite):
    """The kernel reads sixteen bytes at once."""

    def where(self, x: Tensor, size: int, size_1: int, which: int):
        return super().where(x, size, size_1, which) & (x.shape[-1] % 16 == 0)
