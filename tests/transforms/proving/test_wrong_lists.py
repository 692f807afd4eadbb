"""What is wrong about lists, sizes, ranks and dims is certified by nothing, and by an example."""

from __future__ import annotations

from pathlib import Path

import pytest

import xductor
from tests.transforms.proving.examples import assert_example_fails
from tests.transforms.proving.wrong_lists import WRONG


@pytest.mark.parametrize("rewrite", WRONG, ids=lambda one: one.__name__)
def test_is_refuted_by_the_prover(rewrite: type[xductor.Rewrite], tmp_path: Path) -> None:
    proof = xductor.prove(rewrite, seconds=40)
    assert proof.status == "refuted", proof
    assert_example_fails(proof, tmp_path)  # the prover's own, and no generated instance


def test_there_are_enough_of_them() -> None:
    assert len(WRONG) >= 18
