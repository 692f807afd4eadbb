"""Linears put together again after packing: of products between reshapes, and of sums."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import torch

from xductor.ir import aten, ops
from xductor.transforms import (
    EXACT,
    REASSOCIATES,
    ROUNDS_LESS_OFTEN,
    Rewrite,
    Tensor,
    all_of,
    bind,
    no,
    shared,
)
from xductor.transforms.passes.numerics import Declared


class MkldnnReshapeLinearReshape(Rewrite):
    """A packed linear takes data of any rank, so reshapes of its rows around it go away."""

    name = "mkldnn_reshape_linear_reshape"
    stage = "post_grad"
    inductor = "mkldnn_fusion.py:_recover_linear.reshape_linear_reshape_pattern"
    counter = "mkldnn_reshape_linear_reshape_matcher_count"
    numerics = EXACT

    def pattern(
        self,
        out: Tensor,
        x: Tensor,
        weight: Tensor,
        bias: Any,
        attr: str,
        scalars: Any,
        algorithm: Any,
        rows: Any,
        sizes: Any,
    ) -> Any:
        reshaped = shared(aten.reshape(x, rows))
        linear = ops.mkldnn._linear_pointwise.default(
            reshaped, weight, bias, attr, scalars, algorithm
        )
        return bind(out, aten.reshape(linear, sizes))

    def where(self, out: Tensor, x: Tensor, weight: Tensor) -> Any:
        if x.ndim < 2 or out.ndim != x.ndim or weight.ndim != 2:
            return no("the result has another rank than the data")
        outer = zip(out.shape[:-1], x.shape[:-1], strict=True)
        return all_of(x.shape[-1] == weight.shape[1], *[one == other for one, other in outer])

    def replacement(
        self, x: Tensor, weight: Tensor, bias: Any, attr: str, scalars: Any, algorithm: Any
    ) -> Any:
        return ops.mkldnn._linear_pointwise.default(x, weight, bias, attr, scalars, algorithm)

    def instances(self) -> Iterator[dict[str, Any]]:
        for sizes in ((2, 3, 5), (4, 5), (2, 3, 2, 5), (1, 1, 5), (3, 2, 5)):
            for bias in (None, torch.rand(4)):
                for attr in ("none", "tanh", "swish", "sigmoid"):
                    x = torch.rand(sizes)
                    yield {
                        "x": x,
                        "weight": torch.rand(4, 5),
                        "bias": bias,
                        "attr": attr,
                        "scalars": [],
                        "algorithm": "",
                        "rows": [x.numel() // 5, 5],
                        "sizes": [*sizes[:-1], 4],
                    }


class MkldnnLinearBias(Rewrite):
    """A vector that is added to a packed linear without a bias is its bias."""

    name = "mkldnn_linear_bias"
    stage = "post_grad"
    inductor = "mkldnn_fusion.py:_recover_linear.linear_bias_pattern"
    counter = "mkldnn_linear_bias_matcher_count"
    numerics: ClassVar[Declared] = {
        torch.float32: REASSOCIATES,
        torch.bfloat16: ROUNDS_LESS_OFTEN,
        torch.float16: ROUNDS_LESS_OFTEN,
    }

    def pattern(self, x: Tensor, weight: Tensor, bias: Tensor) -> Any:
        linear = ops.mkldnn._linear_pointwise.default(x, weight, None, "none", [], "")
        return aten.add(linear, bias)

    def where(self, x: Tensor, weight: Tensor, bias: Tensor) -> Any:
        if weight.ndim != 2 or bias.ndim != 1 or not bias.same_dtype(weight):
            return no("what is added is no vector of the weight's dtype")
        return bias.shape[0] == weight.shape[0]

    def replacement(self, x: Tensor, weight: Tensor, bias: Tensor) -> Any:
        return ops.mkldnn._linear_pointwise.default(x, weight, bias, "none", [], "")

    def instances(self) -> Iterator[dict[str, Any]]:
        for sizes in ((2, 3, 5), (4, 5), (2, 3, 2, 5), (1, 5), (3, 1, 5)):
            for columns in range(1, 9):
                yield {
                    "x": torch.rand(sizes),
                    "weight": torch.rand(columns, 5),
                    "bias": torch.rand(columns),
                }


__all__ = ["MkldnnLinearBias", "MkldnnReshapeLinearReshape"]
