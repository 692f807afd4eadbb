"""Architectures of `transformers`, without code generation: the numbers of eager."""

from __future__ import annotations

import pytest

from tests.corpus import architectures
from tests.corpus.model_runs import Case, ModelRuns, Report, check_numbers

pytest.importorskip("transformers")
pytestmark = pytest.mark.filterwarnings("ignore")

#: An encoder with relative attention, a mixture of experts, and images: in every run of the tests.
_FEW = ("deberta-v2", "olmoe", "vit")
_ALL = [
    pytest.param(
        name,
        train,
        id=f"{name}-{'training' if train else 'inference'}",
        marks=() if name in _FEW else pytest.mark.slow,
    )
    for name in architectures.names()
    for train in (False, True)
    if architectures.META[name]["train"] or not train
]


@pytest.mark.parametrize(("name", "train"), _ALL)
def test_numbers_are_those_of_eager(name: str, train: bool) -> None:
    """Outputs, gradients and buffers; with symbolic sizes in inference."""
    case = Case(name, train, dynamic=not train, layers=2)
    report = Report(case.name, case.mode, case.shapes)
    check_numbers(ModelRuns(architectures, case), report)
    assert report.notes == []
    assert report.status in ("ok", "ok (double)")
