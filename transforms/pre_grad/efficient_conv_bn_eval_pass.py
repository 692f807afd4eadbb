"""`efficient_conv_bn_eval_pass`: folds a batch norm in evaluation mode into the layer before it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import torch

from xductor.ir import aten
from xductor.transforms import APPROXIMATE, REASSOCIATES, Rewrite, Tensor, no
from xductor.transforms.editing.widening import narrowed, widened
from xductor.transforms.matmul.weights import scaled_by_channel


class _EfficientConvBnEval(Rewrite, abstract=True):
    """Base of the rewrites here: a norm of a layer becomes a layer with a normalized weight.

    The layer is linear in its weight, so the norm can be applied to the weight instead of the
    result (arXiv:2305.11624). Mean and variance are the running ones. Weights of 16 bits are
    computed in float32, and rounded once.
    """

    stage = "pre_grad"
    inductor = "efficient_conv_bn_eval.py:efficient_conv_bn_eval_graph_transform_inlined"
    counter = "efficient_conv_bn_eval"
    numerics: ClassVar = {
        torch.float32: REASSOCIATES,
        torch.float64: REASSOCIATES,
        torch.float16: APPROXIMATE,
        torch.bfloat16: APPROXIMATE,
    }

    def norms(self, channels: int) -> Iterator[dict[str, Any]]:
        """Biases and norms with and without each part, chosen so that no terms cancel."""
        for dtype in (torch.float32, torch.float64):
            for parts in (0, 1, 2, 3):
                some = [torch.rand(channels, dtype=dtype) for _ in range(4)]
                yield {
                    "bias": some[0] if parts & 1 else None,
                    "scale": some[1] if parts & 2 else None,
                    "shift": some[2] if parts else None,
                    "mean": -some[3],
                    "var": torch.rand(channels, dtype=dtype) + 0.5,
                    "momentum": 0.1,
                    "eps": 1e-3,
                    "cudnn": True,
                }

    def folded(self, weight: Any, bias: Any, norm: tuple[Any, ...], **layout: Any) -> Any:
        """The weight and bias of a layer that includes the norm.

        - `norm`: weight, bias, mean, variance and eps of the norm.
        - `layout`: where the channels of the weight are, as `scaled_by_channel` takes it.
        """
        *parts, eps = norm
        wide: list[Any] = [None if one is None else widened(one, aten.to) for one in parts]
        scale, shift, mean, var = wide
        factor = aten.rsqrt(aten.add(var, eps))
        factor = factor if scale is None else aten.mul(scale, factor)
        centered = aten.neg(mean) if bias is None else aten.sub(widened(bias, aten.to), mean)
        shifted = aten.mul(factor, centered)
        shifted = shifted if shift is None else aten.add(shift, shifted)
        scaled = scaled_by_channel(widened(weight, aten.to), factor, **layout)
        return tuple(narrowed(made, weight.dtype, aten.to) for made in (scaled, shifted))


class _AnyConvolution(_EfficientConvBnEval, abstract=True):
    """Base of the rewrites of convolutions.

    - `op`: the convolution.
    """

    op: ClassVar[Any]

    def where(self, x: Tensor, weight: Tensor) -> Any:
        return x.ndim == weight.ndim or no("the input is no batch")

    def instances(self) -> Iterator[dict[str, Any]]:
        """Operands that meet the conditions, which random ones rarely do."""
        dims = int(self.op.name.removesuffix("d")[-1])
        for groups in (1, 2, 4):
            for norm in self.norms(4):
                dtype = norm["var"].dtype
                yield norm | {
                    "x": torch.rand(2, 4, *[3] * dims, dtype=dtype),
                    "weight": torch.rand(4, 4 // groups, *[2] * dims, dtype=dtype),
                    "stride": [1] * dims,
                    "padding": [0] * dims,
                    "dilation": [1] * dims,
                    "groups": groups,
                }


class _Convolution(_AnyConvolution, abstract=True):
    """A convolution, with a weight of shape `[O, I / groups, ...]`."""

    def pattern(
        self,
        x: Tensor,
        weight: Tensor,
        bias: Any,
        stride: list[int],
        padding: list[int],
        dilation: list[int],
        groups: int,
        scale: Any,
        shift: Any,
        mean: Tensor,
        var: Tensor,
        momentum: Any,
        eps: float,
        cudnn: Any,
    ) -> Any:
        layer = self.op(x, weight, bias, stride, padding, dilation, groups)
        return aten.batch_norm(layer, scale, shift, mean, var, False, momentum, eps, cudnn)

    def replacement(
        self,
        x: Tensor,
        weight: Tensor,
        bias: Any,
        stride: list[int],
        padding: list[int],
        dilation: list[int],
        groups: int,
        scale: Any,
        shift: Any,
        mean: Tensor,
        var: Tensor,
        eps: float,
    ) -> Any:
        made = self.folded(weight, bias, (scale, shift, mean, var, eps))
        return self.op(x, *made, stride, padding, dilation, groups)


class _Transposed(_AnyConvolution, abstract=True):
    """A transposed convolution, with a weight of shape `[I, O / groups, ...]`."""

    def pattern(
        self,
        x: Tensor,
        weight: Tensor,
        bias: Any,
        stride: list[int],
        padding: list[int],
        output: list[int],
        groups: int,
        dilation: list[int],
        scale: Any,
        shift: Any,
        mean: Tensor,
        var: Tensor,
        momentum: Any,
        eps: float,
        cudnn: Any,
    ) -> Any:
        layer = self.op(x, weight, bias, stride, padding, output, groups, dilation)
        return aten.batch_norm(layer, scale, shift, mean, var, False, momentum, eps, cudnn)

    def replacement(
        self,
        x: Tensor,
        weight: Tensor,
        bias: Any,
        stride: list[int],
        padding: list[int],
        output: list[int],
        groups: int,
        dilation: list[int],
        scale: Any,
        shift: Any,
        mean: Tensor,
        var: Tensor,
        eps: float,
    ) -> Any:
        norm = (scale, shift, mean, var, eps)
        made = self.folded(weight, bias, norm, groups=groups, transposed=True)
        return self.op(x, *made, stride, padding, output, groups, dilation)

    def instances(self) -> Iterator[dict[str, Any]]:
        return (one | {"output": one["padding"]} for one in super().instances())


class EfficientLinearBnEval(_EfficientConvBnEval):
    """A batch norm in evaluation mode is folded into the weight of a linear.

    The input must have two dims: only then are the channels of the norm those of the linear.
    """

    name = "efficient_conv_bn_eval_pass"

    def pattern(
        self,
        x: Tensor,
        weight: Tensor,
        bias: Any,
        scale: Any,
        shift: Any,
        mean: Tensor,
        var: Tensor,
        momentum: Any,
        eps: float,
        cudnn: Any,
    ) -> Any:
        layer = aten.linear(x, weight, bias)
        return aten.batch_norm(layer, scale, shift, mean, var, False, momentum, eps, cudnn)

    def where(self, x: Tensor) -> Any:
        return x.ndim == 2 or no("the channels of the norm are not those of the linear")

    def replacement(
        self,
        x: Tensor,
        weight: Tensor,
        bias: Any,
        scale: Any,
        shift: Any,
        mean: Tensor,
        var: Tensor,
        eps: float,
    ) -> Any:
        return aten.linear(x, *self.folded(weight, bias, (scale, shift, mean, var, eps)))

    def instances(self) -> Iterator[dict[str, Any]]:
        """Operands that meet the conditions, which random ones rarely do."""
        for rows in (1, 2, 3):
            for norm in self.norms(4):
                given = [torch.rand(*one, dtype=norm["var"].dtype) for one in ((rows, 3), (4, 3))]
                yield norm | dict(zip(("x", "weight"), given, strict=True))


class EfficientConv1dBnEval(_Convolution):
    """A batch norm in evaluation mode is folded into the weight of a conv1d."""

    name = "efficient_conv_bn_eval_pass"
    op = aten.conv1d


class EfficientConv2dBnEval(_Convolution):
    """A batch norm in evaluation mode is folded into the weight of a conv2d."""

    name = "efficient_conv_bn_eval_pass"
    op = aten.conv2d


class EfficientConv3dBnEval(_Convolution):
    """A batch norm in evaluation mode is folded into the weight of a conv3d."""

    name = "efficient_conv_bn_eval_pass"
    op = aten.conv3d


class EfficientConvTranspose1dBnEval(_Transposed):
    """A batch norm in evaluation mode is folded into the weight of a conv_transpose1d."""

    name = "efficient_conv_bn_eval_pass"
    op = aten.conv_transpose1d


class EfficientConvTranspose2dBnEval(_Transposed):
    """A batch norm in evaluation mode is folded into the weight of a conv_transpose2d."""

    name = "efficient_conv_bn_eval_pass"
    op = aten.conv_transpose2d


class EfficientConvTranspose3dBnEval(_Transposed):
    """A batch norm in evaluation mode is folded into the weight of a conv_transpose3d."""

    name = "efficient_conv_bn_eval_pass"
    op = aten.conv_transpose3d


EFFICIENT_CONV_BN_EVAL = (
    EfficientLinearBnEval,
    EfficientConv1dBnEval,
    EfficientConv2dBnEval,
    EfficientConv3dBnEval,
    EfficientConvTranspose1dBnEval,
    EfficientConvTranspose2dBnEval,
    EfficientConvTranspose3dBnEval,
)

__all__ = ["EFFICIENT_CONV_BN_EVAL"]
