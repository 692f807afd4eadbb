"""Convolutions and products: calls that are linear in a weight, and their arguments."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from xdsl.ir import SSAValue

from xductor.ir import SchemaOp, TensorType, aten
from xductor.transforms import Tensor
from xductor.transforms.matmul.weights import Scale, scaled_by_channel


@dataclass(frozen=True)
class Computation:
    """A call that is linear in its weight and can take a bias.

    Subclasses name the arguments: `data` is what the weight is applied to.
    """

    op: SchemaOp
    target: ClassVar[str]
    names: ClassVar[dict[str, str]]

    @property
    def data(self) -> SSAValue:
        return self.op.argument(self.names["data"])

    @property
    def weight(self) -> SSAValue:
        return self.op.argument(self.names["weight"])

    @property
    def bias(self) -> SSAValue | None:
        return self.op.argument(self.names["bias"]) if "bias" in self.names else None

    @property
    def channels(self) -> int:
        """The number of channels: the size that bias and result share."""
        return sizes_of(self.weight)[-1]

    @property
    def channel(self) -> int:
        """The position of the channels in the result, from the end."""
        return -1

    def scaled_weight(self, weight: Tensor, by: Any, scale: Scale) -> Any:
        """The weight scaled by a number, or by a tensor of one element or one for each channel."""
        return scale(weight, by)

    def call(self, data: Tensor, weight: Any, bias: Any) -> Any:
        """The call with another weight and bias; None for no bias."""
        return aten.mm(data, weight) if bias is None else aten.addmm(bias, data, weight)


class Mm(Computation):
    """`aten.mm`; the weight is [K, N]."""

    target = "aten.mm.default"
    names: ClassVar = {"data": "self", "weight": "mat2"}


class Addmm(Computation):
    """`aten.addmm`: `beta * self + alpha * (mat1 @ mat2)`; where beta is 0, self is not read."""

    target = "aten.addmm.default"
    names: ClassVar = {"data": "mat1", "weight": "mat2", "bias": "self"}

    @property
    def bias(self) -> SSAValue | None:
        return None if self.op.argument("beta") == 0 else self.op.argument("self")

    def call(self, data: Tensor, weight: Any, bias: Any) -> Any:
        alpha = self.op.argument("alpha")
        if bias is not None:
            return aten.addmm(bias, data, weight, alpha=alpha)
        return aten.mm(data, weight if alpha == 1 else aten.mul(weight, alpha))


class Convolution(Computation):
    """`aten.convolution`; the weight is [O, I / groups, ...], transposed [I, O / groups, ...]."""

    target = "aten.convolution.default"
    names: ClassVar = {"data": "input", "weight": "weight", "bias": "bias"}

    @property
    def channels(self) -> int:
        sizes = sizes_of(self.weight)
        return sizes[1] * self._groups if self._is_transposed else sizes[0]

    @property
    def channel(self) -> int:
        return 1 - len(sizes_of(self.weight))

    @property
    def _groups(self) -> int:
        return self.op.argument("groups")

    @property
    def _is_transposed(self) -> bool:
        return self.op.argument("transposed")

    def scaled_weight(self, weight: Tensor, by: Any, scale: Scale) -> Any:
        if not isinstance(by, Tensor) or prod(by.shape) == 1:
            return scale(weight, by)
        groups, transposed = self._groups, self._is_transposed
        return scaled_by_channel(weight, by, scale, groups=groups, transposed=transposed)

    def call(self, data: Tensor, weight: Any, bias: Any) -> Any:
        settings = self.op.argument_tree(self.op.args.data[3:])
        return aten.convolution(data, weight, bias, *settings)


_BY_TARGET = {one.target: one for one in (Mm, Addmm, Convolution)}


def computation_of(op: Any) -> Computation | None:
    """The computation that an op is, with a weight and a bias of known sizes; else None."""
    kind = _BY_TARGET.get(op.name)
    if kind is None:
        return None
    found = kind(op)
    if not is_plain(found.weight) or not (found.bias is None or _is_vector(found.bias)):
        return None
    return found


def is_plain(value: SSAValue) -> bool:
    """Whether a value is a strided tensor of floats whose sizes are numbers."""
    type_: Any = value.type
    return has_known_sizes(value) and type_.dtype.is_floating_point


def has_known_sizes(value: SSAValue) -> bool:
    """Whether a value is a strided tensor whose sizes are numbers."""
    type_: Any = value.type
    return (
        type(type_) is TensorType
        and type_.data.layout == "strided"
        and not type_.data.subclass
        and all(isinstance(size, int) for size in type_.shape)
    )


def sizes_of(value: SSAValue) -> tuple[int, ...]:
    """The sizes of a tensor."""
    type_: Any = value.type
    return tuple(type_.shape)


def _is_vector(value: SSAValue) -> bool:
    """Whether a bias is a vector, the same for each row."""
    return is_plain(value) and prod(sizes_of(value)[:-1]) == 1


__all__ = ["Computation", "computation_of", "has_known_sizes", "is_plain", "sizes_of"]
