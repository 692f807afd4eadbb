"""Pointwise arithmetic: what a kernel computes from one element of each operand.

Eager on the CPU is the reference: operands are cast to the joint dtype, and narrow floats are
computed in float32 and rounded once. Functions of libm are uninterpreted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from xductor.transforms.semantics.families.index_maps import broadcast_shape, broadcast_to
from xductor.transforms.semantics.registry import meaning
from xductor.transforms.semantics.scalars import (
    FLOATS,
    INTEGERS,
    TRANSCENDENTAL,
    compare,
    converted,
    example_of,
    exclusive,
    fn,
    is_nan,
    joint_dtype,
    known_dtype,
    number_as,
    wide,
)
from xductor.transforms.semantics.terms import (
    BOOL,
    Term,
    both,
    call,
    cast,
    constant,
    either,
    ite,
    negation,
)
from xductor.transforms.semantics.values import Illegal, NoMeaning, TensorValue, World

Scalar1 = Callable[[Term], Term]
Function = Callable[..., Term]


def pointwise(
    world: World,
    items: Sequence[Any],
    function: Function,
    *,
    compute: torch.dtype,
    result: torch.dtype | None = None,
    wide_number: bool = False,
) -> TensorValue:
    """A pointwise op: operands are broadcast to the result and cast to the computing dtype.

    - `compute`: the joint dtype; narrow floats are computed wide.
    - `result`: the dtype of the result, if it is not the joint one.
    - `wide_number`: do not round a number as second operand to a narrow joint dtype, as in kernels
      of products and quotients; kernels of sums round it.
    """
    tensors = [item for item in items if isinstance(item, TensorValue)]
    shape = broadcast_shape(world, [one.shape for one in tensors])
    wider = wide(compute)
    readers: list[Callable[[Sequence[Term]], Term]] = []
    for place, item in enumerate(items):
        kept = wide_number and place == 1 and any(one.rank for one in tensors)
        if isinstance(item, TensorValue):
            own = wider if kept and not item.rank and item.dtype.is_floating_point else compute
            readers.append(_reader(broadcast_to(world, item, shape), own, wider))
        else:
            number = cast(number_as(item, wider if wide_number else compute), wider)
            readers.append(lambda index, number=number: number)
    out = compute if result is None else result
    device = max(tensors, key=lambda one: one.rank).device

    def element(index: Sequence[Term]) -> Term:
        found = function(*[read(index) for read in readers])
        return found if out is torch.bool and found.sort == BOOL else cast(found, out)

    return TensorValue(shape, out, element, device=device, on_dtype=tensors[0].on_dtype)


def _reader(
    item: TensorValue, compute: torch.dtype, wider: torch.dtype
) -> Callable[[Sequence[Term]], Term]:
    dtype = item.dtype

    def read(index: Sequence[Term]) -> Term:
        return cast(converted(item.element(index), dtype, compute), wider)

    return read


def arithmetic(name: str) -> Function:
    """`add`, `sub` or `mul`, of floats, integers or truth values."""

    def function(a: Term, b: Term) -> Term:
        if a.sort == BOOL:
            if name == "sub":
                raise Illegal("a difference of truth values")
            return either(a, b) if name == "add" else both(a, b)
        return fn(name, a, b)

    return function


def _is_one(alpha: Any) -> bool:
    return isinstance(alpha, int | float) and alpha == 1


def _sum(name: str, world: World, a: Any, b: Any, alpha: Any) -> TensorValue:
    dtype = joint_dtype((a, b))
    if dtype is torch.bool and name == "sub":
        raise Illegal("a difference of truth values")
    if not dtype.is_floating_point and isinstance(example_of(alpha), float):
        raise Illegal("alpha is a float, the dtype is none")
    if dtype is torch.bool and not isinstance(example_of(alpha), bool) and not _is_one(alpha):
        raise NoMeaning("alpha of truth values")
    function = arithmetic(name)
    if _is_one(alpha):
        return pointwise(world, (a, b), function, compute=dtype)
    if dtype.is_floating_point:
        # Some kernels round the product and some do not, so this is an uninterpreted function.
        return pointwise(
            world,
            (a, b),
            lambda x, y: call(
                f"u.{name}_scaled",
                (cast(x, dtype), cast(y, dtype), number_as(alpha, torch.float64)),
                dtype,
            ),
            compute=dtype,
        )
    factor = number_as(alpha, dtype)
    return pointwise(
        world,
        (a, b),
        lambda x, y: function(x, arithmetic("mul")(y, factor)),
        compute=dtype,
    )


@meaning("aten.add.Tensor", "aten.add.Scalar")
def add(world: World, a: TensorValue, b: Any, alpha: Any = 1) -> TensorValue:
    return _sum("add", world, a, b, alpha)


@meaning("aten.sub.Tensor", "aten.sub.Scalar")
def sub(world: World, a: TensorValue, b: Any, alpha: Any = 1) -> TensorValue:
    return _sum("sub", world, a, b, alpha)


@meaning("aten.rsub.Tensor", "aten.rsub.Scalar")
def rsub(world: World, a: TensorValue, b: Any, alpha: Any = 1) -> TensorValue:
    if not _is_one(alpha):
        raise NoMeaning("rsub with alpha")
    dtype = joint_dtype((a, b))
    return pointwise(world, (a, b), lambda x, y: arithmetic("sub")(y, x), compute=dtype)


@meaning("aten.mul.Tensor", "aten.mul.Scalar")
def mul(world: World, a: TensorValue, b: Any) -> TensorValue:
    return pointwise(
        world, (a, b), arithmetic("mul"), compute=joint_dtype((a, b)), wide_number=True
    )


@meaning("prims.add.default")
def prims_add(world: World, a: TensorValue, b: TensorValue) -> TensorValue:
    return add(world, a, b)


@meaning("prims.mul.default")
def prims_mul(world: World, a: TensorValue, b: TensorValue) -> TensorValue:
    return mul(world, a, b)


@meaning("prims.sub.default")
def prims_sub(world: World, a: TensorValue, b: TensorValue) -> TensorValue:
    return sub(world, a, b)


def float_of(dtype: torch.dtype) -> torch.dtype:
    """The dtype that a true division or a function of libm gives."""
    return dtype if dtype.is_floating_point else torch.get_default_dtype()


@meaning("aten.div.Tensor", "aten.div.Scalar", "aten.true_divide.Tensor")
def div(world: World, a: TensorValue, b: Any) -> TensorValue:
    dtype = float_of(joint_dtype((a, b)))
    return pointwise(world, (a, b), lambda x, y: fn("div", x, y), compute=dtype, wide_number=True)


@meaning("aten.div.Tensor_mode", "aten.div.Scalar_mode")
def div_mode(world: World, a: TensorValue, b: Any, rounding_mode: Any = None) -> TensorValue:
    if rounding_mode is None:
        return div(world, a, b)
    dtype = joint_dtype((a, b))
    if dtype is torch.bool:
        raise NoMeaning("a rounded quotient of truth values")
    name = {"floor": "floordiv", "trunc": "truncdiv"}[rounding_mode]
    return pointwise(world, (a, b), lambda x, y: _divided(name, x, y), compute=dtype)


@meaning("aten.floor_divide.default", "aten.floor_divide.Scalar")
def floor_divide(world: World, a: TensorValue, b: Any) -> TensorValue:
    return div_mode(world, a, b, "floor")


def _divided(name: str, x: Term, y: Term) -> Term:
    if isinstance(x.sort, torch.dtype) and x.sort.is_floating_point:
        if name == "truncdiv":
            return fn("trunc", fn("div", x, y))
        return call("u.floor_divide", (x, y), x.sort)
    return fn(name, x, y)


@meaning("aten.remainder.Tensor", "aten.remainder.Scalar")
def remainder(world: World, a: TensorValue, b: Any) -> TensorValue:
    return _rest("mod", world, a, b)


@meaning("aten.fmod.Tensor", "aten.fmod.Scalar")
def fmod(world: World, a: TensorValue, b: Any) -> TensorValue:
    return _rest("fmod", world, a, b)


def _rest(name: str, world: World, a: TensorValue, b: Any) -> TensorValue:
    dtype = joint_dtype((a, b))
    if dtype is torch.bool:
        raise Illegal("a remainder of truth values")

    def function(x: Term, y: Term) -> Term:
        if dtype.is_floating_point:
            return call(f"u.{name}", (x, y), x.sort)
        return fn(name, x, y)

    return pointwise(world, (a, b), function, compute=dtype)


def unary(world: World, x: TensorValue, function: Scalar1) -> TensorValue:
    """A function of one element, in the tensor's dtype."""
    return pointwise(world, (x,), function, compute=known_dtype(x.dtype))


@meaning("aten.neg.default", "prims.neg.default")
def neg(world: World, x: TensorValue) -> TensorValue:
    if x.dtype is torch.bool:
        raise Illegal("neg of truth values")
    return unary(world, x, lambda item: fn("neg", item))


@meaning("aten.abs.default", "prims.abs.default")
def absolute(world: World, x: TensorValue) -> TensorValue:
    return unary(world, x, lambda item: item if item.sort == BOOL else fn("abs", item))


@meaning("aten.square.default")
def square(world: World, x: TensorValue) -> TensorValue:
    """`pow` with exponent 2, where truth values become int64."""
    return power(world, x, 2)


@meaning("aten.sign.default")
def sign(world: World, x: TensorValue) -> TensorValue:
    def function(item: Term) -> Term:
        if item.sort == BOOL:
            return item
        zero, one = constant(0, item.sort), constant(1, item.sort)  # type: ignore[arg-type]
        up = compare("lt", zero, item)
        down = compare("lt", item, zero)
        least = constant(-1, item.sort)  # type: ignore[arg-type]
        return ite(up, one, ite(down, least, zero))

    return unary(world, x, function)


@meaning("aten.relu.default")
def relu(world: World, x: TensorValue) -> TensorValue:
    if x.dtype is torch.bool:
        raise Illegal("relu of truth values")
    zero = constant(0, wide(known_dtype(x.dtype)))
    return unary(world, x, lambda item: larger(item, zero))


def larger(a: Term, b: Term) -> Term:
    """The larger of two, NaN if one is."""
    return either(a, b) if a.sort == BOOL else fn("max", a, b)


def smaller(a: Term, b: Term) -> Term:
    """The smaller of two, NaN if one is."""
    return both(a, b) if a.sort == BOOL else fn("min", a, b)


@meaning("aten.maximum.default", "aten.max.other", "prims.maximum.default")
def maximum(world: World, a: TensorValue, b: TensorValue) -> TensorValue:
    return pointwise(world, (a, b), larger, compute=joint_dtype((a, b)))


@meaning("aten.minimum.default", "aten.min.other", "prims.minimum.default")
def minimum(world: World, a: TensorValue, b: TensorValue) -> TensorValue:
    return pointwise(world, (a, b), smaller, compute=joint_dtype((a, b)))


@meaning("aten.clamp_min.default")
def clamp_min(world: World, x: TensorValue, min: Any) -> TensorValue:
    return clamp(world, x, min, None)


@meaning("aten.clamp_max.default")
def clamp_max(world: World, x: TensorValue, max: Any) -> TensorValue:
    return clamp(world, x, None, max)


@meaning("aten.clamp.default")
def clamp(world: World, x: TensorValue, min: Any = None, max: Any = None) -> TensorValue:
    if min is None and max is None:
        raise Illegal("clamp without a bound")
    bounds = [one for one in (min, max) if one is not None]
    for one in bounds:
        if isinstance(one, float) and one != one:
            raise NoMeaning("clamp with a bound that is NaN")
    dtype = joint_dtype((x, *bounds))
    if dtype is torch.bool:
        raise Illegal("clamp of truth values")

    def function(item: Term, *limits: Term) -> Term:
        found, rest = item, list(limits)
        if min is not None:
            found = larger(found, rest.pop(0))
        if max is not None:
            found = smaller(found, rest.pop(0))
        return found

    return pointwise(world, (x, *bounds), function, compute=dtype)


@meaning("aten.clamp_min.Tensor")
def clamp_min_tensor(world: World, x: TensorValue, min: TensorValue) -> TensorValue:
    return maximum(world, x, min)


@meaning("aten.clamp_max.Tensor")
def clamp_max_tensor(world: World, x: TensorValue, max: TensorValue) -> TensorValue:
    return minimum(world, x, max)


def _rounding(name: str) -> Callable[[World, TensorValue], TensorValue]:
    def function(world: World, x: TensorValue) -> TensorValue:
        if x.dtype is torch.bool:
            raise Illegal(f"{name} of truth values")
        return unary(world, x, lambda item: fn(name, item) if item.sort in FLOATS else item)

    return function


for _name in ("ceil", "floor", "trunc", "round"):
    meaning(f"aten.{_name}.default")(_rounding(_name))


@meaning("aten.round.decimals")
def round_decimals(world: World, x: TensorValue, decimals: Any = 0) -> TensorValue:
    if x.dtype is torch.bool:
        raise Illegal("round of truth values")
    if x.dtype in INTEGERS:
        if decimals != 0:
            raise Illegal("round of integers to decimals")
        return unary(world, x, lambda item: item)
    if decimals != 0:
        places = number_as(decimals, torch.int64)
        return unary(world, x, lambda item: call("u.round", (item, places), item.sort))
    return unary(world, x, lambda item: fn("round", item))


@meaning("aten.pow.Tensor_Scalar")
def power(world: World, x: TensorValue, exponent: Any) -> TensorValue:
    dtype = joint_dtype((x, exponent))
    if isinstance(exponent, Term):
        # In kernels, an exponent of one is no operation.
        given, narrow = exponent, wide(dtype)
        one = compare("eq", given, constant(1, given.sort))  # type: ignore[arg-type]
        number = number_as(given, narrow)
        return pointwise(
            world,
            (x,),
            lambda item: ite(one, item, call("u.pow", (item, number), item.sort)),
            compute=dtype,
        )
    if dtype is torch.bool:
        raise NoMeaning("pow of truth values")
    if not dtype.is_floating_point and exponent < 0:
        raise Illegal("an integer to a negative power")
    plain: dict[float, Scalar1] = {
        0: lambda item: constant(1, item.sort),  # type: ignore[arg-type]
        1: lambda item: item,
        2: lambda item: fn("mul", item, item),
        3: lambda item: fn("mul", fn("mul", item, item), item),
    }
    function = plain.get(exponent)
    if function is None or (exponent == 3 and dtype.is_floating_point and dtype != wide(dtype)):
        return pointwise(
            world, (x, exponent), lambda a, b: call("u.pow", (a, b), a.sort), compute=dtype
        )
    return pointwise(world, (x,), function, compute=dtype)


@meaning("aten.reciprocal.default")
def reciprocal(world: World, x: TensorValue) -> TensorValue:
    dtype = float_of(known_dtype(x.dtype))
    one = constant(1, wide(dtype))
    return pointwise(world, (x,), lambda item: fn("div", one, item), compute=dtype)


@meaning("aten.sqrt.default")
def sqrt(world: World, x: TensorValue) -> TensorValue:
    """Uninterpreted, since vectorized square roots are not always the nearest float."""
    dtype = float_of(known_dtype(x.dtype))
    return pointwise(
        world, (x,), lambda item: call("u.sqrt", (cast(item, dtype),), dtype), compute=dtype
    )


def _uninterpreted(name: str) -> Callable[[World, TensorValue], TensorValue]:
    def function(world: World, x: TensorValue) -> TensorValue:
        dtype = float_of(known_dtype(x.dtype))
        return pointwise(
            world, (x,), lambda item: call(f"u.{name}", (item,), item.sort), compute=dtype
        )

    return function


for _name in TRANSCENDENTAL:
    meaning(f"aten.{_name}.default")(_uninterpreted(_name))


@meaning("aten.gelu.default")
def gelu(world: World, x: TensorValue, approximate: Any = "none") -> TensorValue:
    return _float_only(world, x, f"u.gelu_{approximate}")


@meaning("aten.silu.default")
def silu(world: World, x: TensorValue) -> TensorValue:
    return _float_only(world, x, "u.silu")


def _float_only(world: World, x: TensorValue, name: str) -> TensorValue:
    if not x.dtype.is_floating_point:
        raise Illegal(f"{name.removeprefix('u.')} of what is no float")
    return unary(world, x, lambda item: call(name, (item,), item.sort))


def _bitwise(name: str) -> Callable[[World, TensorValue, Any], TensorValue]:
    def of_elements(a: Term, b: Term) -> Term:
        if a.sort == BOOL:
            return {"and": both, "or": either, "xor": exclusive}[name](a, b)
        return fn(name, a, b)

    def function(world: World, a: TensorValue, b: Any) -> TensorValue:
        dtype = joint_dtype((a, b))
        if dtype.is_floating_point:
            raise Illegal(f"bitwise_{name} of floats")
        return pointwise(world, (a, b), of_elements, compute=dtype)

    return function


for _name in ("and", "or", "xor"):
    meaning(f"aten.bitwise_{_name}.Tensor", f"aten.bitwise_{_name}.Scalar")(_bitwise(_name))


@meaning("aten.bitwise_not.default")
def bitwise_not(world: World, x: TensorValue) -> TensorValue:
    if x.dtype.is_floating_point:
        raise Illegal("bitwise_not of floats")
    return unary(world, x, lambda item: negation(item) if item.sort == BOOL else fn("not", item))


__all__ = ["is_nan", "larger", "pointwise", "smaller", "unary"]
