"""Scaled dot product attention, by its definition: `softmax(q kᵀ · scale + mask) v`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from xductor.transforms.semantics.families.index_maps import broadcast_shape, broadcast_to
from xductor.transforms.semantics.kernels import by_kernel
from xductor.transforms.semantics.registry import meaning
from xductor.transforms.semantics.scalars import fn, known_dtype, number_as, wide
from xductor.transforms.semantics.terms import (
    BOOL,
    Term,
    as_int,
    call,
    cast,
    constant,
    either,
    eq,
    fold,
    ite,
    le,
    lt,
    modulo,
    quotient,
)
from xductor.transforms.semantics.values import Illegal, NoMeaning, TensorValue, World

Score = Callable[[Term], Term]


@meaning("aten.scaled_dot_product_attention.default")
def scaled_dot_product_attention(
    world: World,
    query: TensorValue,
    key: TensorValue,
    value: TensorValue,
    attn_mask: TensorValue | None = None,
    dropout_p: Any = 0.0,
    is_causal: Any = False,
    scale: Any = None,
    enable_gqa: Any = False,
) -> TensorValue:
    """A row that is masked entirely gives zeros. Dropout has no meaning here."""
    dtype = _checked(query, key, value)
    if not isinstance(dropout_p, int | float) or dropout_p != 0:
        raise NoMeaning("attention with dropout")
    if attn_mask is not None and is_causal:
        raise NoMeaning("attention with a mask that is causal too: some kernels take it")
    if enable_gqa:
        key, value = _repeated(world, query, key), _repeated(world, query, value)
    world.require(eq(query.shape[-1], key.shape[-1]), "attention: other sizes of heads")
    world.require(eq(key.shape[-2], value.shape[-2]), "attention: other numbers of keys and values")
    batch = broadcast_shape(world, [one.shape[:-2] for one in (query, key, value)])
    q, k, v = (broadcast_to(world, one, [*batch, *one.shape[-2:]]) for one in (query, key, value))
    rows, keys = q.shape[-2], k.shape[-2]
    mask = _mask(world, attn_mask, [*batch, rows, keys], dtype)
    wider = wide(dtype)
    factor = _factor(scale, q.shape[-1], wider)

    def element(index: Sequence[Term]) -> Term:
        lead, row, column = index[:-2], index[-2], index[-1]

        def score(s: Term) -> Term:
            def product(at: tuple[Term, ...]) -> Term:
                a, b = q.element([*lead, row, at[0]]), k.element([*lead, s, at[0]])
                return fn("mul", cast(a, wider), cast(b, wider))

            found = fn("mul", fold("sum", [q.shape[-1]], product, wider), factor)
            if is_causal:
                return ite(le(s, row), found, constant(float("-inf"), wider))
            return found if mask is None else _masked(found, mask.element([*lead, row, s]), wider)

        def read(s: Term) -> Term:
            return cast(v.element([*lead, s, column]), wider)

        return cast(by_kernel("attention", _attended(score, read, keys, wider)), dtype)

    shape = [*batch, rows, v.shape[-1]]
    return TensorValue(shape, dtype, element, device=query.device, on_dtype=query.on_dtype)


def _attended(score: Score, read: Score, keys: Term, wider: torch.dtype) -> Term:
    """The values weighted by the softmax of their scores; zero if no score is above -inf."""
    largest = fold("max", [keys], lambda at: score(at[0]), wider)

    def weight(s: Term) -> Term:
        return call("u.exp", (fn("sub", score(s), largest),), wider)

    total = fold("sum", [keys], lambda at: weight(at[0]), wider)
    found = fold(
        "sum", [keys], lambda at: fn("mul", fn("div", weight(at[0]), total), read(at[0])), wider
    )
    least = constant(float("-inf"), wider)
    nothing = either(eq(keys, 0), call("eq", (largest, least), BOOL))
    return ite(nothing, constant(0, wider), found)


def _checked(query: TensorValue, key: TensorValue, value: TensorValue) -> torch.dtype:
    dtype = known_dtype(query.dtype)
    if not dtype.is_floating_point:
        raise Illegal("attention of what is no float")
    if dtype is not key.dtype or dtype is not value.dtype:
        raise Illegal("attention of two dtypes")
    if min(query.rank, key.rank, value.rank) < 2:
        raise Illegal("attention of rank below 2")
    return dtype


def _repeated(world: World, query: TensorValue, x: TensorValue) -> TensorValue:
    """Each head repeated for all query heads that share it."""
    if x.rank < 3 or query.rank < 3:
        raise Illegal("grouped queries of rank below 3")
    heads, own = query.shape[-3], x.shape[-3]
    if heads is own:
        return x
    world.require(lt(0, own), "grouped queries without heads")
    world.require(eq(modulo(heads, own), 0), "query heads that key heads do not divide")
    each = world.size(quotient(heads, own))
    shape = [*x.shape[:-3], heads, *x.shape[-2:]]
    return x.moved(shape, lambda at: [*at[:-3], quotient(at[-3], each), *at[-2:]])


def _mask(
    world: World, mask: TensorValue | None, shape: Sequence[Term], dtype: torch.dtype
) -> TensorValue | None:
    if mask is None:
        return None
    if mask.dtype is not torch.bool and mask.dtype is not dtype:
        raise Illegal("a mask that is neither of truth values nor of the query's dtype")
    if mask.rank < 2:
        raise Illegal("a mask of rank below 2")
    joint = broadcast_shape(world, [shape, mask.shape])
    if len(joint) != len(shape):
        raise NoMeaning("a mask of a higher rank")
    for a, b in zip(joint, shape, strict=True):
        world.require(eq(a, b), "a mask of other sizes")
    return broadcast_to(world, mask, shape)


def _masked(found: Term, mask: Term, wider: torch.dtype) -> Term:
    if mask.sort == BOOL:
        return ite(mask, found, constant(float("-inf"), wider))
    return fn("add", found, cast(mask, wider))


def _factor(scale: Any, width: Term, wider: torch.dtype) -> Term:
    """The factor of the scores: by default one over the square root of the width."""
    if scale is not None:
        return number_as(scale, wider)
    known = as_int(width)
    if known is not None:
        return constant(1 / math.sqrt(known) if known else 1, wider)
    root = call("u.sqrt", (number_as(width, torch.float64),), torch.float64)
    one = constant(1, torch.float64)
    return cast(ite(eq(width, 0), one, fn("div", one, root)), wider)


__all__ = ["scaled_dot_product_attention"]
