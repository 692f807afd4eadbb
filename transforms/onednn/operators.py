"""Operators for oneDNN's calls: with a sum or difference, for several linears of one tensor, and
for products whose weight is not packed.

oneDNN's own for sums have no fake kernels, and the one in place takes its arguments in another
order than Inductor's lowering of it. `backend.lowerings` lowers those here as Inductor does its
own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

_LIBRARY = torch.library.Library("xductor", "FRAGMENT")

_OF_CONVOLUTION = (
    "Tensor x, {other} other, Tensor weight, Tensor? bias, int[] padding, int[] stride, "
    "int[] dilation, int groups, str binary, str? unary"
)

_LIBRARY.define(f"convolution_binary({_OF_CONVOLUTION.format(other='Tensor')}) -> Tensor")
_LIBRARY.define(f"convolution_binary_({_OF_CONVOLUTION.format(other='Tensor(a!)')}) -> Tensor(a!)")
_LIBRARY.define(
    "linear_binary(Tensor x, Tensor other, Tensor weight, Tensor? bias, str binary) -> Tensor"
)
_LIBRARY.define("onednn_mm(Tensor x, Tensor mat2, Tensor? bias) -> Tensor")
_LIBRARY.define("grouped_linear(Tensor x, Tensor[] weights, Tensor?[] biases) -> Tensor[]")


def _convolution_binary(
    x: Tensor, other: Tensor, weight: Tensor, bias: Tensor | None, *given: Any
) -> Tensor:
    """`unary(convolution(x, weight, bias) + other)`, or the difference.

    - `other`: of the result's sizes, or broadcast along its inner dims.
    - `given`: padding, stride, dilation and groups; `"add"` or `"sub"`; `"relu"` or None.
    """
    *geometry, binary, unary = given
    how = (*geometry, binary, 1.0, unary, [], None)
    return torch.ops.mkldnn._convolution_pointwise.binary(x, other, weight, bias, *how)


def _convolution_binary_in_place(
    x: Tensor, other: Tensor, weight: Tensor, bias: Tensor | None, *given: Any
) -> Tensor:
    """Write the sum to `other`, which has the result's sizes and strides, and return it."""
    *geometry, binary, unary = given
    how = (*geometry, binary, 1.0, unary, [], None)
    torch.ops.mkldnn._convolution_pointwise_.binary(other, x, weight, bias, *how)
    return other


def _linear_binary(
    x: Tensor, other: Tensor, weight: Tensor, bias: Tensor | None, binary: str
) -> Tensor:
    """`linear(x, weight, bias) + other`, or the difference.

    - `other`: of the result's sizes, or one row for all. oneDNN broadcasts matrices alone.
    """
    rows, others = (one.reshape(-1, one.shape[-1]) for one in (x, other))
    made = torch.ops.mkldnn._linear_pointwise.binary(rows, others, weight, bias, binary)
    return made.reshape(*x.shape[:-1], made.shape[-1])


def _onednn_mm(x: Tensor, mat2: Tensor, bias: Tensor | None) -> Tensor:
    """`mm(x, mat2)`, or `addmm(bias, x, mat2)` of a bias for each column.

    - `mat2`: `[inner, columns]`, in rows or in columns; it may change between calls.
    """
    return torch.ops.mkldnn._linear_pointwise.default(x, mat2.t(), bias, "none", [], "")


def _grouped_linear(
    x: Tensor, weights: Sequence[Tensor], biases: Sequence[Tensor | None]
) -> list[Tensor]:
    """`linear(x, weight, bias)` for each of the weights, which are packed and of one size."""
    call = torch.ops.mkldnn._linear_pointwise.default
    pairs = zip(weights, biases, strict=True)
    return [call(x, weight, bias, "none", [], "") for weight, bias in pairs]


def _like_a_convolution(
    x: Tensor, other: Tensor, weight: Tensor, bias: Tensor | None, *given: Any
) -> Tensor:
    packed = torch.ops.mkldnn._convolution_pointwise.default
    return packed(x, weight, bias, *given[:4], "none", [], "")


def _like_other(x: Tensor, other: Tensor, *given: Any) -> Tensor:
    return other


def _like_a_linear(
    x: Tensor, other: Tensor, weight: Tensor, bias: Tensor | None, binary: str
) -> Tensor:
    return torch.ops.mkldnn._linear_pointwise.default(x, weight, bias, "none", [], "")


for _name, _kernel, _fake in (
    ("convolution_binary", _convolution_binary, _like_a_convolution),
    ("convolution_binary_", _convolution_binary_in_place, _like_other),
    ("linear_binary", _linear_binary, _like_a_linear),
    ("onednn_mm", _onednn_mm, _onednn_mm),
    ("grouped_linear", _grouped_linear, _grouped_linear),
):
    _LIBRARY.impl(_name, _kernel, "CompositeExplicitAutograd")
    torch.library.register_fake(f"xductor::{_name}", _fake, lib=_LIBRARY)

CONVOLUTION_BINARY = "xductor.convolution_binary.default"
CONVOLUTION_BINARY_IN_PLACE = "xductor.convolution_binary_.default"
LINEAR_BINARY = "xductor.linear_binary.default"
GROUPED_LINEAR = "xductor.grouped_linear.default"

__all__ = ["CONVOLUTION_BINARY", "CONVOLUTION_BINARY_IN_PLACE", "GROUPED_LINEAR", "LINEAR_BINARY"]
