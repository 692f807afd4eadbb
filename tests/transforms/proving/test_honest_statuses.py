"""No status without work: what each one rests on, and what is said where there is none."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import xductor
from tests.transforms.proving.examples import Joint
from xductor import Scalar, Tensor
from xductor.backend.cli import prove as command
from xductor.backend.cli.main import main
from xductor.ir import aten
from xductor.transforms.proving import domains, prover
from xductor.transforms.proving.noop_cases import NoopCase
from xductor.transforms.proving.subjects import RewriteSubject
from xductor.transforms.validation.validate import ValidationResult


class ConstantCloned(Joint):
    """A constant is the same from every side: no copy with a mistake is another."""

    def pattern(self, shape: list[int], v: Scalar) -> Any:
        return aten.clone(aten.full(shape, v, dtype=torch.int64))

    def replacement(self, shape: list[int], v: Scalar) -> Any:
        return aten.full(shape, v, dtype=torch.int64)


class LongShapesOnly(ConstantCloned):
    def where(self, shape: list[int]) -> Any:
        return len(shape) > 7


class SumOfConstants(Joint):
    """Of shapes that have a dim."""

    def pattern(self, shape: list[int]) -> Any:
        return aten.add(aten.full(shape, 2, dtype=torch.int64), 3)

    def where(self, shape: list[int]) -> Any:
        return len(shape) > 0

    def replacement(self, shape: list[int]) -> Any:
        return aten.full(shape, 5, dtype=torch.int64)


class RoundedIntegers(Joint):
    """Eager has no kernel that rounds integers to a number of decimals."""

    def pattern(self, x: Tensor) -> Any:
        return aten.round.decimals(x, decimals=0)

    def where(self, x: Tensor) -> Any:
        return x.dtype == torch.int32

    def replacement(self, x: Tensor) -> Any:
        return x


class ClonedVector(Joint):
    def pattern(self, x: Tensor) -> Any:
        return aten.clone(x)

    def where(self, x: Tensor) -> Any:
        return x.ndim == 1

    def replacement(self, x: Tensor) -> Any:
        return x


def test_a_shape_is_tried_at_every_length() -> None:
    proof = xductor.prove(SumOfConstants)
    assert proof.status == "proved", proof
    assert proof.ranks == (1, 5)
    assert proof.instances >= prover.LEAST_DECIDED


def test_what_tells_nothing_is_run() -> None:
    proof = xductor.prove(ConstantCloned)
    assert "refuted" not in proof.mutations.values()
    assert proof.status == "validated"
    assert proof.runs >= proof.instances >= 20
    assert f"{proof.runs} runs" in str(proof)


@pytest.mark.parametrize(("came", "status"), [("violated", "refuted"), ("vacuous", "undecided")])
def test_what_running_it_came_to_is_said(
    came: Any, status: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    result = ValidationResult("constant_cloned", status=came)
    result.declined["a reason"] += 3
    monkeypatch.setattr(RewriteSubject, "validated", lambda self: result)
    proof = xductor.prove(ConstantCloned)
    assert proof.status == status
    with pytest.raises(xductor.ProofError):
        proof.raise_if_wrong()
    monkeypatch.setattr(command, "_proof", lambda *_: proof)
    assert main(["prove", f"{__file__}:ConstantCloned"]) == 1
    assert ("a reason" in capsys.readouterr().out) == (came == "vacuous")


def test_a_copy_with_a_mistake_has_no_status_that_was_not_earned() -> None:
    proof = prover.prove_subject(NoopCase("aten.view.dtype"))
    assert set(proof.mutations.values()) <= {"refuted", "proved", "bounded", "undecided"}


@pytest.mark.parametrize("op", ["aten.alias.default", "aten.clone.default"])
def test_a_few_instances_are_looked_at_one_by_one(op: str) -> None:
    proof = prover.prove_subject(NoopCase(op))
    assert (proof.status, proof.dtypes) == ("proved", ("any",))
    assert proof.instances >= prover.LEAST_DECIDED


def test_one_rank_is_enough_where_the_rewrite_asks_for_it() -> None:
    assert xductor.prove(ClonedVector).status == "proved"


def test_one_rank_is_not_enough_where_others_were_not_decided() -> None:
    one = prover._Prover(RewriteSubject(ClonedVector()), 10.0)
    one.reads.several_ranks = True
    one.found.instances, one.found.ranks, one.found.open_ranks = 100, {1}, {1, 2}
    assert "at rank 1 only" in one._too_few()
    one.found.open_ranks = {1}
    assert not one._too_few()


def test_a_list_of_one_length_is_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(domains, "lengths", lambda *_: (2,))
    proof = xductor.prove(SumOfConstants)
    assert "shape: lists of length 2 only" in proof.bounds
    assert proof.status != "proved"


def test_what_eager_refuses_is_no_instance() -> None:
    proof = xductor.prove(RoundedIntegers)
    assert proof.status == "vacuous"
    assert "is refused by eager" in str(proof)


def test_vacuous_says_what_was_refused(capsys: pytest.CaptureFixture[str]) -> None:
    text = str(xductor.prove(LongShapesOnly))
    assert "vacuous" in text
    assert "`where` says no: len(shape) > 7" in text
    assert "length of shape: 0" in text
    assert "`where` says no: len(shape) > 7" in str(xductor.validate(LongShapesOnly, instances=2))
