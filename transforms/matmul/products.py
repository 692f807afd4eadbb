"""Products by weights, in the words in which they are written: linear, matmul, mm and addmm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from xdsl.ir import SSAValue

from xductor.ir import Facts, TensorType, aten
from xductor.ir.functions.torch_calls import AtenCall
from xductor.transforms.editing.replacement import known_equal

PRODUCTS = frozenset(
    ("aten.linear.default", "aten.matmul.default", "aten.mm.default", "aten.addmm.default")
)


class Product(NamedTuple):
    """`[..., K]` by a weight, to `[..., N]`.

    - `weight`: `[N, K]` if it `has_rows`, one for each column of the result, else `[K, N]`.
    - `bias`: `[N]` or None.
    """

    x: SSAValue
    weight: SSAValue
    bias: SSAValue | None
    has_rows: bool

    @property
    def is_real(self) -> bool:
        """Whether it is of numbers that are added alike in any order: infinities of complex numbers
        are not.
        """
        return not self.x.type.dtype.is_complex  # type: ignore[union-attr]

    def has_plain_bias(self, facts: Facts) -> bool:
        """Whether there is no bias, or one number for each column, of dtype and device of the
        weight.
        """
        if self.bias is None:
            return True
        bias, weight = self.bias.type, self.weight.type
        if type(bias) is not TensorType or type(weight) is not TensorType:
            return False
        same = bias.dtype is weight.dtype and bias.device == weight.device
        return same and known_equal(bias.shape, (self.width,), facts)

    @property
    def lies_in_rows(self) -> bool:
        """Whether the weight lies in memory as `[N, K]` does, transposed or not."""
        type_: Any = self.weight.type
        return self.has_rows or type_.stride[0] == 1 != type_.stride[1]

    @property
    def width(self) -> Any:
        """N."""
        type_: Any = self.weight.type
        return type_.shape[0 if self.has_rows else 1]


def product_of(call: AtenCall) -> Product | None:
    """A call as a product by a matrix; None for another one."""
    bias: Any = None
    match call.name:
        case "aten.linear.default":
            x, weight, bias = call.items
        case "aten.addmm.default":
            bias, x, weight, *factors = call.items
            if factors != [1, 1]:
                return None
        case _:
            x, weight = call.items
    types: list[Any] = [one.type for one in (x, weight)]
    if any(type(one) is not TensorType for one in types) or types[1].rank != 2:
        return None
    if types[0].rank < 2:
        return None
    return Product(x, weight, bias, call.name == "aten.linear.default")


class Joined(NamedTuple):
    """The weights of some products as one, `[N, K]` if it `has_rows`, else `[K, N]`."""

    weight: Any
    has_rows: bool

    def multiplied(self, x: Any, bias: Any) -> Any:
        """The product with a tensor, by whose bias one is added for each column, if any."""
        if self.has_rows:
            return aten.linear(x, self.weight, bias)
        if bias is None:
            return aten.matmul(x, self.weight)
        return aten.addmm(bias, x, self.weight)


def joined(products: Sequence[Product], weights: Sequence[Any], *, outer: bool) -> Joined:
    """The weights of products, of which handles are given, one behind the other.

    They become as most of them lie in memory. `outer`: along N, else along K.
    """
    in_rows = sum(one.lies_in_rows for one in products)
    has_rows = any(one.bias is not None and one.x.type.rank > 2 for one in products)  # type: ignore[union-attr]
    has_rows = has_rows or 2 * in_rows >= len(products)
    laid = [
        weight if one.has_rows is has_rows else aten.transpose(weight, 0, 1)
        for one, weight in zip(products, weights, strict=True)
    ]
    return Joined(aten.cat(laid, 0 if outer is has_rows else 1), has_rows)


__all__ = ["PRODUCTS", "Joined", "Product", "joined", "product_of"]
