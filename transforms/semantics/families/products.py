"""The matmul family: sums of products over one index, in no order that a proof could rely on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from xductor.transforms.semantics.families.elementwise import arithmetic
from xductor.transforms.semantics.families.index_maps import broadcast_to
from xductor.transforms.semantics.kernels import summed_by
from xductor.transforms.semantics.registry import meaning
from xductor.transforms.semantics.scalars import fn, known_dtype, number_as, wide
from xductor.transforms.semantics.terms import (
    BOOL,
    Term,
    call,
    cast,
    constant,
    either,
    eq,
    fold,
    ite,
    truth,
)
from xductor.transforms.semantics.values import Illegal, TensorValue, World


def contraction(
    world: World, a: TensorValue, b: TensorValue, batch: int, op: str, *, is_part: bool = False
) -> TensorValue:
    """A product over the last dim of `a` and the second last of `b`, after `batch` leading dims.

    - `is_part`: the kernel computes more than the product.
    """
    if a.rank != batch + 2 or b.rank != batch + 2:
        raise Illegal(f"{op} of ranks {a.rank} and {b.rank}")
    if a.dtype is not b.dtype:
        raise Illegal(f"{op} of two dtypes")
    dtype = known_dtype(a.dtype)
    if dtype is torch.bool:
        raise Illegal(f"{op} of truth values")
    for k in range(batch):
        world.require(eq(a.shape[k], b.shape[k]), f"{op}: other batches")
    world.require(eq(a.shape[-1], b.shape[-2]), f"{op}: the inner sizes differ")
    count, wider = a.shape[-1], wide(dtype)
    shape = [*a.shape[:-1], b.shape[-1]]
    sizes = [a.shape[k] for k in range(batch)] + [a.shape[-2], b.shape[-1]]

    def element(index: Sequence[Term]) -> Term:
        lead, row, column = index[:batch], index[-2], index[-1]

        def body(at: tuple[Term, ...]) -> Term:
            left = a.element([*lead, row, at[0]])
            right = b.element([*lead, at[0], column])
            return fn("mul", cast(left, wider), cast(right, wider))

        found = fold("sum", [count], body, wider)
        return cast(found if is_part else summed_by(op, found, sizes), dtype)

    return TensorValue(shape, dtype, element, device=a.device, on_dtype=a.on_dtype)


@meaning("aten.mm.default")
def mm(world: World, a: TensorValue, b: TensorValue) -> TensorValue:
    return contraction(world, a, b, 0, "mm")


@meaning("aten.bmm.default")
def bmm(world: World, a: TensorValue, b: TensorValue) -> TensorValue:
    return contraction(world, a, b, 1, "bmm")


@meaning("aten.mv.default")
def mv(world: World, a: TensorValue, b: TensorValue) -> TensorValue:
    if a.rank != 2 or b.rank != 1:
        raise Illegal(f"mv of ranks {a.rank} and {b.rank}")
    column = b.moved([*b.shape, 1], lambda index: index[:1])
    found = contraction(world, a, column, 0, "mv")
    return found.moved(found.shape[:1], lambda index: [index[0], 0])


@meaning("aten.dot.default")
def dot(world: World, a: TensorValue, b: TensorValue) -> TensorValue:
    if a.rank != 1 or b.rank != 1:
        raise Illegal(f"dot of ranks {a.rank} and {b.rank}")
    row = a.moved([1, *a.shape], lambda index: index[1:])
    column = b.moved([*b.shape, 1], lambda index: index[:1])
    found = contraction(world, row, column, 0, "dot")
    return found.moved([], lambda index: [0, 0])


def scaled_sum(
    world: World, op: str, bias: TensorValue, product: TensorValue, beta: Any, alpha: Any
) -> TensorValue:
    """`beta * bias + alpha * product`; how often it is rounded is up to the kernel."""
    if bias.dtype is not product.dtype:
        raise Illegal("a bias of another dtype")
    dtype = product.dtype
    wider = wide(dtype)
    if not dtype.is_floating_point and not (_is_integer(beta) and _is_integer(alpha)):
        raise Illegal("factors that are floats, of integers")
    wide_bias = broadcast_to(world, bias, product.shape)
    if bias.rank > product.rank:
        raise Illegal("a bias of a higher rank")
    for old, new in zip(
        reversed(bias.shape), reversed(product.shape[product.rank - bias.rank :]), strict=True
    ):
        world.require(either(eq(old, 1), eq(old, new)), "the bias does not expand")

    def element(index: Sequence[Term]) -> Term:
        found = _times(_unrounded(product.element(index), wider), alpha, wider)
        added = _times(cast(wide_bias.element(index), wider), beta, wider)
        both = arithmetic("add")(added, found)
        # A bias with factor zero is not read, NaN or not.
        chosen = ite(_is_zero(beta, wider), found, both)
        return cast(summed_by(op, chosen, product.shape), dtype)

    return TensorValue(product.shape, dtype, element, device=product.device)


def _unrounded(item: Term, wider: torch.dtype) -> Term:
    """A product before it is rounded to a narrow dtype."""
    if item.op == "cast" and item.args[0].sort == wider:
        return item.args[0]
    return cast(item, wider)


def _is_integer(factor: Any) -> bool:
    if isinstance(factor, Term):
        return factor.sort is torch.int64
    return isinstance(factor, int)


def _is_zero(factor: Any, dtype: torch.dtype) -> Term:
    """Whether a factor, which may be any number, is zero."""
    if not isinstance(factor, Term):
        return truth(factor == 0)
    return call("eq", (number_as(factor, dtype), constant(0, dtype)), BOOL)


def _times(item: Term, factor: Any, dtype: torch.dtype) -> Term:
    return (
        item
        if not isinstance(factor, Term) and factor == 1
        else fn("mul", item, number_as(factor, dtype))
    )


@meaning("aten.addmm.default")
def addmm(
    world: World,
    bias: TensorValue,
    a: TensorValue,
    b: TensorValue,
    beta: Any = 1,
    alpha: Any = 1,
) -> TensorValue:
    product = contraction(world, a, b, 0, "addmm", is_part=True)
    return scaled_sum(world, "addmm", bias, product, beta, alpha)


@meaning("aten.baddbmm.default")
def baddbmm(
    world: World,
    bias: TensorValue,
    a: TensorValue,
    b: TensorValue,
    beta: Any = 1,
    alpha: Any = 1,
) -> TensorValue:
    product = contraction(world, a, b, 1, "baddbmm", is_part=True)
    return scaled_sum(world, "baddbmm", bias, product, beta, alpha)


@meaning("xductor.mm_plus_mm.default")
def mm_plus_mm(
    world: World, a: TensorValue, b: TensorValue, c: TensorValue, d: TensorValue
) -> TensorValue:
    first = contraction(world, a, b, 0, "mm_plus_mm", is_part=True)
    second = contraction(world, c, d, 0, "mm_plus_mm", is_part=True)
    if first.dtype is not second.dtype:
        raise Illegal("the products have other dtypes")
    for old, new in zip(first.shape, second.shape, strict=True):
        world.require(eq(old, new), "mm_plus_mm: products of other sizes")
    dtype = first.dtype

    def element(index: Sequence[Term]) -> Term:
        parts = [_unrounded(one.element(index), wide(dtype)) for one in (first, second)]
        return cast(summed_by("mm_plus_mm", arithmetic("add")(*parts), first.shape), dtype)

    return TensorValue(first.shape, dtype, element, device=first.device)
