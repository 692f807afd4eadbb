"""Image models and layers of theirs, without code generation: the numbers of eager."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor
from torch._inductor import config

from tests.corpus import image_models
from tests.corpus.capture import passes_only
from tests.corpus.frozen_numbers import Distances, distance
from tests.corpus.model_runs import OUR_OPTIONS, Case, ModelRuns, Report, check_numbers

pytestmark = pytest.mark.filterwarnings("ignore")

#: A convolutional net, attention, and layers: in every run of the tests.
_FEW = ("resnet10t", "vit_tiny_patch16_224", "windows")
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
#: What can be computed in double precision.
_IN_DOUBLE = [name for name in image_models.names() if name != "tv_raft_small"]


def _need(name: str) -> None:
    needs = image_models.META[name]["needs"]
    if needs is not None:
        image_models.declare_torchvision()
        pytest.importorskip(needs)


@pytest.mark.parametrize(("name", "train"), _ALL)
def test_numbers_are_those_of_eager(name: str, train: bool) -> None:
    """Outputs, gradients and buffers; with a symbolic batch size in inference."""
    _need(name)
    case = Case(name, train, dynamic=not train)
    report = Report(case.name, case.mode, case.shapes)
    check_numbers(ModelRuns(image_models, case), report)
    assert report.notes == []
    assert report.status in ("ok", "ok (double)")


@pytest.mark.slow
@pytest.mark.skipif(not torch._C._has_mkldnn, reason="no oneDNN")
@pytest.mark.parametrize("name", _IN_DOUBLE)
def test_frozen_numbers_are_near_those_in_double(name: str) -> None:
    """As near as eager's, times what weights that are rounded once more may add."""
    _need(name)
    model, images, named = image_models.build(name)
    with torch.no_grad():
        with config.patch(freezing=True), passes_only():
            compiled = torch.compile(model, backend="xductor", options={**OUR_OPTIONS})
            found: list[Tensor] = compiled(*images, **named)
        eager: list[Tensor] = model(*images, **named)
        wide = copy.deepcopy(model).double()
        wanted: list[Tensor] = wide(*[image.double() for image in images], **named)
    for ours, theirs, exact in zip(found, eager, wanted, strict=True):
        distances = Distances(distance(theirs, exact), 0.0, distance(ours, exact))
        assert distances.are_near("float32"), distances
