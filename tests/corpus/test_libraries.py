"""Programs of libraries, without code generation: the numbers of eager."""

from __future__ import annotations

import pytest

from tests.corpus import libraries
from tests.corpus.model_runs import Case, ModelRuns, Report, check_numbers

pytestmark = pytest.mark.filterwarnings("ignore")

#: Attention over the edges of a graph, a decoder, an image in other colours: in every run.
_FEW = ("graph_attention", "alibi", "hue_and_lightness")
_ALL = [
    pytest.param(
        name,
        train,
        id=f"{name}-{'training' if train else 'inference'}",
        marks=() if name in _FEW else pytest.mark.slow,
    )
    for name in libraries.names()
    for train in (False, True)
]


@pytest.mark.parametrize(("name", "train"), _ALL)
def test_numbers_are_those_of_eager(name: str, train: bool) -> None:
    """Outputs, gradients and buffers; with symbolic sizes in inference."""
    pytest.importorskip(libraries.META[name]["needs"])
    case = Case(name, train, dynamic=not train)
    report = Report(case.name, case.mode, case.shapes)
    check_numbers(ModelRuns(libraries, case), report)
    assert report.notes == []
    assert report.status in ("ok", "ok (double)")
