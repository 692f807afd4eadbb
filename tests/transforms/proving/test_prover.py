"""What the prover says of small rewrites, right and wrong."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

import xductor
from tests.transforms.proving import examples
from tests.transforms.proving.examples import assert_example_fails
from xductor.backend.cli.main import main
from xductor.transforms.proving.solving import solver


@pytest.mark.parametrize(
    "rewrite",
    [
        examples.TimesOne,
        examples.MinusZero,
        examples.SliceOfSlice,
        examples.CatOfSplit,
        examples.KnownOnly,
    ],
)
def test_proved(rewrite: type[xductor.Rewrite]) -> None:
    proof = xductor.prove(rewrite, seconds=60)
    assert proof.status == "proved", proof
    assert proof.needed == "exact"
    assert proof.instances
    assert "refuted" in proof.mutations.values()


def test_what_it_says() -> None:
    proof = xductor.prove(examples.BmmToMm)
    assert proof.ranks == (3, 3)
    assert {"float32", "bfloat16", "int64"} <= set(proof.dtypes)
    assert proof.status == "proved up to re-association"
    assert {"index maps", "sums"} <= set(proof.engines)
    assert proof.mutations["condition dropped"] == "refuted"
    assert "all sizes at ranks 3 to 3" in str(proof)


@pytest.mark.parametrize(
    "rewrite",
    [
        examples.PermutedBackwards,
        examples.PlusZero,
        examples.BmmForgotten,
        examples.SliceOfSliceForgotten,
        examples.ScaleTwice,
        examples.HalfBfloat,
    ],
)
def test_refuted_by_an_example_that_fails(rewrite: type[xductor.Rewrite], tmp_path: Path) -> None:
    assert_example_fails(xductor.prove(rewrite, seconds=60), tmp_path)


def test_numerics_must_be_what_the_proof_needed() -> None:
    assert xductor.prove(examples.PlusZero).status == "refuted"
    proof = xductor.prove(examples.PlusZeroDeclared)
    assert (proof.status, proof.needed) == ("proved", "exact up to the sign of zero")


def test_the_example_is_small_and_shows_both_results() -> None:
    example = xductor.prove(examples.PlusZero).counter_example
    assert example is not None
    assert [one.numel() for one in example.inputs.values()] == [1]
    assert torch.equal(example.before[0].signbit(), torch.tensor(False))
    assert torch.equal(example.after[0].signbit(), torch.tensor(True))


def test_a_rewrite_that_is_never_taken_is_an_error() -> None:
    proof = xductor.prove(examples.NeverTaken)
    assert proof.status == "vacuous"
    with pytest.raises(xductor.ProofError, match="vacuous"):
        proof.raise_if_wrong()


def test_a_proof_of_a_few_instances_is_none() -> None:
    proof = xductor.prove(examples.SliceOfSlice, seconds=0.0)
    assert proof.status == "validated"
    assert "stopped after 0 s" in proof.reason
    assert "symbolic instances only" in proof.reason


def test_nothing_is_spent_on_one_dtype_where_all_are_asked_for() -> None:
    # `where` asks for the dtype; instances are those of all dtypes from the first one on.
    proof = xductor.prove(examples.BmmToMm, seconds=0.0)
    assert "decided on 1 symbolic instances" in proof.reason
    assert proof.dtypes != ("any",)


def test_an_op_without_a_meaning_is_named_and_never_proved() -> None:
    proof = xductor.prove(examples.NoSuchMeaning)
    assert proof.status == "validated"
    assert "aten.special_i0.default has no meaning yet" in proof.reason
    assert not proof.ok


def test_without_z3(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    solver.z3_module.cache_clear()
    monkeypatch.setitem(sys.modules, "z3", None)
    try:
        with pytest.raises(solver.ProverUnavailable, match=r"pip install 'xductor\[prove\]'"):
            xductor.prove(examples.TimesOne)
        assert main(["prove", "pointless_view"]) == 2
        assert "z3-solver" in capsys.readouterr().err
    finally:
        solver.z3_module.cache_clear()


def test_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDUCTOR_PROOFS", str(tmp_path / "cache"))
    assert main(["prove", "remove_noop_ops:aten.clone.default"]) == 0
    assert "proved" in capsys.readouterr().out
    assert main(["prove", "remove_noop_ops:aten.clone.default"]) == 0
    assert "(kept)" in capsys.readouterr().out
    name = f"{examples.__file__}:PlusZero"
    assert main(["prove", name, "--scripts", str(tmp_path / "scripts")]) == 1
    assert "refuted" in capsys.readouterr().out
    assert (tmp_path / "scripts" / "plus_zero.py").exists()
