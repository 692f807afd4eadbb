"""Proofs about lists: of sizes, beginning with none, and of tensors of whichever dtype."""

from __future__ import annotations

from typing import Any

from xductor.ir import aten
from xductor.transforms import Rewrite, Tensor, all_of
from xductor.transforms.post_grad.cat_and_split import SplitwithsizesCatReplace
from xductor.transforms.proving.prover import prove
from xductor.transforms.proving.results import Proof


def test_pieces_put_together_again_are_bounded_at_all_lengths() -> None:
    proof = prove(SplitwithsizesCatReplace)
    assert proof.status == "bounded"
    assert proof.bounds == ("lists of at most 5 integers",)


class TakesOtherDtypes(Rewrite):
    """The condition the wrong way round: then cat promotes."""

    stage = "joint"

    def pattern(self, a: Tensor, b: Tensor, size: int) -> Any:
        return aten.slice(aten.cat([a, b]), 0, 0, size)

    def where(self, a: Tensor, b: Tensor, size: int) -> Any:
        return not a.same_dtype(b) and all_of(a.ndim == 1, a.shape[0] == size)

    def replacement(self, a: Tensor) -> Any:
        return a


class JoinsOneDtype(TakesOtherDtypes):
    """The condition as it should be."""

    def where(self, a: Tensor, b: Tensor, size: int) -> Any:
        return a.same_dtype(b) and all_of(a.ndim == 1, b.ndim == 1, a.shape[0] == size)


def _proof(rewrite: type[Rewrite]) -> Proof:
    return prove(rewrite, seconds=20)


def test_a_condition_on_equal_dtypes_looks_at_no_dtype_by_itself() -> None:
    proof = _proof(JoinsOneDtype)
    assert proof.ok, proof
    assert proof.dtypes == ("any",)


def test_tensors_of_two_dtypes_are_seen() -> None:
    assert _proof(TakesOtherDtypes).status == "refuted"
