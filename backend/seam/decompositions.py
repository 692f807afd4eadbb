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
    return _without_products(table) if settings.numerics == "strict" else _right(table)


def _without_products(table: dict[Any, Callable[..., Any]]) -> dict[Any, Callable[..., Any]]:
    """Keep small products as they are: decomposed, their terms are added in another order."""
    aten = torch.ops.aten
    products = (aten.mm.default, aten.bmm.default, aten.addmm.default)
    return {op: function for op, function in table.items() if op not in products}


def _right(table: dict[Any, Callable[..., Any]]) -> dict[Any, Callable[..., Any]]:
    addmm = torch.ops.aten.addmm.default
    return {**table, addmm: _reading_no_bias_times_zero(table[addmm])} if addmm in table else table


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
