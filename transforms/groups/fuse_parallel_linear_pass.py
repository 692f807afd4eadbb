"""`fuse_parallel_linear_pass`: products of one input by several weights, as one wider product."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

from torch.fx import Graph
from xdsl.ir import SSAValue

from xductor.ir import Facts, TensorType, TorchOp, aten
from xductor.ir.functions.torch_calls import AtenCall
from xductor.ir.functions.torch_spellings import spelled
from xductor.ir.inference.infer import storage_root
from xductor.transforms.editing.aliasing import is_outside
from xductor.transforms.groups.forms import Forms
from xductor.transforms.groups.group_fusion import Group
from xductor.transforms.groups.stacking import Stacking
from xductor.transforms.groups.torch_level import TorchGroup, TorchLevelFusion
from xductor.transforms.passes.numerics import REASSOCIATES

PRODUCTS = frozenset(
    ("aten.linear.default", "aten.matmul.default", "aten.mm.default", "aten.addmm.default")
)


class Product(NamedTuple):
    """`[..., K]` by a weight, to `[..., N]`.

    - `weight`: `[N, K]` if it `has_rows`, one for each column of the result, else `[K, N]`.
    - `lies_in_rows`: whether its rows, or those of what it is a transpose of, lie in memory as
      those of `[N, K]` do.
    - `bias`: `[N]` or None.
    """

    x: SSAValue
    weight: SSAValue
    bias: SSAValue | None
    has_rows: bool
    lies_in_rows: bool

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
    has_rows = call.name == "aten.linear.default"
    first, second = types[1].stride
    return Product(x, weight, bias, has_rows, has_rows or (first == 1 and second != 1))


class ProductGroup(TorchGroup):
    """Products of one input."""

    def __init__(self, ops: Sequence[TorchOp], stacking: Stacking, facts: Facts) -> None:
        super().__init__(ops, stacking, facts)
        self.products = [one for call in self.calls if (one := product_of(call)) is not None]


@dataclass(frozen=True)
class FuseParallelLinearPass(TorchLevelFusion):
    """Linears and matrix products of one input as one by their weights, put together.

    The weights are put together in the graph, so that it has the parameters that it had. What
    stands for a result is a part of each row of one tensor: a copy where somebody can tell.

    - `freezing`: whether what is made of weights alone is made once and for all.
    """

    name = "fuse_parallel_linear_pass"
    inductor = "pre_grad.py:fuse_parallel_linear_pass"
    numerics = REASSOCIATES
    operators = PRODUCTS
    roots = spelled(PRODUCTS)

    min_fuse_set_size: int = 2
    max_fuse_search_depth: int | None = None
    freezing: bool = False

    def kind(self, op: Any) -> str:
        return "product"

    def result_form(self, result: SSAValue, forms: Forms) -> Hashable | None:
        found: Any = forms.tensor(result)
        return None if found is None else (found[0], found[1], found[3])

    def form_of(self, call: AtenCall, forms: Forms) -> Hashable | None:
        product = product_of(call)
        if product is None or not _may_be_joined(product, forms):
            return None
        work = self._work(product, call.results[0], forms)
        if work.saved <= work.spent:
            return None
        asks = [forms.requires_grad(one) for one in (product.weight, product.bias or product.weight)]
        return product.x, forms.kind(product.weight), *asks, product.lies_in_rows

    def group_of(self, ops: Sequence[TorchOp], facts: Facts) -> ProductGroup:
        return ProductGroup(ops, self.stacking, facts)

    def fused(self, group: Group) -> list[Any]:
        assert isinstance(group, ProductGroup)
        products = group.products
        weights = [group.handle(one.weight) for one in products]
        widths = [
            weight.shape[0 if one.has_rows else 1]
            for one, weight in zip(products, weights, strict=True)
        ]
        x = group.handle(products[0].x)
        added = self._biases(group, widths)
        if products[0].lies_in_rows:
            rows = [
                weight if one.has_rows else aten.transpose(weight, 0, 1)
                for one, weight in zip(products, weights, strict=True)
            ]
            made = aten.linear(x, aten.cat(rows), added)
        elif added is None:
            made = aten.matmul(x, aten.cat(weights, 1))
        else:
            made = aten.addmm(added, x, aten.cat(weights, 1))
        return list(aten.split_with_sizes(made, widths, x.ndim - 1))

    def _biases(self, group: ProductGroup, widths: Sequence[Any]) -> Any:
        """The biases, with zeros where there is none; None if there is none at all."""
        given = [None if one.bias is None else group.handle(one.bias) for one in group.products]
        some = next((one for one in given if one is not None), None)
        if some is None:
            return None
        return aten.cat(
            [
                aten.new_zeros(some, [width]) if one is None else one
                for one, width in zip(given, widths, strict=True)
            ]
        )

    def pays(self, group: Group, forms: Forms, copied: Sequence[TorchOp]) -> bool:
        assert isinstance(group, ProductGroup)
        pairs = list(zip(group.ops, group.products, strict=True))
        work = [self._work(product, op.results[0], forms) for op, product in pairs]
        spent = sum(one.spent for one in work)
        spent += sum(one.copy for op, one in zip(group.ops, work, strict=True) if op in copied)
        return sum(one.saved for one in work[1:]) > spent

    def _work(self, product: Product, result: SSAValue, forms: Forms) -> _Work:
        """What a product adds to the work of others, if it is done with them.

        The multiplications are the same. Its input is not read once more; in the backward neither
        is it, and the gradient of the input, made by each product, is not written, read and added.
        The weights are read and written to be put together, and so are the gradients of results.
        """
        *lead, inner = [forms.usual(size) for size in product.x.type.shape]  # type: ignore[union-attr]
        outer, width = prod(lead), forms.usual(product.width)
        gradient = forms.gets_gradient(result)
        passes = 1
        if gradient:
            passes += forms.requires_grad(product.weight) + 2 * forms.requires_grad(product.x)
        is_folded = self.freezing and not gradient and is_outside(storage_root(product.weight))
        spent = 0 if is_folded else 2 * inner * width
        copy = 2 * outer * width
        return _Work(passes * outer * inner, spent + gradient * copy, copy)


def _may_be_joined(product: Product, forms: Forms) -> bool:
    """Whether a product is of numbers that kernels multiply alike in any order, and its bias, if
    there is one, of one number for each column.
    """
    x, weight, bias = product.x, product.weight, product.bias
    if forms.tensor(x) is None or forms.tensor(weight) is None:
        return False
    if x.type.dtype.is_complex:  # type: ignore[union-attr]
        return False
    if bias is None:
        return True
    fits = forms.tensor(bias) is not None and forms.has_sizes(bias, [product.width])
    return fits and forms.kind(bias) == forms.kind(weight)


class _Work(NamedTuple):
    """Numbers that are read or written.

    - `saved`: not, as others of a group read and write them; `spent`: for the group.
    - `copy`: if the result has to be copied.
    """

    saved: int
    spent: int
    copy: int


__all__ = ["PRODUCTS", "FuseParallelLinearPass", "Product", "product_of"]
