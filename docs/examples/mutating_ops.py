"""Ops that write into tensors they are given, as in vLLM: two of them become one.

The buffers are made by the caller, so an op is `mylib::op(out, x)` and returns nothing. Inductor
sees such a call in a functional form, `auto_functionalized_v2`: what the buffer holds before goes
in, and what it holds after comes out, as result 1. A pattern is written in that form, and so is
what replaces it; later Inductor makes the op write into the buffer again, with nothing copied.
"""

import torch
import torch.nn.functional as F

from xductor import ROUNDS_LESS_OFTEN, Rewrite, Tensor, all_of
from xductor.ir import ops

library = torch.library.Library("examples", "FRAGMENT")
library.define("silu_and_mul_into(Tensor(a!) out, Tensor x) -> ()")
library.define("quantize_into(Tensor(a!) out, Tensor x, Tensor scale) -> ()")
library.define("silu_and_mul_quantize_into(Tensor(a!) out, Tensor x, Tensor scale) -> ()")


@torch.library.impl(library, "silu_and_mul_into", "CPU")
def _(out, x):
    first, second = x.float().chunk(2, -1)
    out.copy_(F.silu(first) * second)


@torch.library.impl(library, "quantize_into", "CPU")
def _(out, x, scale):
    out.copy_((x.float() / scale).round().clamp(-128, 127))


@torch.library.impl(library, "silu_and_mul_quantize_into", "CPU")
def _(out, x, scale):
    first, second = x.float().chunk(2, -1)
    out.copy_((F.silu(first) * second / scale).round().clamp(-128, 127))


for name in ("silu_and_mul_into", "quantize_into", "silu_and_mul_quantize_into"):
    torch.library.register_fake(f"examples::{name}", lambda *_: None, lib=library)


def quantized_mlp(x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """The code of the model: the buffer between the two ops is read by the second one alone."""
    gated = x.new_empty(x.shape[0], x.shape[1] // 2)
    torch.ops.examples.silu_and_mul_into(gated, x)
    out = torch.empty_like(gated, dtype=torch.int8)
    torch.ops.examples.quantize_into(out, gated, scale)
    return out


functional = ops.higher_order.auto_functionalized_v2


class FuseSiluAndMulQuantize(Rewrite):
    """The rounding of the product to the dtype of the buffer between does not take place."""

    stage, numerics = "post_grad", ROUNDS_LESS_OFTEN

    def pattern(self, gated: Tensor, out: Tensor, x: Tensor, scale: Tensor):
        product = functional(
            ops.examples.silu_and_mul_into.default, x=x, _out_base_index=0, _all_bases=[gated]
        )[1]
        return functional(
            ops.examples.quantize_into.default,
            x=product,
            scale=scale,
            _out_base_index=0,
            _all_bases=[out],
        )[1]

    def where(self, gated: Tensor, out: Tensor, x: Tensor):
        return all_of(out.dtype == torch.int8, gated.dtype == x.dtype, x.is_contiguous())

    def replacement(self, out: Tensor, x: Tensor, scale: Tensor):
        return functional(
            ops.examples.silu_and_mul_quantize_into.default,
            x=x,
            scale=scale,
            _out_base_index=0,
            _all_bases=[out],
        )[1]
