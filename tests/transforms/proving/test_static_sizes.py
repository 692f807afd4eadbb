"""Sizes that a rewrite asks to be plain numbers; and reads at indices that are elements."""

from __future__ import annotations

from typing import Any

import pytest

import xductor
from tests.transforms.proving.examples import Joint
from xductor import REASSOCIATES, Rewrite, Tensor
from xductor.ir import aten
from xductor.transforms import no


class PaddedToEven(Joint):
    """An inner size that is a plain odd number, padded by one."""

    numerics = REASSOCIATES

    def pattern(self, a: Tensor, b: Tensor) -> Any:
        return aten.mm(a, b)

    def where(self, a: Tensor) -> Any:
        inner = a.shape[1]
        if not inner.is_static or inner.is_multiple_of(2):
            return no("there is nothing to pad")
        return True

    def replacement(self, a: Tensor, b: Tensor) -> Any:
        wide, high = self.padded(a, b)
        return aten.mm(wide, high)

    def padded(self, a: Tensor, b: Tensor) -> tuple[Any, Any]:
        return aten.constant_pad_nd(a, [0, 1]), aten.constant_pad_nd(b, [0, 0, 0, 1])


class PaddedByOnes(PaddedToEven):
    def padded(self, a: Tensor, b: Tensor) -> tuple[Any, Any]:
        return aten.constant_pad_nd(a, [0, 1], 1.0), aten.constant_pad_nd(b, [0, 0, 0, 1], 1.0)


class GatherTwice(Joint):
    """A read in range at indices that the source reads at, in the same range."""

    def pattern(self, x: Tensor, dim: int, index: Tensor) -> Any:
        return aten.clone(aten.gather(x, dim, index))

    def replacement(self, x: Tensor, dim: int, index: Tensor) -> Any:
        return aten.gather(x, dim, index)


class GatherOfFewer(Joint):
    """A read at these indices of a smaller tensor may be out of range."""

    def pattern(self, x: Tensor, index: Tensor) -> Any:
        return aten.gather(x, 0, index)

    def where(self, x: Tensor) -> Any:
        return x.ndim == 1

    def replacement(self, x: Tensor, index: Tensor) -> Any:
        return aten.gather(aten.slice(x, 0, 0, 2), 0, index)


@pytest.mark.parametrize(
    ("rewrite", "status"),
    [(PaddedToEven, "proved up to re-association"), (GatherTwice, "proved")],
)
def test_proved(rewrite: type[Rewrite], status: str) -> None:
    proof = xductor.prove(rewrite)
    assert proof.status == status, proof
    assert not proof.bounds
    assert "refuted" in proof.mutations.values()


def test_what_is_padded_counts() -> None:
    assert xductor.prove(PaddedByOnes).status == "refuted"


def test_what_may_be_read_out_of_range_is_not_proved() -> None:
    assert xductor.prove(GatherOfFewer).status == "refuted"
