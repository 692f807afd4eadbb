"""Elements at indices that are themselves elements: the prover ends, and tells right from wrong."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import xductor
from tests.transforms.proving.examples import Joint
from xductor import Tensor
from xductor.ir import aten
from xductor.transforms.proving.prover import _Prover
from xductor.transforms.proving.solving.equality import Budget, Comparison
from xductor.transforms.proving.solving.solver import Assumptions
from xductor.transforms.proving.subjects import RewriteSubject
from xductor.transforms.semantics.terms import INT, Term, call, element, eq, ite, make, var

I64, F32 = torch.int64, torch.float32
M, N = var("m"), var("n")


class IndexedTwice(Joint):
    """Indices are taken for ones that lead to themselves."""

    def pattern(self, x: Tensor, i: Tensor) -> Any:
        return aten.index(aten.index(x, [i]), [i])

    def replacement(self, x: Tensor, i: Tensor) -> Any:
        return aten.index(x, [i])


class IndexedTwiceInVectors(IndexedTwice):
    def where(self, x: Tensor, i: Tensor) -> Any:
        return x.ndim == 1 and i.ndim == 1 and i.dtype == torch.int64


class ManyNegations(Joint):
    """An even number of them is none: right, and deeper than Python's stack."""

    def pattern(self, x: Tensor) -> Any:
        return aten.clone(x)

    def where(self, x: Tensor) -> Any:
        return x.is_floating_point and x.ndim == 1

    def replacement(self, x: Tensor) -> Any:
        made: Any = x
        for _ in range(4000):
            made = aten.neg(made)
        return made


def indexed(at: Term, times: int = 1) -> Term:
    """x at what i holds there, that many times over."""
    for _ in range(times):
        at = make("value", (element("i", (at,), I64),), INT)
    return element("x", (at,), F32)


def product(*items: Term) -> Term:
    return call("mul", items, F32)


def answer(a: Term, b: Term) -> str:
    return Comparison(Assumptions(), "bits", Budget(), {}).related(a, b)


@pytest.mark.parametrize("times", [2, 3, 5])
def test_indices_of_indices_are_others(times: int) -> None:
    assert answer(indexed(M, times), indexed(M)) == "different"
    assert answer(indexed(M), indexed(M, times)) == "different"


def test_products_of_them_commute() -> None:
    once, twice = indexed(M), indexed(M, 2)
    assert answer(product(once, twice), product(twice, once)) == "equal"
    assert answer(product(once, twice), product(once, once)) == "different"


def test_what_is_one_element_in_one_case_is_two_in_another() -> None:
    same = eq(M, N)
    m, n = indexed(M, 2), indexed(N, 2)
    assert answer(ite(same, product(m, n), m), ite(same, product(n, n), m)) == "equal"
    assert answer(ite(same, product(m, n), m), ite(same, product(n, n), n)) == "different"


def test_indices_taken_for_fixed_points_are_refuted() -> None:
    assert xductor.prove(IndexedTwice).status == "refuted"


def test_what_differs_at_nested_indices_is_refuted() -> None:
    proof = xductor.prove(IndexedTwiceInVectors)
    assert proof.status == "refuted", proof


def test_what_is_too_deep_is_undecided_with_its_reason() -> None:
    prover = _Prover(RewriteSubject(ManyNegations()), 10.0)
    prover.may_validate = False
    proof = prover.proof()
    assert proof.status == "undecided"
    assert "nested more deeply" in proof.reason
