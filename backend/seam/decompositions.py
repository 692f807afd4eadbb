"""Mends Inductor's table of decompositions where it deviates from eager and no stage can.

A decomposition runs while AOTAutograd traces, before the joint stage: no pass can recover what it
has lost.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true

from xductor.backend.config import compile_state

_stock: Callable[[], dict[Any, Callable[..., Any]]] | None = None


def attach(compile_fx: ModuleType) -> None:
    """Replace `select_decomp_table` of Inductor's module by one that knows our compiles."""
    global _stock
    found = compile_fx.select_decomp_table
    if found is not select_decomp_table:
        _stock = found
        setattr(compile_fx, "select_decomp_table", select_decomp_table)  # noqa: B010


# A function of this module and not of `attach`: from 2.14 on, Inductor pickles it by its name as
# part of its cache key.
def select_decomp_table() -> dict[Any, Callable[..., Any]]:
    """Inductor's table; in a compile of ours, without what deviates from eager."""
    assert _stock is not None, "attach() comes first"
    table = _stock()
    settings = compile_state.current().settings
    if settings is None:
        return table
    right = _right(table)
    return _without_products(right) if settings.numerics == "strict" else right


def _without_products(table: dict[Any, Callable[..., Any]]) -> dict[Any, Callable[..., Any]]:
    """Keep small products as they are: decomposed, their terms are added in another order."""
    aten = torch.ops.aten
    products = (aten.mm.default, aten.bmm.default, aten.addmm.default)
    return {op: function for op, function in table.items() if op not in products}


def _right(table: dict[Any, Callable[..., Any]]) -> dict[Any, Callable[..., Any]]:
    return {**table, **{op: mend(table[op]) for op, mend in _mends().items() if op in table}}


@functools.cache
def _mends() -> dict[Any, Callable[[Callable[..., Any]], Callable[..., Any]]]:
    """For each operator, what makes a decomposition that agrees with eager of Inductor's."""
    aten = torch.ops.aten
    return {
        aten.mm.default: _of_the_dtype_of_its_factors,
        aten.bmm.default: _without_sums_in_int64,
        aten.addmm.default: lambda stock: _of_the_dtype_of_its_factors(
            _reading_no_bias_times_zero(stock)
        ),
        aten.lerp.Scalar: _of_real_weights,
        aten.linspace.default: _of_whole_bounds,
    }


def _of_the_dtype_of_its_factors(stock: Callable[..., Any]) -> Callable[..., Any]:
    """A product of integers that has their dtype, as in eager.

    Inductor writes small products on CPU as sums, and a sum of integers is int64
    (pytorch/pytorch#191308). The bits that are cut off here are those that eager does not compute.
    """

    @functools.wraps(stock)
    def product(*args: Any, **kwargs: Any) -> Any:
        made = stock(*args, **kwargs)
        return made if made is NotImplemented else made.to(args[-1].dtype)

    return product


def _without_sums_in_int64(stock: Callable[..., Any]) -> Callable[..., Any]:
    """A `bmm` of integers by a row or a column on CPU is the sum that it is, in their dtype.

    If it stays a `bmm`, Inductor's lowering writes that sum, in int64 (pytorch/pytorch#191308).
    """
    decomposed = _of_the_dtype_of_its_factors(stock)

    @functools.wraps(stock)
    def bmm(self: torch.Tensor, batch2: torch.Tensor, **kwargs: Any) -> Any:
        rows, columns = self.shape[1], batch2.shape[2]
        if _is_of_integers(self) and any(statically_known_true(n == 1) for n in (rows, columns)):
            return (self.unsqueeze(-1) * batch2.unsqueeze(1)).sum(2, dtype=self.dtype)
        return decomposed(self, batch2, **kwargs)

    return bmm


def _is_of_integers(one: torch.Tensor) -> bool:
    return one.device.type == "cpu" and not (one.is_floating_point() or one.is_complex())


def _reading_no_bias_times_zero(stock: Callable[..., Any]) -> Callable[..., Any]:
    """An `addmm` that does not read its first operand if `beta` is zero, as eager does not.

    Inductor writes small products on CPU as `alpha * sums + beta * self` for every `beta`, so that
    a NaN of `self` comes through (pytorch/pytorch#196577).
    """

    @functools.wraps(stock)
    def addmm(self: torch.Tensor, mat1: torch.Tensor, mat2: torch.Tensor, **kwargs: Any) -> Any:
        beta = kwargs.get("beta", 1)
        if not isinstance(beta, int | float) or beta != 0:
            return stock(self, mat1, mat2, **kwargs)
        if kwargs.get("alpha", 1) == 1:
            return torch.mm(mat1, mat2)
        # A kernel scales before it rounds: only where stock decomposes are there two roundings.
        return stock(torch.zeros_like(self), mat1, mat2, **kwargs)

    return addmm


def _of_real_weights(stock: Callable[..., Any]) -> Callable[..., Any]:
    """A `lerp` that is kept if its weight is complex; Inductor's compares it with 0.5 and fails."""

    @functools.wraps(stock)
    def lerp(self: torch.Tensor, end: torch.Tensor, weight: Any) -> Any:
        return NotImplemented if isinstance(weight, complex) else stock(self, end, weight)

    return lerp


def _of_whole_bounds(stock: Callable[..., Any]) -> Callable[..., Any]:
    """A `linspace` of integers whose bounds lose their fractions before it begins, as in eager."""

    @functools.wraps(stock)
    def linspace(start: Any, end: Any, *args: Any, **kwargs: Any) -> Any:
        dtype = kwargs.get("dtype") or torch.get_default_dtype()
        if not (dtype.is_floating_point or dtype.is_complex):
            start, end = (int(one) if isinstance(one, float) else one for one in (start, end))
        return stock(start, end, *args, **kwargs)

    return linspace
