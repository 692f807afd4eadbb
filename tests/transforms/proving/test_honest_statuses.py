"""No status without work: what each one rests on, and what is said where there is none."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch

import xductor
from tests.transforms.proving.examples import Joint
from xductor import Scalar, Tensor, all_of
from xductor.backend.cli.commands import prove as command
from xductor.backend.cli.main import main
from xductor.ir import aten
from xductor.transforms.proving import domains, prover
from xductor.transforms.proving.noop_cases import NoopCase
from xductor.transforms.proving.paths import Path, all_paths
from xductor.transforms.proving.solving.size_classes import each_class
from xductor.transforms.proving.solving.solver import Assumptions
from xductor.transforms.proving.subjects import RewriteSubject
from xductor.transforms.semantics.evaluation import Evaluation
from xductor.transforms.semantics.terms import le, var
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


class NegatedAndLessTwo(Joint):
    """Refused in most ranks and dtypes by its condition, and in some by the meaning."""

    def pattern(self, x: Tensor) -> Any:
        return aten.clone(aten.sub(aten.neg(x), 2))

    def where(self, x: Tensor) -> Any:
        return x.ndim == 2 and x.dtype in (torch.float32, torch.int64)

    def replacement(self, x: Tensor) -> Any:
        return aten.sub(aten.neg(x), 2)


@pytest.mark.parametrize("rewrite", [NegatedAndLessTwo, SumOfConstants, ClonedVector])
def test_copies_with_a_mistake_look_at_what_the_rewrite_was_not_refused(
    rewrite: type[xductor.Rewrite], monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = xductor.prove(rewrite)
    monkeypatch.setattr(prover._Prover, "take_instances_of", lambda self, other: None)
    whole = xductor.prove(rewrite)
    assert shared.status == "proved", shared
    assert (shared.instances, shared.mutations) == (whole.instances, whole.mutations)


def test_ways_may_be_followed_from_where_they_begin() -> None:
    def run(path: Path) -> tuple[int, ...]:
        first = path.choose(range(3), "first")
        path.source = len(path.taken)
        return first, path.choose(range(first + 1), "second")

    every = list(all_paths(run))
    begins = list(dict.fromkeys(tuple(path.taken[: path.source]) for path, _ in every))
    assert [made for _, made in all_paths(run, begins=begins)] == [made for _, made in every]
    assert len(every) == 6


def test_what_was_stopped_is_not_called_never_taken() -> None:
    one = prover._Prover(RewriteSubject(ClonedVector()), 0.0)
    one.may_validate = False
    proof = one.proof()
    assert proof.status == "undecided"
    assert "stopped after 0 s" in proof.reason


def test_classes_of_sizes_leave_nothing_out() -> None:
    sizes = (var("m"), var("n"))
    found: list[Any] = []
    assumptions = Assumptions()
    assumptions.add(le(0, sizes[0]))
    assumptions.add(le(1, sizes[1]))

    def look() -> bool:
        found.append(tuple(assumptions.items[-2:]))
        return True

    assert each_class(assumptions, sizes, 2, look)
    assert len(found) == 6  # three by two: the second is never 0
    for m, n in itertools.product(range(4), range(1, 4)):
        here = Evaluation({}, dict(zip(sizes, (m, n), strict=True)))
        assert sum(all(here._of(part) for part in one) for one in found) == 1, (m, n)
    assert len(assumptions.items) == 2


@pytest.mark.parametrize("rank", [1, 2])
def test_one_rank_and_one_dtype_are_looked_at_by_sizes(rank: int) -> None:
    class Narrow(ClonedVector):
        def where(self, x: Tensor) -> Any:
            return x.ndim == rank and x.dtype == torch.float32

    proof = xductor.prove(Narrow)
    assert proof.status == "proved", proof
    assert proof.instances >= prover.LEAST_DECIDED


class RemainderAsFmod(Joint):
    """Eager refuses to divide integers by the zeros that a trial of the source begins with."""

    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return aten.remainder(x, y)

    def where(self, x: Tensor, y: Tensor) -> Any:
        return all_of(x.dtype == torch.int64, y.dtype == torch.int64)

    def replacement(self, x: Tensor, y: Tensor) -> Any:
        return aten.fmod(x, y)


class TimesTheReciprocal(Joint):
    """The reciprocal of a number is an error of Python's for 0.0, for which eager divides."""

    def pattern(self, x: Tensor, s: float) -> Any:
        return aten.div(x, s)

    def where(self, x: Tensor) -> Any:
        return x.dtype == torch.float32

    def replacement(self, x: Tensor, s: float) -> Any:
        return aten.mul(x, 1 / s)


class IndexedRows(Joint):
    """An index may count from the end, the row of an `index_select` may not."""

    def pattern(self, x: Tensor, i: Tensor) -> Any:
        return aten.index(x, [i])

    def where(self, x: Tensor, i: Tensor) -> Any:
        return all_of(i.dtype == torch.int64, i.ndim == 1, x.ndim == 2)

    def replacement(self, x: Tensor, i: Tensor) -> Any:
        return aten.index_select(x, 0, i)


@pytest.mark.parametrize("wrong", [RemainderAsFmod, TimesTheReciprocal, IndexedRows])
def test_what_eager_takes_and_refuses(wrong: type[Joint]) -> None:
    assert xductor.prove(wrong).status == "refuted"
