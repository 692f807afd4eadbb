"""`contiguous_attn_mask`: a mask of attention lies as the fused kernels of CUDA read it."""

from __future__ import annotations

from typing import Any

import torch

from xductor.ir import aten
from xductor.transforms import REASSOCIATES, Rewrite, Scalar, Tensor, all_of, no
from xductor.transforms.analysis.dtypes import NARROW_FLOATS
from xductor.transforms.attention.costs import refusal_by_cost, static_size
from xductor.transforms.attention.kernels import Request, refusal
from xductor.transforms.rewriting.usual_facts import UsualFacts

#: Without a kernel 16 bits are multiplied in float32, which takes at least so many times as long:
#: forward and backward of 16 heads of 512 tokens in a batch of 8 took 1.72 ms, products and a
#: softmax in bfloat16 0.36.
_WITHOUT_KERNEL = 2.0


class ContiguousAttnMask(Rewrite):
    """`scaled_dot_product_attention` gets a copy of a mask whose last dim has no stride of one.

    The kernels take no other mask, and without a kernel the call computes products and a softmax.
    T5's position bias is such a mask: it is looked up with the heads last, and permuted. What a
    kernel gives is laid out as the product would be.
    """

    name = "contiguous_attn_mask"
    stage = "pre_grad"
    devices = ("cuda",)
    numerics = REASSOCIATES

    def pattern(
        self, query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor, scale: Any
    ) -> Any:
        return aten.scaled_dot_product_attention(query, key, value, attn_mask, scale=scale)

    def pays(self, query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor) -> Any:
        return _pays(query, key, value, attn_mask)

    def replacement(
        self, query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor, scale: Any
    ) -> Any:
        mask = _contiguous(attn_mask)
        return _contiguous(aten.scaled_dot_product_attention(query, key, value, mask, scale=scale))


class ContiguousAttnMaskWithDropout(Rewrite):
    """The same with dropout, for which a kernel draws other numbers than the products would.

    - `fallback_random`: draw as eager does.
    """

    name = "contiguous_attn_mask"
    stage = "pre_grad"
    devices = ("cuda",)
    numerics = REASSOCIATES
    permits = ("draws",)

    def __init__(self, fallback_random: bool = False) -> None:
        self.fallback_random = fallback_random

    def pattern(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor,
        dropout_p: Scalar,
        scale: Any,
    ) -> Any:
        return aten.scaled_dot_product_attention(
            query, key, value, attn_mask, dropout_p, scale=scale
        )

    def where(self, dropout_p: Any) -> Any:
        return dropout_p > 0

    def pays(self, query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor) -> Any:
        if self.fallback_random or torch.are_deterministic_algorithms_enabled():
            return no("dropout has to draw as eager does")
        return _pays(query, key, value, attn_mask)

    def replacement(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor,
        dropout_p: Scalar,
        scale: Any,
    ) -> Any:
        mask = _contiguous(attn_mask)
        return _contiguous(
            aten.scaled_dot_product_attention(query, key, value, mask, dropout_p, scale=scale)
        )


def _contiguous(x: Any) -> Any:
    return aten.clone(x, memory_format=torch.contiguous_format)


def _pays(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor) -> Any:
    if any(one.ndim != 4 for one in (query, key, value, attn_mask)):
        return no("it has not four dims")
    if attn_mask.dtype.is_floating_point and attn_mask.dtype != query.dtype:
        return no("no kernel takes a mask of another dtype")
    request = Request(
        query.device,
        query.dtype,
        *(one.type.data for one in (query, key, value)),
        mask=attn_mask.type.data,
        grad=any(one.requires_grad for one in (query, key, value, attn_mask)),
    )
    slower = _WITHOUT_KERNEL if query.dtype in NARROW_FLOATS else 1.0
    facts = query.shape[0].facts
    seen = facts.number if isinstance(facts, UsualFacts) else static_size
    reason = refusal(request) or refusal_by_cost(request, slower, seen)
    if reason is not None:
        return no(reason)
    return all_of(attn_mask.stride[-1] != 1, attn_mask.shape[-1] != 1)


CONTIGUOUS_ATTN_MASK = (ContiguousAttnMask, ContiguousAttnMaskWithDropout)

__all__ = ["CONTIGUOUS_ATTN_MASK", "ContiguousAttnMask", "ContiguousAttnMaskWithDropout"]
