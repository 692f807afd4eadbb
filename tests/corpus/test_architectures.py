"""Architectures of `transformers`, without code generation: the numbers of eager."""

from __future__ import annotations

import pytest

from tests.corpus import architectures
from tests.corpus.model_runs import Case, ModelRuns, Report, check_numbers

pytest.importorskip("transformers")
pytestmark = pytest.mark.filterwarnings("ignore")

#: An encoder with relative attention, a mixture of experts, and images: in every run of the tests.
_FEW = ("deberta-v2", "olmoe", "vit")
#: Where eager and both compilers draw other numbers, or eager is no function of its inputs.
_ELSEWHERE = frozenset[str]()

_ALL = [
    pytest.param(name, marks=() if name in _FEW else pytest.mark.slow)
    for name in architectures.names()
]


@pytest.mark.parametrize("train", [False, True], ids=["inference", "training"])
@pytest.mark.parametrize("name", _ALL)
def test_numbers_are_those_of_eager(name: str, train: bool) -> None:
    """Outputs, gradients and buffers; with symbolic sizes in inference."""
    case = Case(name, train, dynamic=not train, layers=1)
    report = Report(case.name, case.mode, case.shapes)
    check_numbers(ModelRuns(architectures, case), report)
    assert report.notes == []
    assert report.status in ("ok", "ok (double)")
