"""RMSNorm, as Llama writes it, becomes one kernel, in inference and in training."""

import torch

import xductor
from xductor import Tensor, no


@torch.library.custom_op("examples::rms_norm", mutates_args=())
def rms_norm_kernel(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """The kernel: here a few ops, with the roundings of the model's own code."""
    return weight * (x.float() * inverse_norm(x, eps)).to(x.dtype)


@rms_norm_kernel.register_fake
def _(x, weight, eps):
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def inverse_norm(x: torch.Tensor, eps: float) -> torch.Tensor:
    return torch.rsqrt(x.float().square().mean(-1, keepdim=True) + eps)


def save(ctx, inputs, output) -> None:
    x, weight, ctx.eps = inputs
    ctx.save_for_backward(x, weight)


def backward(ctx, grad):
    x, weight = ctx.saved_tensors
    scale = inverse_norm(x, ctx.eps)
    normed = x.float() * scale
    grad_weight = (grad * normed.to(x.dtype)).sum_to_size(weight.shape)
    grad_normed = (grad * weight).float()
    mean = (grad_normed * normed).mean(-1, keepdim=True)
    return (scale * (grad_normed - normed * mean)).to(x.dtype), grad_weight, None


# Without a formula for the backward, no rewrite would use the op where a gradient is wanted.
rms_norm_kernel.register_autograd(backward, setup_context=save)


def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """The code of the model."""
    wide = x.to(torch.float32)
    normed = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)
    return weight * normed.to(x.dtype)


def inputs(dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor, float]:
    return torch.randn(2, 3, 8, dtype=dtype), torch.rand(8, dtype=dtype), 1e-6


# Before autograd, so that the backward is that of the kernel. `eps` is an input, so it is open;
# so are the sizes, and with `ranks` the number of dims.
traced = xductor.pattern_from(
    rms_norm,
    *inputs(torch.float32),
    also=[inputs(torch.bfloat16)],
    stage="pre_grad",
    ranks="any",
    replacement=torch.ops.examples.rms_norm,
    numerics=xductor.REASSOCIATES,
    name="RMSNormTraced",
)


class FuseRMSNorm(traced.rewrite):
    """With open ranks the model's code takes more than the kernel does, such as a weight of two
    dims: that `where` has to tell was found by the validation.
    """

    def where(self, x: Tensor, weight: Tensor, x_dtype: torch.dtype):
        if x.ndim == 0:
            return no("there is nothing to normalize over")
        return super().where(x, weight, x_dtype) & weight.has_sizes([x.shape[-1]])
