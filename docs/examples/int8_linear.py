"""A linear layer whose int8 weight is scaled by row: the weight need not be made in full."""

from typing import Any

import torch
import torch.nn.functional as F

from xductor import REASSOCIATES, Rewrite, Tensor, all_of, no
from xductor.ir import aten, ops


@torch.library.custom_op("examples::int8_linear", mutates_args=())
def int8_linear_kernel(
    x: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor, bias: torch.Tensor | None
) -> torch.Tensor:
    """The rows of the result are scaled, not those of the weight: fewer products."""
    out = (x @ weight.to(x.dtype).t()) * scale
    return out if bias is None else out + bias


@int8_linear_kernel.register_fake
def _(x, weight, scale, bias):
    return x.new_empty(*x.shape[:-1], weight.shape[0])


class Int8Linear(torch.nn.Module):
    """The layer of the model."""

    def __init__(self, linear: torch.nn.Linear) -> None:
        super().__init__()
        scale = linear.weight.detach().abs().amax(1) / 127
        rounded = (linear.weight.detach() / scale[:, None]).round()
        self.register_buffer("weight", rounded.to(torch.int8))
        self.register_buffer("scale", scale)
        self.bias = linear.bias

    def forward(self, x):
        return F.linear(x, self.weight.to(x.dtype) * self.scale[:, None], self.bias)


class FuseInt8Linear(Rewrite):
    """Before autograd `F.linear` is one call, and every way to write the cast, `w.to(x.dtype)` or
    `w.float()`, is one op. `bias` is a tensor or None.
    """

    stage, numerics = "pre_grad", REASSOCIATES

    def pattern(self, x: Tensor, weight: Tensor, scale: Tensor, bias: Any, dtype: torch.dtype):
        wide = aten.to(weight, dtype)
        return aten.linear(x, aten.mul(wide, aten.unsqueeze(scale, 1)), bias)

    def where(self, x: Tensor, weight: Tensor, scale: Tensor, dtype: torch.dtype):
        if x.requires_grad or scale.requires_grad:
            return no("the kernel has no backward")
        return all_of(
            weight.dtype == torch.int8,
            x.dtype == dtype,
            scale.dtype == dtype,
            scale.has_sizes([weight.shape[0]]),
        )

    def replacement(self, x: Tensor, weight: Tensor, scale: Tensor, bias: Any):
        return ops.examples.int8_linear(x, weight, scale, bias)

    def instances(self):
        """Of graphs that are made up, hardly one has an int8 weight with a scale for each row."""
        for dtype in (torch.float32, torch.bfloat16):
            for bias in (None, torch.randn(5, dtype=dtype)):
                yield {
                    "x": torch.randn(2, 3, 4, dtype=dtype),
                    "weight": torch.randint(-127, 128, (5, 4), dtype=torch.int8),
                    "scale": torch.rand(5, dtype=dtype),
                    "bias": bias,
                    "dtype": dtype,
                }
