"""Softmax and the norms, by their definitions over folds.

Each is a kernel of its own: its result is the definition up to roundings, and the same bit for bit
where the definition is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from xductor.transforms.semantics.families.casts import convert_element_type
from xductor.transforms.semantics.families.reductions import (
    Rows,
    mean_of,
    reduced_dims,
    variance_of,
)
from xductor.transforms.semantics.kernels import by_kernel
from xductor.transforms.semantics.registry import meaning
from xductor.transforms.semantics.scalars import NARROW, fn, known_dtype, number_as, wide
from xductor.transforms.semantics.terms import (
    FALSE,
    Term,
    call,
    cast,
    constant,
    eq,
    integer,
    ite,
    mul,
    number,
)
from xductor.transforms.semantics.values import Illegal, NoMeaning, TensorValue, World

Element = Callable[[Sequence[Term]], Term]


def _floats(x: TensorValue, op: str) -> torch.dtype:
    dtype = known_dtype(x.dtype)
    if not dtype.is_floating_point:
        raise Illegal(f"{op} of what is no float")
    return dtype


def _like(x: TensorValue, dtype: torch.dtype, element: Element) -> TensorValue:
    return TensorValue(x.shape, dtype, element, device=x.device, on_dtype=x.on_dtype)


# Softmax.


def softmax_of(rows: Rows, item: Term, index: Sequence[Term], wider: torch.dtype) -> Term:
    """`exp(item - largest)` divided by its sum over the row."""

    def body(one: Term) -> Term:
        return cast(one, wider)

    largest = rows.fold("max", index, body, wider)

    def exponential(one: Term) -> Term:
        return call("u.exp", (fn("sub", body(one), largest),), wider)

    return fn("div", exponential(item), rows.fold("sum", index, exponential, wider))


def log_softmax_of(rows: Rows, item: Term, index: Sequence[Term], wider: torch.dtype) -> Term:
    """`item - largest - log(sum(exp(row - largest)))`."""

    def body(one: Term) -> Term:
        return cast(one, wider)

    largest = rows.fold("max", index, body, wider)

    def exponential(one: Term) -> Term:
        return call("u.exp", (fn("sub", body(one), largest),), wider)

    total = rows.fold("sum", index, exponential, wider)
    return fn("sub", fn("sub", body(item), largest), call("u.log", (total,), wider))


_DEFINITIONS = {"softmax": softmax_of, "log_softmax": log_softmax_of}


def _softmax(name: str, x: TensorValue, dim: Any, half_to_float: bool) -> TensorValue:
    dtype = _floats(x, name)
    if half_to_float and dtype not in NARROW:
        raise Illegal(f"{name}: half_to_float of {dtype}")
    out, wider = torch.float32 if half_to_float else dtype, wide(dtype)
    rows = Rows(x, reduced_dims([dim], x.rank), keepdim=True)

    def element(index: Sequence[Term]) -> Term:
        found = _DEFINITIONS[name](rows, x.element(index), index, wider)
        return cast(by_kernel(name, found), out)

    return _like(x, out, element)


def _softmax_overloads(name: str) -> None:
    def core(world: World, x: TensorValue, dim: Any, half_to_float: Any) -> TensorValue:
        return _softmax(name, x, dim, half_to_float)

    def with_dtype(world: World, x: TensorValue, dim: Any, dtype: Any = None) -> TensorValue:
        given = x if dtype is None else convert_element_type(world, x, dtype)
        return _softmax(name, given, dim, False)

    meaning(f"aten._{name}.default")(core)
    meaning(f"aten.{name}.int")(with_dtype)


_softmax_overloads("softmax")
_softmax_overloads("log_softmax")


@meaning("prims.prepare_softmax_online.default")
def prepare_softmax_online(world: World, x: TensorValue, dim: Any) -> list[TensorValue]:
    """The maximum of each row, and the sum of `exp(item - maximum)` over it."""
    dtype = _floats(x, "prepare_softmax_online")
    rows, wider = Rows(x, reduced_dims([dim], x.rank), True), wide(dtype)

    def largest(index: Sequence[Term]) -> Term:
        return rows.fold("max", index, lambda one: one, dtype)

    def total(index: Sequence[Term]) -> Term:
        def power(one: Term) -> Term:
            return call("u.exp", (fn("sub", cast(one, wider), cast(largest(index), wider)),), wider)

        found = rows.fold("sum", index, power, wider)
        return cast(by_kernel("prepare_softmax", found), dtype)

    def made(element: Element) -> TensorValue:
        return TensorValue(rows.shape, dtype, element, device=x.device, on_dtype=x.on_dtype)

    return [made(largest), made(total)]


# Norms over the last dims.


class _LastDims:
    """The rows of a norm, with its weight and bias.

    Raises Illegal if ranks or sizes do not fit.
    """

    def __init__(
        self,
        world: World,
        op: str,
        x: TensorValue,
        shape: Any,
        weight: TensorValue | None,
        bias: TensorValue | None,
    ) -> None:
        sizes = list(map(integer, shape))
        if not sizes or len(sizes) > x.rank:
            raise Illegal(f"{op} over {len(sizes)} dims of rank {x.rank}")
        for wanted, own in zip(sizes, x.shape[x.rank - len(sizes) :], strict=True):
            world.require(eq(wanted, own), f"{op}: other sizes")
        for one in (weight, bias):
            if one is not None and one.rank != len(sizes):
                raise Illegal(f"{op}: a parameter of rank {one.rank}")
            for wanted, own in zip(sizes, () if one is None else one.shape, strict=one is not None):
                world.require(eq(wanted, own), f"{op}: a parameter of another size")
        self.lead = x.rank - len(sizes)
        self.rows = Rows(x, range(self.lead, x.rank), keepdim=True)
        self.weight, self.bias = weight, bias

    def row(self, index: Sequence[Term]) -> list[Term]:
        """The index of the row that an element is in."""
        return [*index[: self.lead], *[number(0)] * (len(index) - self.lead)]

    def scaled(self, found: Term, index: Sequence[Term]) -> Term:
        wider, inside = found.sort, index[self.lead :]
        assert isinstance(wider, torch.dtype)
        if self.weight is not None:
            found = fn("mul", found, cast(self.weight.element(inside), wider))
        if self.bias is not None:
            found = fn("add", found, cast(self.bias.element(inside), wider))
        return found


def _statistics_dtype(
    dtype: torch.dtype, weight: TensorValue | None, bias: TensorValue | None
) -> torch.dtype:
    """The dtype of mean and deviation: float32 if the parameters are float32."""
    given = {one.dtype for one in (weight, bias) if one is not None}
    if len(given) > 1:
        raise NoMeaning("parameters of two dtypes")
    if not given or given == {dtype}:
        return dtype
    if dtype in NARROW and given == {torch.float32}:
        return torch.float32
    raise Illegal("parameters of another dtype")


@meaning("aten.native_layer_norm.default")
def native_layer_norm(
    world: World,
    x: TensorValue,
    normalized_shape: Any,
    weight: TensorValue | None,
    bias: TensorValue | None,
    eps: Any,
) -> list[TensorValue]:
    dtype = _floats(x, "layer_norm")
    dims = _LastDims(world, "layer_norm", x, normalized_shape, weight, bias)
    statistics, wider, rows = _statistics_dtype(dtype, weight, bias), wide(dtype), dims.rows

    def body(item: Term) -> Term:
        return cast(item, wider)

    def mean(index: Sequence[Term]) -> Term:
        found = mean_of(rows, index, body, wider)
        none = eq(rows.count, 0)
        return found if none is FALSE else ite(none, constant(0, wider), found)

    def rstd(index: Sequence[Term]) -> Term:
        shifted = fn("add", variance_of(rows, index, 0, wider), number_as(eps, wider))
        return call("u.rsqrt", (shifted,), wider)

    def element(index: Sequence[Term]) -> Term:
        row = dims.row(index)
        found = fn("mul", fn("sub", body(x.element(index)), mean(row)), rstd(row))
        return cast(by_kernel("layer_norm", dims.scaled(found, index)), dtype)

    def statistic(name: str, of: Element) -> TensorValue:
        return TensorValue(
            rows.shape,
            statistics,
            lambda index: cast(by_kernel(name, of(index)), statistics),
            device=x.device,
            on_dtype=x.on_dtype,
        )

    return [
        _like(x, dtype, element), statistic("mean_of_row", mean), statistic("rstd_of_row", rstd),
    ]  # fmt: skip


@meaning("aten.layer_norm.default")
def layer_norm(
    world: World,
    x: TensorValue,
    normalized_shape: Any,
    weight: TensorValue | None = None,
    bias: TensorValue | None = None,
    eps: Any = 1e-5,
    cudnn_enable: Any = True,
) -> TensorValue:
    return native_layer_norm(world, x, normalized_shape, weight, bias, eps)[0]


def _rms_norm(
    world: World, x: TensorValue, shape: Any, weight: TensorValue | None, eps: Any
) -> tuple[TensorValue, TensorValue]:
    dtype = _floats(x, "rms_norm")
    dims = _LastDims(world, "rms_norm", x, shape, weight, None)
    wider, rows = wide(dtype), dims.rows
    least = torch.finfo(wider).eps if eps is None else eps

    def square(item: Term) -> Term:
        return fn("mul", cast(item, wider), cast(item, wider))

    def rstd(index: Sequence[Term]) -> Term:
        shifted = fn("add", mean_of(rows, index, square, wider), number_as(least, wider))
        return call("u.rsqrt", (shifted,), wider)

    def element(index: Sequence[Term]) -> Term:
        found = fn("mul", cast(x.element(index), wider), rstd(dims.row(index)))
        return cast(by_kernel("rms_norm", dims.scaled(found, index)), dtype)

    deviation = TensorValue(
        rows.shape,
        wider,
        lambda index: by_kernel("rstd_of_row", rstd(index)),
        device=x.device,
        on_dtype=x.on_dtype,
    )
    return _like(x, dtype, element), deviation


@meaning("aten.rms_norm.default")
def rms_norm(
    world: World,
    x: TensorValue,
    normalized_shape: Any,
    weight: TensorValue | None = None,
    eps: Any = None,
) -> TensorValue:
    return _rms_norm(world, x, normalized_shape, weight, eps)[0]


@meaning("aten._fused_rms_norm.default")
def fused_rms_norm(
    world: World, x: TensorValue, normalized_shape: Any, weight: TensorValue | None, eps: Any
) -> list[TensorValue]:
    return list(_rms_norm(world, x, normalized_shape, weight, eps))


# Norms over channels.


def _by_channel(world: World, x: TensorValue, item: TensorValue | None) -> None:
    if item is None:
        return
    if item.rank != 1:
        raise Illegal("a parameter of channels that is no vector")
    world.require(eq(item.shape[0], x.shape[1]), "a parameter for another number of channels")


@meaning("aten._native_batch_norm_legit_no_training.default")
def batch_norm_no_training(
    world: World,
    x: TensorValue,
    weight: TensorValue | None,
    bias: TensorValue | None,
    running_mean: TensorValue,
    running_var: TensorValue,
    momentum: Any,
    eps: Any,
) -> list[TensorValue]:
    dtype = _floats(x, "batch_norm")
    if x.rank < 2:
        raise NoMeaning("a batch norm of rank below 2")
    for one in (weight, bias, running_mean, running_var):
        _by_channel(world, x, one)
    _statistics_dtype(dtype, weight, bias)
    wider = wide(dtype)

    def element(index: Sequence[Term]) -> Term:
        def of(item: TensorValue) -> Term:
            return cast(item.element([index[1]]), wider)

        shifted = fn("add", of(running_var), number_as(eps, wider))
        rstd = call("u.rsqrt", (shifted,), wider)
        found = fn("mul", fn("sub", cast(x.element(index), wider), of(running_mean)), rstd)
        if weight is not None:
            found = fn("mul", found, of(weight))
        if bias is not None:
            found = fn("add", found, of(bias))
        return cast(by_kernel("batch_norm", found), dtype)

    def nothing(index: Sequence[Term]) -> Term:
        raise NoMeaning("an element of an empty tensor")

    empty = TensorValue([0], dtype, nothing, device=x.device, on_dtype=x.on_dtype)
    return [_like(x, dtype, element), empty, empty]


@meaning("aten.native_group_norm.default")
def native_group_norm(
    world: World,
    x: TensorValue,
    weight: TensorValue | None,
    bias: TensorValue | None,
    N: Any,
    C: Any,
    HxW: Any,
    group: Any,
    eps: Any,
) -> list[TensorValue]:
    from xductor.transforms.semantics.families.views import view

    dtype = _floats(x, "group_norm")
    if not isinstance(group, int) or group < 1:
        raise NoMeaning("group_norm with a number of groups that is no number")
    if x.rank < 2:
        raise Illegal("group_norm of rank below 2")
    for one in (weight, bias):
        _by_channel(world, x, one)
    world.require(eq(x.shape[0], N), "group_norm: another batch")
    world.require(eq(x.shape[1], C), "group_norm: another number of channels")
    inside = mul(*x.shape[2:]) if x.rank > 2 else number(1)
    world.require(eq(inside, HxW), "group_norm: another number of places")
    each = world.size(_over(world, x.shape[1], group))
    grouped = view(world, x, [x.shape[0], group, each, inside])
    flat = view(world, grouped, [x.shape[0], group, mul(each, inside)])
    return _group_norm(world, x, flat, grouped, weight, bias, eps, dtype)


def _over(world: World, size: Term, group: int) -> Term:
    from xductor.transforms.semantics.terms import modulo, quotient

    world.require(eq(modulo(size, group), 0), "group_norm: channels that groups do not divide")
    return quotient(size, group)


def _group_norm(
    world: World,
    x: TensorValue,
    flat: TensorValue,
    grouped: TensorValue,
    weight: TensorValue | None,
    bias: TensorValue | None,
    eps: Any,
    dtype: torch.dtype,
) -> list[TensorValue]:
    from xductor.transforms.semantics.families.views import view

    statistics, wider = _statistics_dtype(dtype, weight, bias), wide(dtype)
    rows = Rows(flat, [2], keepdim=False)

    def body(item: Term) -> Term:
        return cast(item, wider)

    def mean(index: Sequence[Term]) -> Term:
        return mean_of(rows, index, body, wider)

    def rstd(index: Sequence[Term]) -> Term:
        shifted = fn("add", variance_of(rows, index, 0, wider), number_as(eps, wider))
        return call("u.rsqrt", (shifted,), wider)

    def normal(index: Sequence[Term]) -> Term:
        row = index[:2]
        return fn("mul", fn("sub", body(grouped.element(index)), mean(row)), rstd(row))

    whole = view(world, TensorValue(grouped.shape, wider, normal, device=x.device), list(x.shape))

    def element(index: Sequence[Term]) -> Term:
        found = whole.element(index)
        if weight is not None:
            found = fn("mul", found, cast(weight.element([index[1]]), wider))
        if bias is not None:
            found = fn("add", found, cast(bias.element([index[1]]), wider))
        return cast(by_kernel("group_norm", found), dtype)

    def statistic(name: str, of: Element) -> TensorValue:
        return TensorValue(
            flat.shape[:2],
            statistics,
            lambda index: cast(by_kernel(name, of(index)), statistics),
            device=x.device,
            on_dtype=x.on_dtype,
        )

    return [
        _like(x, dtype, element), statistic("mean_of_row", mean), statistic("rstd_of_row", rstd),
    ]  # fmt: skip
