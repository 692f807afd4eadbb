"""Image models and layers of theirs, without code generation: the numbers of eager."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor
from torch._inductor import config

from tests.corpus import image_models
from tests.corpus.capture import passes_only
from tests.corpus.eager_numbers import assert_numbers_are_those_of_eager, direction
from tests.corpus.frozen_numbers import Distances, distance
from tests.corpus.model_runs import OUR_OPTIONS, Case

pytestmark = pytest.mark.filterwarnings("ignore")

#: A convolutional net, attention, and layers: in every run of the tests.
_FEW = ("resnet10t", "vit_tiny_patch16_224", "windows")
#: What is compared; `run_models.py` runs the others of the file.
_COMPARED = (
    "beitv2_base_patch16_224", "botnet26t_256", "eca_halonext26ts", "lambda_resnet26t",
    "bat_resnext26ts", "cait_xxs24_224", "coat_lite_tiny", "convmixer_768_32", "convnext_atto",
    "crossvit_9_dagger_240", "cspnext_tiny", "davit_tiny", "deit_tiny_distilled_patch16_224",
    "densenetblur121d", "dpn48b", "edgenext_xx_small", "efficientnet_b0", "efficientvit_m0",
    "eva02_tiny_patch14_224", "focalnet_tiny_srf", "ghostnetv2_100", "sam2_hiera_tiny",
    "levit_128s", "levit_conv_128s", "test_coatnet", "caformer_s18", "gmixer_12_224",
    "mixer_s32_224", "mvitv2_tiny", "naflexvit_base_patch16_gap", "test_nfnet", "nf_regnet_b0",
    "qwen3_vit_88m", "repghostnet_050", "resnet10t", "resnetaa50", "resnetv2_50d_frn",
    "resnetv2_50d_evos", "legacy_seresnet18", "sequencer2d_s", "starnet_s050", "swiftformer_xs",
    "swinv2_cr_tiny_224", "tiny_vit_5m_224", "twins_svt_small", "twins_pcpvt_small",
    "vit_tiny_patch16_224", "vit_tiny_r_s16_p8_224", "samvit_base_patch16_224",
    "vitamin_small_224", "legacy_xception", "tv_convnext_tiny", "tv_densenet", "tv_inception_v3",
    "tv_maxvit", "tv_mobilenet_v3_small", "tv_shufflenet_v2", "tv_squeezenet", "tv_vit_b_16",
    "tv_r3d_18",
    *image_models.LAYERS,
)  # fmt: skip
#: What is compared with a symbolic batch size too: Dynamo is slow with those of many others.
_SYMBOLIC = (
    "beitv2_base_patch16_224", "botnet26t_256", "cait_xxs24_224", "convmixer_768_32",
    "convnext_atto", "deit_tiny_distilled_patch16_224", "eca_halonext26ts",
    "eva02_tiny_patch14_224", "gmixer_12_224", "lambda_resnet26t", "naflexvit_base_patch16_gap",
    "resnet10t", "samvit_base_patch16_224", "sequencer2d_s", "starnet_s050", "test_coatnet",
    "tv_convnext_tiny", "tv_densenet", "vit_tiny_patch16_224", "vitamin_small_224",
    *image_models.LAYERS,
)  # fmt: skip
_ALL = [
    direction(name, train, slow=name not in _FEW)
    for name in _COMPARED
    for train in (False, True)
    if train or name in _SYMBOLIC
]


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
    assert_numbers_are_those_of_eager(image_models, case)


@pytest.mark.slow
@pytest.mark.skipif(not torch._C._has_mkldnn, reason="no oneDNN")
@pytest.mark.parametrize("name", _COMPARED)
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
