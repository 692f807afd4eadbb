"""Products that choose their dims by rank or by letters: linear, matmul, inner, outer, einsum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from xductor.transforms.semantics.families.elementwise import mul as product_of_elements
from xductor.transforms.semantics.families.index_maps import (
    broadcast_shape,
    broadcast_to,
    transpose,
    unsqueeze,
)
from xductor.transforms.semantics.families.products import contraction, scaled_sum
from xductor.transforms.semantics.kernels import summed_by
from xductor.transforms.semantics.registry import meaning
from xductor.transforms.semantics.scalars import fn, known_dtype, wide
from xductor.transforms.semantics.terms import Term, cast, eq, fold, number
from xductor.transforms.semantics.values import Illegal, NoMeaning, TensorValue, World

#: The op that matmul amounts to, by the ranks of both sides.
_KERNELS = {(1, 1): "dot", (2, 1): "mv", (1, 2): "mm", (2, 2): "mm"}


@meaning("aten.matmul.default")
def matmul(world: World, a: TensorValue, b: TensorValue) -> TensorValue:
    return _matmul(world, a, b)


def _matmul(world: World, a: TensorValue, b: TensorValue, *, is_part: bool = False) -> TensorValue:
    if not a.rank or not b.rank:
        raise Illegal("matmul of rank 0")
    left = a if a.rank > 1 else unsqueeze(world, a, 0)
    right = b if b.rank > 1 else unsqueeze(world, b, 1)
    batch = broadcast_shape(world, [left.shape[:-2], right.shape[:-2]])
    left = broadcast_to(world, left, [*batch, *left.shape[-2:]])
    right = broadcast_to(world, right, [*batch, *right.shape[-2:]])
    kernel = _KERNELS.get((a.rank, b.rank), "matmul")
    found = contraction(world, left, right, len(batch), kernel, is_part=is_part)
    if b.rank == 1:
        found = found.moved(found.shape[:-1], lambda index: [*index, number(0)])
    if a.rank == 1:
        places = len(batch)
        shape = [*found.shape[:places], *found.shape[places + 1 :]]
        found = found.moved(shape, lambda at: [*at[:places], number(0), *at[places:]])
    return found


@meaning("aten.linear.default")
def linear(
    world: World, x: TensorValue, weight: TensorValue, bias: TensorValue | None = None
) -> TensorValue:
    """`x @ weight.T + bias`, rounded once, as in `addmm`."""
    if not x.rank or weight.rank not in (1, 2):
        raise Illegal(f"linear of ranks {x.rank} and {weight.rank}")
    if weight.rank == 1:
        if bias is not None:
            raise Illegal("linear by a vector with a bias")
        return matmul(world, x, weight)
    turned = transpose(world, weight, 0, 1)
    if bias is None:
        return matmul(world, x, turned)
    if bias.rank > 1:
        raise NoMeaning("linear with a bias of a higher rank")
    found = _matmul(world, x, turned, is_part=True)
    return scaled_sum(world, "addmm" if x.rank == 2 else "linear", bias, found, 1, 1)


@meaning("aten.inner.default")
def inner(world: World, a: TensorValue, b: TensorValue) -> TensorValue:
    if not a.rank or not b.rank:
        return product_of_elements(world, a, b)
    if a.rank == 1 and b.rank == 1:
        return matmul(world, a, b)
    dtype = _one_dtype((a, b), "inner")
    world.require(eq(a.shape[-1], b.shape[-1]), "inner: the last sizes differ")
    wider, split = wide(dtype), a.rank - 1

    def element(index: Sequence[Term]) -> Term:
        def body(at: tuple[Term, ...]) -> Term:
            left = a.element([*index[:split], at[0]])
            right = b.element([*index[split:], at[0]])
            return fn("mul", cast(left, wider), cast(right, wider))

        return cast(summed_by("inner", fold("sum", [a.shape[-1]], body, wider), shape), dtype)

    shape = [*a.shape[:-1], *b.shape[:-1]]
    return TensorValue(shape, dtype, element, device=a.device, on_dtype=a.on_dtype)


@meaning("aten.outer.default")
def outer(world: World, a: TensorValue, b: TensorValue) -> TensorValue:
    if a.rank != 1 or b.rank != 1:
        raise Illegal(f"outer of ranks {a.rank} and {b.rank}")
    return product_of_elements(world, unsqueeze(world, a, 1), b)


def _one_dtype(tensors: Sequence[TensorValue], op: str) -> torch.dtype:
    dtype = known_dtype(tensors[0].dtype)
    if any(one.dtype is not dtype for one in tensors):
        raise Illegal(f"{op} of two dtypes")
    if dtype is torch.bool:
        raise NoMeaning(f"{op} of truth values")
    return dtype


@meaning("aten.einsum.default")
def einsum(world: World, equation: Any, tensors: Any, path: Any = None) -> TensorValue:
    """A sum over the letters missing in the result; each letter stands for one size, or 1."""
    if not isinstance(equation, str) or "." in equation:
        raise NoMeaning(f"einsum of {equation!r}")
    given: list[TensorValue] = list(tensors)
    inputs, output = _letters(equation)
    if len(inputs) != len(given):
        raise Illegal(f"einsum '{equation}' of {len(given)} tensors")
    for letters, one in zip(inputs, given, strict=True):
        if len(letters) != one.rank:
            raise Illegal(f"einsum '{equation}': {letters} of rank {one.rank}")
    dtype = _one_dtype(given, "einsum")
    extents = _extents(world, inputs, given)
    if any(letter not in extents for letter in output) or len(set(output)) != len(output):
        raise Illegal(f"einsum '{equation}': the letters of the result")
    summed = [letter for letter in extents if letter not in output]
    read = [
        broadcast_to(world, one, [extents[letter] for letter in letters])
        for letters, one in zip(inputs, given, strict=True)
    ]
    wider = wide(dtype)

    def element(index: Sequence[Term]) -> Term:
        outer_places = dict(zip(output, index, strict=True))

        def body(inner_places: tuple[Term, ...]) -> Term:
            at = outer_places | dict(zip(summed, inner_places, strict=True))
            found: Term | None = None
            for letters, one in zip(inputs, read, strict=True):
                item = cast(one.element([at[letter] for letter in letters]), wider)
                found = item if found is None else fn("mul", found, item)
            assert found is not None
            return found

        if not summed:
            return cast(body(()), dtype)
        found = fold("sum", [extents[one] for one in summed], body, wider)
        return cast(summed_by("einsum", found, shape), dtype)

    shape = [extents[letter] for letter in output]
    first = given[0]
    return TensorValue(shape, dtype, element, device=first.device, on_dtype=first.on_dtype)


def _letters(equation: str) -> tuple[list[str], str]:
    """The letters of each operand and of the result, which may be implicit."""
    plain = equation.replace(" ", "")
    left, arrow, right = plain.partition("->")
    inputs = left.split(",")
    joined = "".join(inputs)
    if not all(letter.isalpha() for letter in joined + right):
        raise Illegal(f"einsum '{equation}': what is no letter")
    if not arrow:
        right = "".join(sorted(one for one in set(joined) if joined.count(one) == 1))
    return inputs, right


def _extents(
    world: World, inputs: Sequence[str], tensors: Sequence[TensorValue]
) -> dict[str, Term]:
    """The size that each letter stands for, in the order in which letters appear."""
    found: dict[str, Term] = {}
    for letters, one in zip(inputs, tensors, strict=True):
        own: dict[str, Term] = {}
        for letter, size in zip(letters, one.shape, strict=True):
            if letter in own:
                world.require(eq(own[letter], size), f"einsum: two sizes for {letter}")
            own[letter] = size
        for letter, size in own.items():
            before = found.get(letter, size)
            found[letter] = broadcast_shape(world, [[before], [size]])[0]
    return found
