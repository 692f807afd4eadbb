"""Image models and layers of theirs, without code generation: the numbers of eager."""

from __future__ import annotations

import pytest

from tests.corpus import image_models
from tests.corpus.model_runs import Case, ModelRuns, Report, check_numbers

pytestmark = pytest.mark.filterwarnings("ignore")

#: A convolutional net, attention in windows, and layers: in every run of the tests.
_FEW = ("resnet10t", "swin_tiny_patch4_window7_224", "windows")
_ALL = [
    pytest.param(
        name,
        train,
        id=f"{name}-{'training' if train else 'inference'}",
        marks=() if name in _FEW else pytest.mark.slow,
    )
    for name in image_models.names()
    for train in (False, True)
]


@pytest.mark.parametrize(("name", "train"), _ALL)
def test_numbers_are_those_of_eager(name: str, train: bool) -> None:
    """Outputs, gradients and buffers; with symbolic sizes in inference."""
    needs = image_models.META[name]["needs"]
    if needs is not None:
        image_models.declare_torchvision()
        pytest.importorskip(needs)
    case = Case(name, train, dynamic=not train)
    report = Report(case.name, case.mode, case.shapes)
    check_numbers(ModelRuns(image_models, case), report)
    assert report.notes == []
    assert report.status in ("ok", "ok (double)")
