"""The deliberately wrong rewrites about values and sizes are refuted by examples that fail."""

from __future__ import annotations

from pathlib import Path

import pytest

import xductor
from tests.transforms.proving.examples import assert_example_fails
from tests.wrong_rewrites.case import Wrong
from tests.wrong_rewrites.table import CASES
from xductor.transforms import Rewrite

#: Classes of what is no question of values: layouts, storage, writes, draws, order, devices.
_OTHERS = frozenset(
    (
        "stride changed at an output", "stride changed under as_strided", "alias to an input",
        "alias between outputs", "alias to an input lost", "alias to what is written",
        "view that is not one", "mutation crossed", "mutation dropped", "mutation added",
        "randomness reordered", "randomness dropped", "randomness drawn twice",
        "randomness added", "other distribution", "use before definition", "conj bit lost",
        "misspelt op", "misspelt argument", "unbound variable", "dynamic dim specialised",
    )
)  # fmt: skip
#: Over ops that move or combine elements; the others are about reductions and products.
_REDUCING = frozenset(
    (
        "softmax over another dim", "degrees of freedom", "empty tensor", "wrong count",
        "sum in a narrower type", "dropped scale", "wrong symbol", "keepdim dropped",
        "condition in the pattern", "numerics misspelt", "scatter that adds",
    )
)  # fmt: skip

_NOT_EXPRESSED = ("indices that are data", "has no meaning", "no meaning")


def _cases() -> list[Wrong]:
    return [case for case in CASES if case.kind not in _OTHERS]


@pytest.mark.parametrize("case", _cases(), ids=lambda case: case.name)
def test_is_refuted(case: Wrong, tmp_path: Path) -> None:
    made = case.loose() if case.level in ("class", "match") else case.make()
    assert isinstance(made, type)
    assert issubclass(made, Rewrite)
    proof = xductor.prove(made, seconds=40)
    assert proof.status == "refuted", proof
    if case.kind in _REDUCING:
        return
    if proof.counter_example is None:  # refuted by generated instances alone: it says why
        assert any(why in str(proof) for why in _NOT_EXPRESSED), proof
        return
    assert_example_fails(proof, tmp_path)


def test_there_are_enough_of_them() -> None:
    moving = [case for case in _cases() if case.kind not in _REDUCING]
    assert len(moving) >= 50
    assert {case.kind for case in CASES} >= _OTHERS | _REDUCING
