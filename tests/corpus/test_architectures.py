"""Architectures of `transformers`, without code generation: the numbers of eager."""

from __future__ import annotations

import pytest

from tests.corpus import architectures
from tests.corpus.eager_numbers import assert_numbers_are_those_of_eager, direction
from tests.corpus.model_runs import Case

pytest.importorskip("transformers")
pytestmark = pytest.mark.filterwarnings("ignore")

#: An encoder with relative attention, a mixture of experts, and images: in every run of the tests.
_FEW = ("deberta-v2", "olmoe", "vit")
_ALL = [
    direction(name, train, slow=name not in _FEW)
    for name in architectures.names()
    for train in (False, True)
    if architectures.META[name]["train"] or not train
]


@pytest.mark.parametrize(("name", "train"), _ALL)
def test_numbers_are_those_of_eager(name: str, train: bool) -> None:
    """Outputs, gradients and buffers; with symbolic sizes in inference."""
    case = Case(name, train, dynamic=not train, layers=2)
    assert_numbers_are_those_of_eager(architectures, case)
