"""oneDNN's calls of 8 bits whose own operators do not say what they do.

- `xductor::qconv_binary`, a convolution with a sum: oneDNN's writes to what is added.
- `xductor::qlinear_binary`, a linear with a sum: oneDNN's may write to what is added, too.
- `xductor::qconv`, a convolution: PyTorch's fake kernel asks for guards on symbolic sizes, and over
  one dim, where the packed weight has two, it gives other sizes.

`backend.lowerings` lowers these as Inductor does its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

_LIBRARY = torch.library.Library("xductor", "FRAGMENT")

_OF_CONVOLUTION = (
    "Tensor x, float x_scale, int x_zero, Tensor weight, Tensor scales, Tensor zeros, "
    "{other} other, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups, "
    "float scale, int zero, ScalarType dtype, float other_scale, int other_zero, str unary"
)
_LIBRARY.define(f"qconv_binary({_OF_CONVOLUTION.format(other='Tensor')}) -> Tensor")
_LIBRARY.define(f"qconv_binary_({_OF_CONVOLUTION.format(other='Tensor(a!)')}) -> Tensor(a!)")

_OF_LINEAR = (
    "Tensor x, {scale} x_scale, {zero} x_zero, Tensor weight, Tensor scales, Tensor zeros, "
    "{other} other, Tensor? bias, float scale, int zero, ScalarType dtype, str unary"
)
for _overload, _scale, _zero in (("", "float", "int"), (".tensor", "Tensor", "Tensor")):
    for _name, _other, _result in (
        ("qlinear_binary", "Tensor", "Tensor"),
        ("qlinear_binary_", "Tensor(a!)", "Tensor(a!)"),
    ):
        _given = _OF_LINEAR.format(scale=_scale, zero=_zero, other=_other)
        _LIBRARY.define(f"{_name}{_overload}({_given}) -> {_result}")
_LIBRARY.define(
    "qconv(Tensor qx, float x_scale, int x_zero_point, Tensor qw, Tensor w_scale, "
    "Tensor w_zero_point, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups, "
    "float output_scale, int output_zero_point, ScalarType? output_dtype, str attr, "
    "Scalar?[] scalars, str? algorithm) -> Tensor"
)

#: Which argument is added.
OTHER = 6


def for_convolution(given: Sequence[Any]) -> list[Any]:
    """The arguments of `qconv_binary` as oneDNN's operator takes them."""
    *before, unary = given
    return [*before, "sum", 1.0, unary, [], ""]


def for_linear(given: Sequence[Any], how: str = "add") -> list[Any]:
    """The arguments of `qlinear_binary` as oneDNN's operator takes them; in place with `"sum"`."""
    *before, unary = given
    return [*before, 1.0, 0, how, 1.0, unary, [], ""]


def _qconv_binary(*given: Any) -> Tensor:
    """`unary(convolution(x, weight, bias) + other)`, quantised with `scale` and `zero`.

    - `x`, `other`: what was quantised with scales and zero points of their own.
    - `dtype`: that of the result, and of `other`; one that is not of 8 bits is not quantised.
    """
    copied = given[OTHER].clone(memory_format=torch.channels_last)
    return _qconv_binary_in_place(*given[:OTHER], copied, *given[OTHER + 1 :])


def _qconv_binary_in_place(*given: Any) -> Tensor:
    """Write the sum to `other`, which is laid out with channels last, and return it."""
    torch.ops.onednn.qconv2d_pointwise.binary(*for_convolution(given))
    return given[OTHER]


def _qlinear_binary(*given: Any) -> Tensor:
    """`unary(linear(x, weight, bias) + other)`, quantised with `scale` and `zero`.

    - `x`: what was quantised with `x_scale` and `x_zero`.
    - `other`: float32 or bfloat16, of the result's sizes.
    - `dtype`: that of the result; one that is not of 8 bits is not quantised.
    """
    return _linear_of(given)(*for_linear(given))


def _qlinear_binary_in_place(*given: Any) -> Tensor:
    """Write the sum to `other`, which has the result's dtype and rows side by side; return it."""
    _linear_of(given)(*for_linear(given, "sum"))
    return given[OTHER]


def _linear_of(given: Sequence[Any]) -> Any:
    calls = torch.ops.onednn.qlinear_pointwise
    return calls.binary_tensor if isinstance(given[1], Tensor) else calls.binary


def _like_a_convolution(*given: Any) -> Tensor:
    before, after = given[:OTHER], given[OTHER + 1 : -3]
    return _like_qconv(*before, *after, "none", [], "")


def _like_other(*given: Any) -> Tensor:
    return given[OTHER]


def _qconv(*given: Any) -> Tensor:
    """oneDNN's own convolution of data with three or four dims; its result has channels last."""
    return torch.ops.onednn.qconv_pointwise.default(*given)


def _like_qconv(x: Tensor, *given: Any) -> Tensor:
    weight, geometry = given[2], given[6:9]
    dims = x.dim() - 2
    stride, padding, dilation = ([*one] * (dims if len(one) == 1 else 1) for one in geometry)
    spans = [step * (size - 1) + 1 for step, size in zip(dilation, weight.shape[-dims:])]  # noqa: B905
    inner = [
        (size + 2 * more - span) // step + 1
        for size, more, span, step in zip(x.shape[2:], padding, spans, stride, strict=True)
    ]
    channels, rows = weight.shape[0], [1]
    for size in reversed(inner):
        rows.insert(0, rows[0] * size)
    strides = [channels * rows[0], 1, *[channels * row for row in rows[1:]]]
    return x.new_empty_strided((x.shape[0], channels, *inner), strides, dtype=given[12])


for _name, _kernel, _fake in (
    ("qconv", _qconv, _like_qconv),
    ("qconv_binary", _qconv_binary, _like_a_convolution),
    ("qconv_binary_", _qconv_binary_in_place, _like_other),
    ("qlinear_binary", _qlinear_binary, _qlinear_binary),
    ("qlinear_binary.tensor", _qlinear_binary, _qlinear_binary),
    ("qlinear_binary_", _qlinear_binary_in_place, _like_other),
    ("qlinear_binary_.tensor", _qlinear_binary_in_place, _like_other),
):
    _LIBRARY.impl(_name, _kernel, "CompositeExplicitAutograd")
    torch.library.register_fake(f"xductor::{_name}", _fake, lib=_LIBRARY)

__all__ = ["OTHER", "for_convolution", "for_linear"]
