"""`xductor::qconv_binary`: a convolution of 8 bits with a sum, in place or not.

oneDNN's own writes its sum to what is added. `backend.lowerings` lowers these as Inductor does it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

_LIBRARY = torch.library.Library("xductor", "FRAGMENT")

_ARGUMENTS = (
    "Tensor x, float x_scale, int x_zero, Tensor weight, Tensor scales, Tensor zeros, "
    "{other} other, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups, "
    "float scale, int zero, ScalarType dtype, float other_scale, int other_zero, str unary"
)
_LIBRARY.define(f"qconv_binary({_ARGUMENTS.format(other='Tensor')}) -> Tensor")
_LIBRARY.define(f"qconv_binary_({_ARGUMENTS.format(other='Tensor(a!)')}) -> Tensor(a!)")

#: Which argument is added.
OTHER = 6


def onednn_arguments(given: Any) -> list[Any]:
    """The arguments as oneDNN's operator takes them."""
    *before, unary = given
    return [*before, "sum", 1.0, unary, [], ""]


def _qconv_binary(*given: Any) -> Tensor:
    """`unary(convolution(x, weight, bias) + other)`, quantised with `scale` and `zero`.

    - `x`, `other`: what was quantised with scales and zero points of their own.
    - `dtype`: that of the result, and of `other`; one that is not of 8 bits is not quantised.
    """
    copied = given[OTHER].clone(memory_format=torch.channels_last)
    return _qconv_binary_in_place(*given[:OTHER], copied, *given[OTHER + 1 :])


def _qconv_binary_in_place(*given: Any) -> Tensor:
    """Write the sum to `other`, which is laid out with channels last, and return it."""
    torch.ops.onednn.qconv2d_pointwise.binary(*onednn_arguments(given))
    return given[OTHER]


def _like_a_convolution(*given: Any) -> Tensor:
    before, after = given[:OTHER], given[OTHER + 1 : -3]
    return torch.ops.onednn.qconv_pointwise.default(*before, *after, "none", [], "")


def _like_other(*given: Any) -> Tensor:
    return given[OTHER]


for _name, _kernel, _fake in (
    ("qconv_binary", _qconv_binary, _like_a_convolution),
    ("qconv_binary_", _qconv_binary_in_place, _like_other),
):
    _LIBRARY.impl(_name, _kernel, "CompositeExplicitAutograd")
    torch.library.register_fake(f"xductor::{_name}", _fake, lib=_LIBRARY)

QCONV_BINARY = "xductor.qconv_binary.default"

__all__ = ["OTHER", "QCONV_BINARY", "onednn_arguments"]
