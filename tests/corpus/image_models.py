"""Image models of `timm` and `torchvision` with random weights, and layers with seldom options.

    python tests/corpus/run_models.py --models-file tests/corpus/image_models.py --no-codegen

A models file as `models.py` is. Of blocks of one kind and sizes that follow each other, `layers`
stay. What libraries set to a constant (weights of norms, scales of branches, biases) is random
too, since a branch with the factor 0 shows nothing.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils import parametrizations
from torch.utils._pytree import tree_leaves

from tests.corpus.models import Built, loss_of

_NARROW = {"embed_dim": 96, "num_heads": 3}
_SWIN = {"embed_dim": 24, "num_heads": (1, 2, 2, 4)}

#: One model or more for each module of `timm.models`: the size of its images, and what it is built
#: with.
TIMM: dict[str, tuple[int, dict[str, Any]]] = {
    "beitv2_base_patch16_224": (48, _NARROW),
    "botnet26t_256": (64, {}),
    "eca_halonext26ts": (64, {"self_attn_kwargs": {"block_size": 2, "halo_size": 1}}),
    "lambda_resnet26t": (64, {}),
    "bat_resnext26ts": (64, {"attn_kwargs": {"block_size": 2}}),
    "gcresnet33ts": (64, {}),
    "mobileone_s0": (64, {}),
    "repvgg_a0": (64, {}),
    "cait_xxs24_224": (48, {}),
    "coat_lite_tiny": (64, {}),
    "coat_tiny": (64, {}),
    "convit_tiny": (48, {}),
    "convmixer_768_32": (42, {}),
    "convnext_atto": (64, {}),
    "convnextv2_atto": (64, {}),
    "cpubone_nano": (64, {"head_widths": (64, 64)}),
    "crossvit_9_dagger_240": (120, {"embed_dim": (32, 64)}),
    "csatv2": (64, {}),
    "cs3darknet_focus_s": (64, {}),
    "darknet53": (64, {}),
    "cspnext_tiny": (64, {}),
    "davit_tiny": (64, {"embed_dims": (24, 48, 96, 192)}),
    "deepseek_vit_412m": (84, {**_NARROW, "img_size": 84}),
    "deit3_small_patch16_224": (48, _NARROW),
    "deit_tiny_distilled_patch16_224": (48, _NARROW),
    "densenetblur121d": (64, {"block_config": (2, 2, 2, 2)}),
    "dla34": (64, {}),
    "dla60_res2next": (64, {}),
    "dpn48b": (64, {"k_sec": (1, 2, 1, 1)}),
    "edgenext_xx_small": (64, {}),
    "efficientformer_l1": (224, {}),
    "efficientformerv2_s0": (64, {}),
    "efficientnet_b0": (64, {}),
    "tf_mixnet_s": (64, {}),
    "mobilenetv4_hybrid_medium": (64, {}),
    "efficientvim_m1": (64, {}),
    "efficientvit_b0": (64, {"head_widths": (64, 64)}),
    "efficientvit_m0": (64, {}),
    "eva02_tiny_patch14_224": (56, {}),
    "fasternet_t0": (64, {"drop_path_rate": 0.0}),
    "fastvit_sa12": (64, {}),
    "focalnet_tiny_srf": (64, {"drop_path_rate": 0.0}),
    "gcvit_xxtiny": (64, {"embed_dim": 32}),
    "gemma4_vit_167m": (96, {**_NARROW, "head_dim": 32, "img_size": 96}),
    "ghostnet_050": (64, {"drop_rate": 0.0}),
    "ghostnetv2_100": (64, {"drop_rate": 0.0}),
    "ghostnetv3_050": (64, {"drop_rate": 0.0}),
    "hardcorenas_a": (64, {}),
    "hgnetv2_b0": (64, {"head_hidden_size": 64}),
    "hiera_tiny_224": (64, {"embed_dim": 24}),
    "sam2_hiera_tiny": (64, {"embed_dim": 24, "global_att_blocks": (2, 4)}),
    "hrnet_w18_small": (64, {}),
    "iformer_t": (64, {}),
    "inception_next_atto": (64, {}),
    "inception_resnet_v2": (96, {}),
    "inception_v3": (128, {}),
    "inception_v4": (96, {}),
    "lcnetv2_small": (64, {"head_hidden_size": 64}),
    "levit_128s": (64, {}),
    "levit_conv_128s": (64, {}),
    "lowformer_b0": (64, {"head_widths": (64, 64)}),
    "test_mambaout": (64, {}),
    "test_coatnet": (64, {}),
    "coatnet_nano_rw_224": (64, {}),
    "test_maxvit": (64, {}),
    "poolformer_s12": (64, {}),
    "caformer_s18": (64, {}),
    "gmixer_12_224": (48, {}),
    "gmlp_ti16_224": (48, {}),
    "resmlp_12_224": (48, {}),
    "mixer_s32_224": (64, {}),
    "mobilenetv3_small_050": (64, {}),
    "mobilevit_xxs": (64, {}),
    "mobilevitv2_050": (64, {}),
    "mvitv2_tiny": (64, {}),
    "naflexvit_base_patch16_gap": (64, _NARROW),
    "nasnetalarge": (64, {"stem_size": 12, "num_features": 480}),
    "nest_tiny": (64, {"drop_path_rate": 0.0}),
    "nextvit_small": (64, {"drop_path_rate": 0.0}),
    "test_nfnet": (64, {}),
    "nf_regnet_b0": (64, {}),
    "pit_xs_224": (64, {}),
    "pvt_v2_b0": (64, {}),
    "qwen3_vit_88m": (64, {**_NARROW, "img_size": 64}),
    "rdnet_tiny": (64, {}),
    "regnetx_002": (64, {}),
    "regnety_002": (64, {}),
    "repghostnet_050": (64, {"drop_rate": 0.0}),
    "repvit_m0_9": (64, {}),
    "res2net50_14w_8s": (64, {"channels": (32, 32, 64, 64)}),
    "resnest14d": (64, {"channels": (32, 32, 64, 64)}),
    "resnet10t": (64, {}),
    "resnetaa50": (64, {"channels": (32, 32, 64, 64)}),
    "ecaresnet26t": (64, {"channels": (32, 32, 64, 64)}),
    "resnetv2_50x1_bit": (64, {"channels": (128, 128, 256, 256)}),
    "resnetv2_50d_frn": (64, {"channels": (128, 128, 256, 256)}),
    "resnetv2_50d_evos": (64, {"channels": (128, 128, 256, 256)}),
    "rexnet_100": (64, {"drop_rate": 0.0}),
    "selecsls42": (64, {}),
    "legacy_seresnet18": (64, {"drop_rate": 0.0}),
    "sequencer2d_s": (56, {"embed_dims": (24, 48, 48, 48), "hidden_sizes": (8, 12, 12, 12)}),
    "shvit_s1": (64, {}),
    "skresnet18": (64, {}),
    "starnet_s050": (64, {}),
    "swiftformer_xs": (64, {}),
    "swin_tiny_patch4_window7_224": (64, {**_SWIN, "window_size": 4, "drop_path_rate": 0.0}),
    "swinv2_tiny_window8_256": (64, {**_SWIN, "window_size": 4, "drop_path_rate": 0.0}),
    "swinv2_cr_tiny_224": (64, _SWIN),
    "tiny_vit_5m_224": (64, {}),
    "tnt_s_patch16_224": (48, {"embed_dim": 96}),
    "tresnet_m": (64, {"width_factor": 0.25}),
    "twins_svt_small": (64, {"embed_dims": (16, 32, 64, 64), "num_heads": (1, 2, 2, 4)}),
    "twins_pcpvt_small": (64, {"embed_dims": (16, 32, 64, 64), "num_heads": (1, 2, 2, 4)}),
    "vgg11_bn": (32, {"mlp_ratio": 0.0625}),
    "visformer_tiny": (64, {}),
    "vit_tiny_patch16_224": (48, _NARROW),
    "vit_tiny_r_s16_p8_224": (64, {}),
    "test_vit_relpos": (64, {}),
    "vit_srelpos_small_patch16_224": (48, {**_NARROW, "rel_pos_dim": 32}),
    "samvit_base_patch16_224": (64, {**_NARROW, "window_size": 3, "global_attn_indexes": (1,)}),
    "vitamin_small_224": (64, {}),
    "volo_d1_224": (64, {}),
    "ese_vovnet19b_slim": (64, {}),
    "legacy_xception": (64, {}),
    "xception41": (64, {}),
    "xcit_nano_12_p16_224": (48, {}),
}

_NO_BACKBONE = {"weights": None, "weights_backbone": None}
_MAXVIT: dict[str, Any] = {
    "input_size": (64, 64), "stem_channels": 16, "partition_size": 2, "block_channels": [16, 32],
    "block_layers": [2, 2], "head_dim": 8, "stochastic_depth_prob": 0.0,
}  # fmt: skip
_MVIT: dict[str, Any] = {
    "spatial_size": (64, 64), "temporal_size": 8, "residual_pool": True, "rel_pos_embed": True,
    "residual_with_cls_embed": False, "proj_after_attn": True,
}  # fmt: skip

#: The same for `torchvision.models`: where it is, the shape of what it is given for a batch of one,
#: and what it is built with.
TORCHVISION: dict[str, tuple[str, tuple[int, ...], dict[str, Any]]] = {
    "tv_alexnet": ("alexnet", (3, 64, 64), {}),
    "tv_convnext_tiny": ("convnext_tiny", (3, 64, 64), {}),
    "tv_densenet": ("densenet.DenseNet", (3, 64, 64), {"block_config": (2, 2, 2, 2)}),
    "tv_efficientnet_v2_s": ("efficientnet_v2_s", (3, 64, 64), {}),
    "tv_googlenet": ("googlenet", (3, 64, 64), {"aux_logits": False}),
    "tv_inception_v3": ("inception_v3", (3, 128, 128), {"aux_logits": False}),
    "tv_maxvit": ("maxvit.MaxVit", (3, 64, 64), _MAXVIT),
    "tv_mnasnet0_5": ("mnasnet0_5", (3, 64, 64), {}),
    "tv_mobilenet_v2": ("mobilenet_v2", (3, 64, 64), {}),
    "tv_mobilenet_v3_small": ("mobilenet_v3_small", (3, 64, 64), {}),
    "tv_regnet_y_400mf": ("regnet_y_400mf", (3, 64, 64), {}),
    "tv_resnet18": ("resnet18", (3, 64, 64), {}),
    "tv_resnext50": ("resnext50_32x4d", (3, 64, 64), {"replace_stride_with_dilation": (0, 1, 1)}),
    "tv_shufflenet_v2": ("shufflenet_v2_x0_5", (3, 64, 64), {}),
    "tv_squeezenet": ("squeezenet1_1", (3, 64, 64), {}),
    "tv_swin_t": ("swin_t", (3, 64, 64), {}),
    "tv_swin_v2_t": ("swin_v2_t", (3, 64, 64), {}),
    "tv_vit_b_16": ("vit_b_16", (3, 48, 48), {"image_size": 48}),
    "tv_deeplabv3": ("segmentation.deeplabv3_mobilenet_v3_large", (3, 64, 64), _NO_BACKBONE),
    "tv_fcn": ("segmentation.fcn_resnet50", (3, 64, 64), _NO_BACKBONE),
    "tv_lraspp": ("segmentation.lraspp_mobilenet_v3_large", (3, 64, 64), _NO_BACKBONE),
    "tv_r3d_18": ("video.r3d_18", (3, 4, 32, 32), {}),
    "tv_r2plus1d_18": ("video.r2plus1d_18", (3, 4, 32, 32), {}),
    "tv_mvit": ("video.mvit.MViT", (3, 8, 64, 64), _MVIT),
    "tv_swin3d_t": ("video.swin3d_t", (3, 4, 32, 32), {}),
    "tv_s3d": ("video.s3d", (3, 15, 209, 209), {}),
    "tv_raft_small": ("optical_flow.raft_small", (3, 128, 128), {}),
    "tv_retinanet": ("detection.retinanet_resnet50_fpn_v2", (3, 64, 64), _NO_BACKBONE),
    "tv_fcos": ("detection.fcos_resnet50_fpn", (3, 64, 64), _NO_BACKBONE),
    "tv_ssdlite": ("detection.ssdlite320_mobilenet_v3_large", (3, 96, 96), _NO_BACKBONE),
}

#: Heads, channels, kernels and strides of queries, of keys and values.
_MVIT_BLOCKS: tuple[tuple[Any, ...], ...] = (
    (1, 16, 32, (3, 3, 3), (3, 3, 3), (1, 1, 1), (1, 4, 4)),
    (2, 32, 32, (3, 3, 3), (3, 3, 3), (1, 2, 2), (1, 2, 2)),
    (2, 32, 48, (3, 3, 3), (3, 3, 3), (1, 1, 1), (1, 2, 2)),
)
_CLASSES = 16
_BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
#: What follows from how many alike parts there are is in other weights.
_WHOLE = ("hgnetv2_b0",)
LAYERS: dict[str, Callable[[], nn.Module]] = {}
#: Nets with batch norms of random numbers amplify what float32 rounds in training, by stock's
#: compile too. With symbolic heights and widths Dynamo takes minutes for most of them.
_OF_LIBRARIES = {"train_dtype": torch.float64, "batch_alone": True}
META: dict[str, dict[str, Any]] = {
    **{name: {"needs": "timm", **_OF_LIBRARIES} for name in TIMM},
    **{name: {"needs": "torchvision", **_OF_LIBRARIES} for name in TORCHVISION},
    "tv_raft_small": {"needs": "torchvision", "batch_alone": True},  # it has grids in float32
}


def names() -> list[str]:
    """The models: those of `timm`, those of `torchvision` (`tv_`), and layers alone."""
    return [*TIMM, *TORCHVISION, *LAYERS]


def build(name: str, *, layers: int = 1, batch: int = 2, seed: int = 0) -> Built:
    """A model with inputs for it; the same for the same seed. Raises what the libraries raise."""
    torch.manual_seed(seed)
    if name in LAYERS:
        return LAYERS[name](), (torch.randn(batch, 6, 13, 16),), {}
    if name in TIMM:
        size, options = TIMM[name]
        model, shape = _of_timm(name, size, options), (3, size, size)
    else:
        where, shape, options = TORCHVISION[name]
        model = _of_torchvision(where, options)
    if name not in _WHOLE:
        in_pairs = "swin" in name  # windows are shifted in every other block
        model = _shortened(model, max(layers, 2) if in_pairs else layers)
    images = tuple(torch.randn(4, *shape) for _ in range(1 + ("raft" in name)))
    named = {"num_flow_updates": 2} if "raft" in name else {}
    settled = _settled(FloatingOutputs(model), *images, **named)
    return settled, tuple(torch.randn(batch, *shape) for _ in images), named


class FloatingOutputs(nn.Module):
    """A model that returns all its floating-point outputs."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, *inputs: Tensor, **named: Any) -> list[Tensor]:
        leaves = tree_leaves(self.inner(*inputs, **named))
        return [one for one in leaves if isinstance(one, Tensor) and one.is_floating_point()]


class DetectionParts(nn.Module):
    """The backbone and the heads of a detector: what comes before boxes are chosen."""

    def __init__(self, detector: Any) -> None:
        super().__init__()
        self.backbone, self.head = detector.backbone, detector.head

    def forward(self, x: Tensor) -> Any:
        return self.head(list(self.backbone(x).values()))


def _of_timm(name: str, size: int, options: dict[str, Any]) -> nn.Module:
    declare_torchvision()
    timm: Any = importlib.import_module("timm")
    known = timm.models.get_pretrained_cfg(name)
    sized = {"img_size": size} if known.fixed_input_size else {}
    return timm.create_model(name, num_classes=_CLASSES, **{**sized, **options})


def _of_torchvision(where: str, options: dict[str, Any]) -> nn.Module:
    declare_torchvision()
    *parts, function = where.split(".")
    module = importlib.import_module(".".join(["torchvision.models", *parts]))
    named: dict[str, Any] = {} if "flow" in where else {"num_classes": _CLASSES}
    if "mvit" in where:
        named["block_setting"] = [module.MSBlockConfig(*each) for each in _MVIT_BLOCKS]
    model = getattr(module, function)(**named, **options)
    return DetectionParts(model) if "detection" in where else model


def declare_torchvision() -> None:
    """Declare the two ops without which `torchvision` cannot be imported, if they are missing.

    A `torchvision` that was built for another torch does not load its own. No model here calls
    them. Nothing is done where the package is missing.
    """
    try:
        importlib.import_module("torchvision")
    except ImportError:
        return
    except RuntimeError:
        for op in ("nms", "qnms"):
            schema = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
            torch.library.define(f"torchvision::{op}", schema)


def _shortened(model: nn.Module, layers: int) -> nn.Module:
    """The model with only `layers` of blocks that are alike and follow each other."""
    for child in model.children():
        _shortened(child, layers)
    if isinstance(model, nn.Sequential | nn.ModuleList):
        kept: list[nn.Module] = []
        for block in model:
            last = kept[-layers:]
            repeated = len(last) == layers and all(_alike(block, one) for one in last)
            if not (repeated and _is_block(block)):
                kept.append(block)
        if len(kept) < len(model):
            del model[len(kept) :]
            for index, block in enumerate(kept):
                model[index] = block
    return model


def _is_block(module: nn.Module) -> bool:
    """Whether it has parts of its own, as a convolution with its norm has not."""
    return sum(bool(list(one.parameters(recurse=False))) for one in module.modules()) > 2


def _alike(one: nn.Module, other: nn.Module) -> bool:
    return _shapes(one) == _shapes(other)


def _shapes(module: nn.Module) -> list[tuple[str, torch.Size]]:
    return [(name, tensor.shape) for name, tensor in module.state_dict().items()]


def _settled(model: nn.Module, *images: Tensor, **named: Any) -> nn.Module:
    """The model with random numbers for what is constant in it, and with the statistics of images,
    as if it had been trained; without dropout. In evaluation mode."""
    for tensor in model.parameters():
        if tensor.numel() and bool((tensor == tensor.flatten()[0]).all()):
            one = bool(tensor.flatten()[0] == 1)
            nn.init.uniform_(tensor, 0.5, 1.5) if one else nn.init.normal_(tensor, std=0.1)
    modules: list[Any] = list(model.modules())
    for one in modules:
        if isinstance(one, nn.Dropout | nn.Dropout3d) or type(one).__name__ == "StochasticDepth":
            one.p = 0.0
    norms = [one for one in modules if isinstance(one, _BATCH_NORMS)]
    momenta = [norm.momentum for norm in norms]
    for norm in norms:
        norm.momentum = 1.0
    with torch.no_grad():
        model.train()(*images, **named)
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum
        if norm.running_var is not None:
            norm.running_var.clamp_(0.1)
    return model.eval()


# ------------------------------------------------------------------- layers


def _layers(name: str) -> Callable[[Callable[[], nn.Module]], Callable[[], nn.Module]]:
    """Register a net for images of 6 channels, 13 by 16."""

    def register(builder: Callable[[], nn.Module]) -> Callable[[], nn.Module]:
        LAYERS[name] = builder
        META[name] = {"needs": None}
        return builder

    return register


class _Each(nn.Module):
    """What each of several layers gives for the same image, after a convolution."""

    def __init__(self, *layers: nn.Module | Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.first = nn.Conv2d(6, 6, 3, padding=1)
        self.layers = nn.ModuleList(one for one in layers if isinstance(one, nn.Module))
        self.functions = [one for one in layers if not isinstance(one, nn.Module)]

    def forward(self, x: Tensor) -> list[Tensor]:
        x = self.first(x)
        return [*[layer(x) for layer in self.layers], *[each(x) for each in self.functions]]


@_layers("padded_convolutions")
def _padded_convolutions() -> nn.Module:
    """Padding by name and by kinds that are ops of their own, even kernels, groups, dilations."""
    return _Each(
        nn.Conv2d(6, 8, 3, padding="same", dilation=2),
        nn.Conv2d(6, 8, (2, 4), padding="same"),
        nn.Conv2d(6, 6, 5, padding="same", groups=6, bias=False),
        nn.Conv2d(6, 6, 3, padding="valid", groups=3),
        nn.Conv2d(6, 8, 3, padding=1, padding_mode="reflect"),
        nn.Conv2d(6, 8, 3, padding=(2, 1), padding_mode="circular"),
        nn.Conv2d(6, 8, 3, padding=1, padding_mode="replicate", stride=2),
        nn.ConvTranspose2d(6, 4, 3, stride=2, padding=1, output_padding=1),
        nn.ConvTranspose2d(6, 6, (3, 2), stride=(3, 1), groups=3, dilation=(1, 2), bias=False),
        nn.Sequential(nn.ZeroPad2d((1, 2, 0, -1)), nn.Conv2d(6, 4, 3)),
        nn.Sequential(nn.ConstantPad2d(2, 0.5), nn.Conv2d(6, 4, 3, stride=3)),
    )


@_layers("poolings")
def _poolings() -> nn.Module:
    """Ceilings, dilations, divisors, adaptive sizes that do not divide, and powers."""
    return _Each(
        nn.MaxPool2d(3, 2, 1, ceil_mode=True),
        nn.MaxPool2d(2, 1, dilation=2),
        nn.AvgPool2d(3, 2, 1, ceil_mode=True, count_include_pad=False),
        nn.AvgPool2d(2, 1, divisor_override=3),
        nn.AdaptiveAvgPool2d((5, None)),
        nn.AdaptiveMaxPool2d((3, 7)),
        nn.AdaptiveAvgPool2d(1),
        nn.LPPool2d(2, 3, stride=2),
        lambda x: F.avg_pool2d(F.pad(x, (1, 1, 1, 1), mode="reflect"), 3, 2),
        lambda x: F.max_pool2d(x, x.shape[-2:]),
        lambda x: F.avg_pool1d(x.flatten(2), 4, 2, 1),
        lambda x: x.amax((2, 3), keepdim=True) + x.mean((2, 3), keepdim=True),
    )


@_layers("image_norms")
def _image_norms() -> nn.Module:
    """Norms over groups, instances, channels and neighbours, with and without weights."""
    return _Each(
        nn.GroupNorm(3, 6),
        nn.GroupNorm(1, 6, affine=False),
        nn.GroupNorm(6, 6, eps=1e-3),
        nn.InstanceNorm2d(6),
        nn.InstanceNorm2d(6, affine=True, track_running_stats=True),
        nn.BatchNorm2d(6, affine=False),
        nn.BatchNorm2d(6, track_running_stats=False),
        nn.BatchNorm2d(6, momentum=None, eps=1e-3),
        nn.LocalResponseNorm(3, k=2.0),
        lambda x: F.layer_norm(x.permute(0, 2, 3, 1), (6,)).permute(0, 3, 1, 2),
        lambda x: F.rms_norm(x.permute(0, 2, 3, 1), (6,), eps=1e-5).movedim(-1, 1),
        lambda x: F.normalize(x, dim=1, eps=1e-6),
        lambda x: (x - x.mean(1, True)) * torch.rsqrt(x.var(1, False, keepdim=True) + 1e-6),
    )


@_layers("resamplings")
def _resamplings() -> nn.Module:
    """Interpolations of each kind, up and down, and shuffles."""
    sizes: list[dict[str, Any]] = [
        {"scale_factor": 2.0, "mode": "nearest"},
        {"size": (9, 7), "mode": "nearest-exact"},
        {"scale_factor": (1.5, 0.5), "mode": "bilinear", "align_corners": False},
        {"size": (26, 31), "mode": "bilinear", "align_corners": True},
        {"size": (8, 8), "mode": "bilinear", "antialias": True},
        {"size": (20, 10), "mode": "bicubic"},
        {"size": (7, 9), "mode": "bicubic", "antialias": True},
        {"size": (5, 4), "mode": "area"},
        {"scale_factor": 0.7, "mode": "bilinear", "recompute_scale_factor": True},
    ]
    return _Each(
        *[lambda x, given=given: F.interpolate(x, **given) for given in sizes],
        lambda x: F.interpolate(x, size=x.shape[-1] * 2, mode="nearest"),
        lambda x: F.pixel_unshuffle(x[..., :12, :], 2),
        lambda x: F.pixel_shuffle(x[:, :4], 2),
        lambda x: F.channel_shuffle(x, 3),
        lambda x: x.unflatten(1, (2, 3)).transpose(1, 2).flatten(1, 2),
    )


class _Sampled(nn.Module):
    """Images sampled where a convolution says, and where an affine map says."""

    def __init__(self) -> None:
        super().__init__()
        self.offsets = nn.Conv2d(6, 2, 3, padding=1)
        self.theta = nn.Parameter(torch.tensor([[0.9, 0.1, 0.05], [-0.2, 1.1, 0.1]]))

    def forward(self, x: Tensor) -> list[Tensor]:
        near = torch.tanh(self.offsets(x)).permute(0, 2, 3, 1)
        grid = F.affine_grid(self.theta.expand(len(x), 2, 3), list(x.shape), align_corners=False)
        return [
            F.grid_sample(x, near, align_corners=False),
            F.grid_sample(x, near * 1.5, padding_mode="border", align_corners=True),
            F.grid_sample(x, grid, mode="bicubic", padding_mode="reflection", align_corners=False),
            F.grid_sample(x, grid, mode="nearest", align_corners=True),
        ]


@_layers("grid_samples")
def _grid_samples() -> nn.Module:
    return _Sampled()


@_layers("windows")
def _windows() -> nn.Module:
    """Unfolding, folding and windows cut by views, strides and rolls."""

    def folded(x: Tensor) -> Tensor:
        columns = F.unfold(x, 3, padding=1, stride=2)
        return F.fold(columns, x.shape[-2:], 3, padding=1, stride=2)

    def rolled(x: Tensor) -> Tensor:
        y = torch.roll(x[:, :, :12], (-2, -1), (2, 3))
        batch, channels, height, width = y.shape
        y = y.view(batch, channels, height // 4, 4, width // 4, 4).permute(0, 2, 4, 3, 5, 1)
        return y.reshape(-1, 16, channels).softmax(1)

    return _Each(
        nn.Unfold((2, 3), dilation=(1, 2), stride=2),
        folded,
        rolled,
        lambda x: x.unfold(2, 4, 3).unfold(3, 4, 4).amax((-1, -2)),
        lambda x: x[..., 1::2, 1::2] - x[..., :-1:2, ::2],
        lambda x: x.flip(-1).rot90(1, (2, 3)).diff(dim=2),
        lambda x: F.conv2d(x, x.new_ones(6, 1, 3, 3) / 9, groups=6, stride=2),
    )


@_layers("reparametrised")
def _reparametrised() -> nn.Module:
    """Weights that are computed: split into length and direction, orthogonal, standardised."""

    class Standardised(nn.Conv2d):
        def forward(self, input: Tensor) -> Tensor:
            flat = self.weight.reshape(1, self.out_channels, -1)
            weight = F.batch_norm(flat, None, None, training=True, eps=1e-6)
            return self._conv_forward(input, weight.reshape_as(self.weight), self.bias)

    return _Each(
        parametrizations.weight_norm(nn.Conv2d(6, 8, 3)),
        parametrizations.weight_norm(nn.ConvTranspose2d(6, 4, 2, 2), dim=1),
        Standardised(6, 8, 3, padding=1),
    )


@_layers("activations")
def _activations() -> nn.Module:
    """Activations of image models, some in place after a convolution with its norm."""
    kinds = [nn.ReLU6, nn.Hardswish, nn.Hardsigmoid, nn.SiLU, nn.Mish, nn.ELU, nn.LeakyReLU]
    after = [
        nn.Sequential(nn.Conv2d(6, 4, 3), nn.BatchNorm2d(4), kind(inplace=True)) for kind in kinds
    ]
    return _Each(
        *after,
        nn.Sequential(nn.Conv2d(6, 4, 1), nn.GLU(1)),
        nn.PReLU(6),
        nn.Softmax2d(),
        nn.GELU(approximate="tanh"),
        lambda x: x * F.softplus(x, beta=2.0, threshold=3.0),
        lambda x: 0.8944 * F.relu(x).square() - 0.4472,
        lambda x: x * torch.sigmoid(1.702 * x) + F.hardtanh(x, -0.3, 0.4),
    )


__all__ = [
    "LAYERS",
    "META",
    "TIMM",
    "TORCHVISION",
    "build",
    "declare_torchvision",
    "loss_of",
    "names",
]
