"""`fuse_parallel_linear_pass`: products of one input by several weights become a wider one."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

from xdsl.ir import SSAValue

from xductor.ir import Facts, TorchOp, aten
from xductor.ir.functions.torch_calls import AtenCall
from xductor.ir.functions.torch_spellings import spelled
from xductor.ir.inference.infer import storage_root
from xductor.transforms.editing.aliasing import is_outside
from xductor.transforms.groups.forms import Forms
from xductor.transforms.groups.group_fusion import Group
from xductor.transforms.groups.stacking import Stacking
from xductor.transforms.groups.torch_level import TorchGroup, TorchLevelFusion
from xductor.transforms.matmul.products import (
    PRODUCTS,
    Product,
    joined,
    product_of,
)
from xductor.transforms.passes.numerics import REASSOCIATES


class ProductGroup(TorchGroup):
    """Products of one input."""

    def __init__(self, ops: Sequence[TorchOp], stacking: Stacking, facts: Facts) -> None:
        super().__init__(ops, stacking, facts)
        self.products = [one for call in self.calls if (one := product_of(call)) is not None]


@dataclass(frozen=True)
class FuseParallelLinearPass(TorchLevelFusion):
    """Linears and matrix products of one input become a product by their concatenated weights.

    The weights are concatenated in the graph, whose parameters stay the same. Each result becomes a
    part of each row of one tensor, and is copied where its layout is seen.

    - `freezing`: whether values computed from weights alone are computed once, at compile time.
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
        asks = [
            forms.requires_grad(one) for one in (product.weight, product.bias or product.weight)
        ]
        return product.x, forms.kind(product.weight), *asks

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
        weight = joined(products, weights, outer=True)
        made = weight.multiplied(x, self._biases(group, widths))
        return list(aten.split_with_sizes(made, widths, x.ndim - 1))

    def _biases(self, group: ProductGroup, widths: Sequence[Any]) -> Any:
        """The biases, with zeros for products that have none; None if no product has one."""
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
        """The reads and writes that a product saves and adds when it joins a group.

        The multiplications are the same. The input is not read again, forward or backward, and the
        gradient that each product makes for it is not written, read and added. The weights are read
        and written to be concatenated, and so are the gradients of the results.
        """
        *lead, inner = [forms.sizes.usual(size) for size in product.x.type.shape]  # type: ignore[union-attr]
        outer, width = prod(lead), forms.sizes.usual(product.width)
        gradient = forms.gets_gradient(result)
        passes = 1
        if gradient:
            passes += forms.requires_grad(product.weight) + 2 * forms.requires_grad(product.x)
        is_folded = self.freezing and not gradient and is_outside(storage_root(product.weight))
        spent = 0 if is_folded else 2 * inner * width
        copy = 2 * outer * width
        return _Work(passes * outer * inner, spent + gradient * copy, copy)


def _may_be_joined(product: Product, forms: Forms) -> bool:
    """Whether a product is of tensors that can be concatenated, in any order."""
    operands = (product.x, product.weight, product.bias)
    if any(one is not None and forms.tensor(one) is None for one in operands):
        return False
    return product.is_real and product.has_plain_bias(forms.facts)


class _Work(NamedTuple):
    """How many numbers are read or written.

    - `saved`: those that the group no longer reads or writes.
    - `spent`: those that it reads or writes in addition.
    - `copy`: those that it also spends if the result has to be copied.
    """

    saved: int
    spent: int
    copy: int


__all__ = ["FuseParallelLinearPass"]
