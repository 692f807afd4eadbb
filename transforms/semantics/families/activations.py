"""More pointwise ops: activations, their derivatives, powers, and functions of two floats."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from xductor.transforms.semantics.families.comparisons import isinf as is_infinite
from xductor.transforms.semantics.families.comparisons import isnan as is_nan_op
from xductor.transforms.semantics.families.elementwise import (
    clamp,
    float_of,
    larger,
    pointwise,
    smaller,
    unary,
)
from xductor.transforms.semantics.families.selection import where
from xductor.transforms.semantics.kernels import by_kernel
from xductor.transforms.semantics.registry import meaning
from xductor.transforms.semantics.scalars import (
    FLOATS,
    compare,
    fn,
    is_nan,
    joint_dtype,
    known_dtype,
    number_as,
    wide,
)
from xductor.transforms.semantics.terms import (
    FALSE,
    Term,
    call,
    cast,
    constant,
    either,
    ite,
    negation,
)
from xductor.transforms.semantics.uninterpreted import BINARY, FLOAT_UNARY, UNARY, WITH_NUMBERS
from xductor.transforms.semantics.values import Illegal, NoMeaning, TensorValue, World


def _floats_only(x: TensorValue, op: str) -> torch.dtype:
    dtype = known_dtype(x.dtype)
    if not dtype.is_floating_point:
        raise Illegal(f"{op} of what is no float")
    return dtype


# Uninterpreted functions of one or two floats.


def _binary(name: str) -> Callable[[World, TensorValue, Any], TensorValue]:
    def function(world: World, a: TensorValue, b: Any) -> TensorValue:
        dtype = joint_dtype((a, b))
        if name in ("nextafter", "hypot", "logaddexp", "logaddexp2") and dtype not in FLOATS:
            raise NoMeaning(f"{name} of what is no float")
        if name == "nextafter" and dtype is not wide(dtype):
            raise NoMeaning("nextafter of narrow floats, which no wider ones give")
        out = float_of(dtype)
        return pointwise(world, (a, b), lambda x, y: call(f"u.{name}", (x, y), x.sort), compute=out)

    return function


for _name in BINARY:
    _overload = "Tensor" if _name in ("copysign", "xlogy") else "default"
    _prims = (f"prims.{_name}.default",) if _name in ("atan2", "hypot", "nextafter") else ()
    meaning(f"aten.{_name}.{_overload}", *_prims)(_binary(_name))


def _unary_float(name: str) -> Callable[[World, TensorValue], TensorValue]:
    def function(world: World, x: TensorValue) -> TensorValue:
        dtype = float_of(known_dtype(x.dtype))
        return pointwise(world, (x,), lambda a: call(f"u.{name}", (a,), a.sort), compute=dtype)

    return function


for _name in UNARY:
    meaning(f"aten.{_name}.default")(_unary_float(_name))


def _float_only(name: str) -> Callable[[World, TensorValue], TensorValue]:
    def function(world: World, x: TensorValue) -> TensorValue:
        _floats_only(x, name)
        return unary(world, x, lambda a: call(f"u.{name}", (a,), a.sort))

    return function


for _name in FLOAT_UNARY:
    meaning(f"aten.{_name}.default")(_float_only(_name))


def _with_numbers(name: str) -> Callable[..., TensorValue]:
    defaults = WITH_NUMBERS[name][1]

    def function(world: World, x: TensorValue, *numbers: Any) -> TensorValue:
        _floats_only(x, name)
        given = [*numbers, *defaults[len(numbers) :]]
        terms = [number_as(one, torch.float64) for one in given]
        return unary(world, x, lambda a: call(f"u.{name}", (a, *terms), a.sort))

    return function


for _name in WITH_NUMBERS:
    meaning(f"aten.{_name}.default")(_with_numbers(_name))


@meaning("aten.logit.default")
def logit(world: World, x: TensorValue, eps: Any = None) -> TensorValue:
    dtype = float_of(known_dtype(x.dtype))
    bound = number_as(math.nan if eps is None else eps, torch.float64)
    return pointwise(world, (x,), lambda a: call("u.logit", (a, bound), a.sort), compute=dtype)


# Powers.


@meaning("aten.pow.Tensor_Tensor", "prims.pow.default")
def power_of_tensors(world: World, a: TensorValue, b: TensorValue) -> TensorValue:
    dtype = joint_dtype((a, b))
    if not dtype.is_floating_point:
        raise NoMeaning("powers of integers, which negative exponents may not have")
    return pointwise(world, (a, b), lambda x, y: call("u.pow", (x, y), x.sort), compute=dtype)


@meaning("aten.pow.Scalar")
def power_of_number(world: World, base: Any, b: TensorValue) -> TensorValue:
    dtype = joint_dtype((base, b))
    if not dtype.is_floating_point:
        raise NoMeaning("powers of integers, which negative exponents may not have")
    if isinstance(base, bool | int | float) and base == 1:
        one = constant(1, wide(dtype))
        return pointwise(world, (b,), lambda _: one, compute=dtype)

    def function(x: Term) -> Term:
        return call("u.pow", (number_as(base, dtype if dtype == wide(dtype) else wide(dtype)), x),
                    x.sort)  # fmt: skip

    return pointwise(world, (b,), function, compute=dtype)


# Activations by comparison.


@meaning("aten.leaky_relu.default")
def leaky_relu(world: World, x: TensorValue, negative_slope: Any = 0.01) -> TensorValue:
    dtype = _floats_only(x, "leaky_relu")
    wider = wide(dtype)
    zero, slope = constant(0, wider), number_as(negative_slope, wider)
    return unary(world, x, lambda a: ite(compare("lt", zero, a), a, fn("mul", a, slope)))


@meaning("aten.hardtanh.default")
def hardtanh(world: World, x: TensorValue, min_val: Any = -1, max_val: Any = 1) -> TensorValue:
    dtype = known_dtype(x.dtype)
    if dtype is torch.bool:
        raise Illegal("hardtanh of truth values")
    if not dtype.is_floating_point:
        raise NoMeaning("hardtanh of integers")
    return clamp(world, x, float(min_val), float(max_val))


@meaning("aten.relu6.default")
def relu6(world: World, x: TensorValue) -> TensorValue:
    return hardtanh(world, x, 0, 6)


@meaning("aten.threshold.default")
def threshold(world: World, x: TensorValue, threshold: Any, value: Any) -> TensorValue:
    dtype = known_dtype(x.dtype)
    if dtype is torch.bool:
        raise Illegal("threshold of truth values")
    wider = wide(dtype)
    bound, other = (number_as(one, wider) for one in (threshold, value))
    return unary(world, x, lambda a: ite(compare("le", a, bound), other, a))


@meaning("aten.threshold_backward.default")
def threshold_backward(
    world: World, grad_output: TensorValue, x: TensorValue, threshold: Any
) -> TensorValue:
    dtype = joint_dtype((grad_output, x))
    if dtype is torch.bool:
        raise Illegal("threshold of truth values")
    bound, zero = number_as(threshold, wide(dtype)), constant(0, wide(dtype))
    return pointwise(
        world,
        (grad_output, x),
        lambda g, a: ite(compare("le", a, bound), zero, g),
        compute=dtype,
    )


def _backward(name: str, definition: Callable[[Term, Term], Term]) -> None:
    def function(world: World, grad_output: TensorValue, output: TensorValue) -> TensorValue:
        dtype = joint_dtype((grad_output, output))
        if not dtype.is_floating_point:
            raise Illegal(f"{name} of what is no float")
        return pointwise(
            world,
            (grad_output, output),
            lambda g, y: by_kernel(name, definition(g, y)),
            compute=dtype,
        )

    meaning(f"aten.{name}.default")(function)


def _one_like(item: Term) -> Term:
    assert isinstance(item.sort, torch.dtype)
    return constant(1, item.sort)


_backward(
    "sigmoid_backward",
    lambda g, y: fn("mul", fn("mul", g, fn("sub", _one_like(y), y)), y),
)
_backward(
    "tanh_backward",
    lambda g, y: fn("mul", g, fn("sub", _one_like(y), fn("mul", y, y))),
)


# Bounds that are tensors.


@meaning("aten.clamp.Tensor")
def clamp_tensor(
    world: World, x: TensorValue, min: TensorValue | None = None, max: TensorValue | None = None
) -> TensorValue:
    bounds = [one for one in (min, max) if one is not None]
    if not bounds:
        raise Illegal("clamp without a bound")
    dtype = joint_dtype((x, *bounds))
    if dtype is torch.bool:
        raise NoMeaning("clamp of truth values by tensors")

    def function(item: Term, *limits: Term) -> Term:
        rest = list(limits)
        if min is not None:
            item = larger(item, rest.pop(0))
        return smaller(item, rest.pop(0)) if max is not None else item

    return pointwise(world, (x, *bounds), function, compute=dtype)


def _without_nan(name: str) -> Callable[[World, TensorValue, TensorValue], TensorValue]:
    extreme = larger if name == "fmax" else smaller

    def function(world: World, a: TensorValue, b: TensorValue) -> TensorValue:
        def of_elements(x: Term, y: Term) -> Term:
            return ite(is_nan(x), y, ite(is_nan(y), x, extreme(x, y)))

        return pointwise(world, (a, b), of_elements, compute=joint_dtype((a, b)))

    return function


for _name in ("fmax", "fmin"):
    meaning(f"aten.{_name}.default", f"prims.{_name}.default")(_without_nan(_name))


# Classes of floats.


@meaning("aten.isfinite.default", "prims.isfinite.default")
def isfinite(world: World, x: TensorValue) -> TensorValue:
    nan, infinite = is_nan_op(world, x), is_infinite(world, x)
    return pointwise(
        world, (nan, infinite), lambda a, b: negation(either(a, b)), compute=torch.bool
    )


def _is_one_infinity(sign: float) -> Callable[[World, TensorValue], TensorValue]:
    def function(world: World, x: TensorValue) -> TensorValue:
        def of_element(item: Term) -> Term:
            if item.sort not in FLOATS:
                return FALSE
            return compare("eq", item, constant(sign, item.sort))

        return pointwise(world, (x,), of_element, compute=known_dtype(x.dtype), result=torch.bool)

    return function


meaning("aten.isposinf.default")(_is_one_infinity(math.inf))
meaning("aten.isneginf.default")(_is_one_infinity(-math.inf))


@meaning("aten.nan_to_num.default")
def nan_to_num(
    world: World, x: TensorValue, nan: Any = None, posinf: Any = None, neginf: Any = None
) -> TensorValue:
    dtype = known_dtype(x.dtype)
    if not dtype.is_floating_point:
        return unary(world, x, lambda item: item)
    span = torch.finfo(dtype)
    wider = wide(dtype)

    def as_number(item: Any, default: float) -> Term:
        return cast(number_as(default if item is None else item, dtype), wider)

    least, most, other = (
        as_number(neginf, span.min), as_number(posinf, span.max), as_number(nan, 0.0)
    )  # fmt: skip

    def function(item: Term) -> Term:
        finite = ite(compare("eq", item, constant(-math.inf, wider)), least, item)
        bounded = ite(compare("eq", item, constant(math.inf, wider)), most, finite)
        return ite(is_nan(item), other, bounded)

    return unary(world, x, function)


@meaning("aten.positive.default")
def positive(world: World, x: TensorValue) -> TensorValue:
    if x.dtype is torch.bool:
        raise Illegal("positive of truth values")
    return unary(world, x, lambda item: item)


# Sums of products, which some kernels fuse.


def _sum_of_product(name: str) -> Callable[..., TensorValue]:
    inner = "mul" if name == "addcmul" else "div"

    def function(
        world: World, x: TensorValue, a: TensorValue, b: TensorValue, value: Any = 1
    ) -> TensorValue:
        dtype = joint_dtype((x, a, b))
        if not dtype.is_floating_point:
            raise NoMeaning(f"{name} of integers")
        factor = number_as(value, wide(dtype))

        def of_elements(one: Term, left: Term, right: Term) -> Term:
            found = fn(inner, fn("mul", factor, left), right)
            return by_kernel(name, fn("add", one, found))

        return pointwise(world, (x, a, b), of_elements, compute=dtype)

    return function


meaning("aten.addcmul.default")(_sum_of_product("addcmul"))
meaning("aten.addcdiv.default")(_sum_of_product("addcdiv"))


def _between(start: Term, end: Term, weight: Term) -> Term:
    """Interpolate between two values, from the nearer end."""
    assert isinstance(weight.sort, torch.dtype)
    one, half = constant(1, weight.sort), constant(0.5, weight.sort)
    apart = fn("sub", end, start)
    near = fn("add", start, fn("mul", weight, apart))
    far = fn("sub", end, fn("mul", apart, fn("sub", one, weight)))
    return by_kernel("lerp", ite(compare("lt", fn("abs", weight), half), near, far))


@meaning("aten.lerp.Scalar")
def lerp(world: World, start: TensorValue, end: TensorValue, weight: Any) -> TensorValue:
    dtype = _lerp_dtype(start, end)
    by = number_as(weight, wide(dtype))
    return pointwise(world, (start, end), lambda a, b: _between(a, b, by), compute=dtype)


@meaning("aten.lerp.Tensor")
def lerp_tensor(
    world: World, start: TensorValue, end: TensorValue, weight: TensorValue
) -> TensorValue:
    dtype = _lerp_dtype(start, end)
    if weight.dtype is not dtype:
        raise NoMeaning("lerp by a weight of another dtype")
    return pointwise(world, (start, end, weight), _between, compute=dtype)


def _lerp_dtype(start: TensorValue, end: TensorValue) -> torch.dtype:
    dtype = _floats_only(start, "lerp")
    if end.dtype is not dtype:
        raise Illegal("lerp between two dtypes")
    return dtype


# Choices between numbers.


def _as_tensor(item: Any, like: TensorValue) -> TensorValue:
    """A Python number as a tensor of rank 0."""
    if isinstance(item, Term):
        raise NoMeaning("a choice of a number that may be any")
    dtype = torch.bool if isinstance(item, bool) else torch.int64
    dtype = torch.get_default_dtype() if isinstance(item, float) else dtype
    made = constant(item, dtype)
    return TensorValue([], dtype, lambda index: made, device=like.device)


def _choice(world: World, condition: TensorValue, a: Any, b: Any) -> TensorValue:
    """`where` with a number, which is promoted as it would be beside a tensor."""
    dtype = joint_dtype((a, b)) if isinstance(a, TensorValue) else joint_dtype((b, a))
    found: list[TensorValue] = []
    for item in (a, b):
        if isinstance(item, TensorValue):
            found.append(item)
        else:
            made = number_as(item, dtype)
            found.append(TensorValue([], dtype, lambda index, made=made: made))
    return where(world, condition, *found)


meaning("aten.where.ScalarOther")(_choice)
meaning("aten.where.ScalarSelf")(_choice)


@meaning("aten.where.Scalar")
def where_scalars(world: World, condition: TensorValue, a: Any, b: Any) -> TensorValue:
    return where(world, condition, _as_tensor(a, condition), _as_tensor(b, condition))


@meaning("prims.where.default")
def prims_where(world: World, pred: TensorValue, a: TensorValue, b: TensorValue) -> TensorValue:
    return where(world, pred, a, b)


@meaning("aten.scalar_tensor.default")
def scalar_tensor(
    world: World,
    s: Any,
    dtype: torch.dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
) -> TensorValue:
    chosen = torch.get_default_dtype() if dtype is None else dtype
    made = number_as(s, chosen)
    place = torch.device("cpu") if device is None else torch.device(device)
    return TensorValue([], chosen, lambda index: made, device=place)
