"""Operands that matching exchanges: what is computed then has the same bits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import xductor
from tests.transforms.proving.examples import Joint, assert_example_fails
from xductor import UP_TO_ZERO_SIGN, Tensor
from xductor.ir import aten, prims
from xductor.transforms import in_order
from xductor.transforms.matching import commutativity

_LIBRARIES = {"aten": aten, "prims": prims}
NAMES = [
    name
    for name in (*commutativity.EXCHANGEABLE, *commutativity.WITH_UNIT_ALPHA)
    if name.partition(".")[0] in _LIBRARIES
]


def _function(name: str) -> Any:
    library, op, overload = name.split(".")
    return getattr(getattr(_LIBRARIES[library], op), overload)


@pytest.mark.parametrize("name", NAMES)
def test_exchanged_operands_give_the_same_bits(name: str) -> None:
    call = _function(name)

    class Exchanged(Joint):
        def pattern(self, x: Tensor, y: Tensor) -> Any:
            return in_order(call(x, y))

        def where(self, x: Tensor, y: Tensor) -> Any:
            return x.ndim <= 1 and y.ndim <= 1 and x.dtype == y.dtype

        def replacement(self, x: Tensor, y: Tensor) -> Any:
            return call(y, x)

    proof = xductor.prove(Exchanged, seconds=60)
    assert proof.status == "proved", proof


def test_products_with_a_wider_number_of_no_dims_are_rounded_by_their_order() -> None:
    """A kernel on the CPU keeps its second operand wide if that has no dims, and not its first."""

    class Exchanged(Joint):
        def pattern(self, x: Tensor, y: Tensor) -> Any:
            return in_order(aten.mul(x, y))

        def replacement(self, x: Tensor, y: Tensor) -> Any:
            return aten.mul(y, x)

    proof = xductor.prove(Exchanged)
    assert proof.counter_example is not None
    dtypes = {one.dtype for one in proof.counter_example.inputs.values()}
    assert len(dtypes) == 2


@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_extremes_of_floats_do_not_commute(name: str, tmp_path: Path) -> None:
    """Of a zero and a negative zero a kernel gives the first or the second, as it likes."""
    call = getattr(aten, name)

    class Exchanged(Joint):
        def pattern(self, x: Tensor, y: Tensor) -> Any:
            return in_order(call(x, y))

        def replacement(self, x: Tensor, y: Tensor) -> Any:
            return call(y, x)

    class OfIntegers(Exchanged):
        def where(self, x: Tensor, y: Tensor) -> Any:
            return x.ndim <= 1 and y.ndim <= 1 and x.dtype == y.dtype == torch.int64

    class UpToZeros(Exchanged):
        numerics = UP_TO_ZERO_SIGN

        def where(self, x: Tensor, y: Tensor) -> Any:
            return x.ndim <= 1 and y.ndim <= 1 and x.dtype == y.dtype

    refuted = xductor.prove(Exchanged, seconds=60)
    assert_example_fails(refuted, tmp_path)
    assert refuted.counter_example is not None
    assert all((one == 0).all() for one in refuted.counter_example.inputs.values())
    assert xductor.prove(OfIntegers, seconds=60).ok
    up_to_zeros = xductor.prove(UpToZeros, seconds=60)
    assert up_to_zeros.status == "proved", up_to_zeros
    assert f"aten.{name}.default" not in commutativity.EXCHANGEABLE
