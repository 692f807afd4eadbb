"""Small models and functions of libraries beside `transformers`, with random weights.

    python tests/corpus/run_models.py --models-file tests/corpus/libraries.py --no-codegen

A models file as `models.py` is; `META[name]["needs"]` names the library, imported when a program
is built.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from tests.corpus.models import Built, loss_of

Inputs = Callable[[int], tuple[tuple[Any, ...], dict[str, Any]]]
Builder = Callable[[int], Built]

BUILDERS: dict[str, Builder] = {}
META: dict[str, dict[str, Any]] = {}


class Tensors(nn.Module):
    """A module or a function of a library that returns the tensors of its outputs."""

    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, *args: Any, **kwargs: Any) -> list[Tensor]:
        leaves = tree_leaves(self.inner(*args, **kwargs))
        return [one for one in leaves if isinstance(one, Tensor)]


def _add(name: str, library: str, builder: Builder, *, train: bool = True) -> None:
    BUILDERS[name] = builder
    META[name] = {"train": train, "needs": library}


def _module(path: str, inputs: Inputs, /, *args: Any, **kwargs: Any) -> Builder:
    """A class by its path, made with these arguments."""

    def build(batch: int) -> Built:
        package, _, name = path.rpartition(".")
        made = getattr(importlib.import_module(package), name)(*args, **kwargs)
        for weight in made.parameters():  # what begins at zero would hide what comes before it
            if weight.dim() and not weight.detach().any():
                nn.init.normal_(weight, std=0.05)
        return Tensors(made), *inputs(batch)

    return build


def _function(path: str, inputs: Inputs, /, **kwargs: Any) -> Builder:
    """A function by its path, with these arguments beside the inputs."""

    def build(batch: int) -> Built:
        package, _, name = path.rpartition(".")
        function = getattr(importlib.import_module(package), name)
        args, named = inputs(batch)
        return Tensors(function), args, {**named, **kwargs}

    return build


def _lengths(batch: int, size: int) -> Tensor:
    """A mask of texts of several lengths."""
    return torch.arange(size)[None] < (torch.arange(batch) % (size - 1) + 2)[:, None]


# ------------------------------------------------------------------- diffusers

_BLOCKS: dict[str, Any] = {
    "block_out_channels": (8, 16),
    "layers_per_block": 1,
    "norm_num_groups": 4,
}
_TUPLES = {"return_dict": False}


def _images(channels: int, size: int = 8) -> Inputs:
    return lambda b: ((torch.randn(b, channels, size, size),), _TUPLES)


def _noised(batch: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (torch.randn(batch, 4, 8, 8), torch.randint(0, 1000, (batch,))), _TUPLES


def _noised_with_text(batch: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
    args, named = _noised(batch)
    return (*args, torch.randn(batch, 5, 12)), named


def _text_and_vector(batch: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
    image, step = _noised(batch)[0]
    return (image, torch.randn(batch, 5, 12), torch.randn(batch, 6), step), _TUPLES


def _patches(batch: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
    args = torch.randn(batch, 6, 4), torch.randn(batch, 5, 12), torch.randn(batch, 6)
    ids = {"img_ids": torch.randn(6, 3), "txt_ids": torch.zeros(5, 3)}
    return (*args, torch.rand(batch)), {**ids, "guidance": torch.rand(batch), **_TUPLES}


def _add_diffusion() -> None:
    coded = {
        "down_block_types": ("DownEncoderBlock2D",) * 2,
        "up_block_types": ("UpDecoderBlock2D",) * 2,
        "latent_channels": 4,
    }
    crossed: dict[str, Any] = {
        "down_block_types": ("CrossAttnDownBlock2D", "DownBlock2D"),
        "cross_attention_dim": 12,
        "attention_head_dim": 4,
    }
    heads = {"num_attention_heads": 2, "attention_head_dim": 8, "in_channels": 4}
    found = {
        "unet": _module(
            "diffusers.UNet2DModel", _noised, in_channels=4, out_channels=4, attention_head_dim=4,
            down_block_types=("DownBlock2D", "AttnDownBlock2D"),
            up_block_types=("AttnUpBlock2D", "UpBlock2D"), **_BLOCKS,
        ),
        "unet_with_text": _module(
            "diffusers.UNet2DConditionModel", _noised_with_text, sample_size=8,
            up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"), **crossed, **_BLOCKS,
        ),
        "autoencoder": _module("diffusers.AutoencoderKL", _images(3, 16), **coded, **_BLOCKS),
        "codebook_autoencoder": _module(
            "diffusers.VQModel", _images(3, 16), num_vq_embeddings=16, **coded, **_BLOCKS
        ),
        "diffusion_transformer": _module(
            "diffusers.SD3Transformer2DModel", _text_and_vector, sample_size=8, num_layers=2,
            joint_attention_dim=12, caption_projection_dim=16, pooled_projection_dim=6,
            out_channels=4, pos_embed_max_size=8, dual_attention_layers=(0,), qk_norm="rms_norm",
            **heads,
        ),
        "flow_transformer": _module(
            "diffusers.FluxTransformer2DModel", _patches, num_layers=1, num_single_layers=1,
            joint_attention_dim=12, pooled_projection_dim=6, guidance_embeds=True,
            axes_dims_rope=(2, 2, 4), **heads,
        ),
    }  # fmt: skip
    for name, builder in found.items():
        _add(name, "diffusers", builder)


# ------------------------------------------------------------------- x_transformers

#: Options of a decoder, each by itself.
_DECODERS: dict[str, dict[str, Any]] = {
    "alibi": {"alibi_pos_bias": True},
    "buckets_of_positions": {"rel_pos_bias": True},
    "scaled_rotation": {"rotary_xpos": True},
    "talking_heads": {"attn_pre_talking_heads": True, "attn_post_talking_heads": True},
    "greatest_scores": {"attn_sparse_topk": 3},
    "keys_in_memory": {"attn_num_mem_kv": 3, "attn_flash": True},
    "window_of_keys": {"attn_max_attend_past": 4},
    "normalised_keys": {"attn_qk_norm": True, "attn_gate_values": True},
    "one_head_of_keys": {"attn_one_kv_head": True, "attn_flash": True},
    "selective": {"attn_selective": True},
    "positions_by_content": {"attn_use_cope": True},
    "residual_scores": {"residual_attn": True, "sandwich_norm": True},
    "shifted_words": {"shift_tokens": 1, "ff_glu": True, "use_rmsnorm": True},
    "streams": {"num_residual_streams": 2},
}


def _decoder(options: dict[str, Any]) -> Builder:
    def build(batch: int) -> Built:
        from x_transformers import Decoder, TransformerWrapper  # pyright: ignore

        layers = Decoder(dim=16, depth=2, heads=2, attn_dim_head=8, **options)
        model = TransformerWrapper(
            num_tokens=30, max_seq_len=16, num_memory_tokens=2, attn_layers=layers
        )
        words = torch.randint(0, 30, (batch, 12))
        return Tensors(model), (words,), {"mask": _lengths(batch, 12)}

    return build


# ------------------------------------------------------------------- graphs


def _graph(batch: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
    nodes = batch + 3
    return (torch.randn(nodes, 4), torch.randint(0, nodes, (2, 3 * nodes))), {}


def _isomorphism(batch: int) -> Built:
    from torch_geometric.nn import GINConv  # pyright: ignore

    net = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU())
    return Tensors(GINConv(net, train_eps=True)), *_graph(batch)


def _add_graphs() -> None:
    place = "torch_geometric.nn."
    several = ["mean", "min", "max", "std"]
    scalers = ["identity", "amplification", "attenuation"]
    degrees = torch.tensor([2, 3, 4, 3, 1])
    found = {
        "graph_convolution": _module(place + "GCNConv", _graph, 4, 6),
        "graph_attention": _module(place + "GATv2Conv", _graph, 4, 3, heads=2),
        "graph_samples": _module(place + "SAGEConv", _graph, 4, 6, aggr=several[:3]),
        "graph_isomorphism": _isomorphism,
        "graph_neighbours": _module(
            place + "PNAConv", _graph, 4, 4, aggregators=several, scalers=scalers, deg=degrees
        ),
        "graph_transformer": _module(place + "TransformerConv", _graph, 4, 3, heads=2, beta=True),
    }
    for name, builder in found.items():
        _add(name, "torch_geometric", builder)


# ------------------------------------------------------------------- images, sounds, codes


def _rows(*size: int) -> Inputs:
    return lambda b: ((torch.randn(b, *size),), {})


def _picture(*sizes: tuple[int, ...]) -> Inputs:
    return lambda b: (tuple(torch.rand(b, *size) for size in sizes), {})


def _add_images() -> None:
    nets = "monai.networks.nets."
    for name, builder in {
        "segmenting_unet": _module(
            nets + "UNet", _rows(1, 16, 16), spatial_dims=2, in_channels=1, out_channels=2,
            channels=(4, 8, 16), strides=(2, 2), num_res_units=2,
        ),
        "segmenting_residuals": _module(
            nets + "SegResNet", _rows(1, 16, 16), spatial_dims=2, blocks_down=(1, 1), blocks_up=(1,)
        ),
        "segmenting_by_attention": _module(
            nets + "AttentionUnet", _rows(1, 16, 16), spatial_dims=2, in_channels=1,
            out_channels=2, channels=(4, 8, 16), strides=(2, 2),
        ),
    }.items():  # fmt: skip
        _add(name, "monai", builder)
    image = (3, 12, 12)
    for name, builder in {
        "bilateral_blur": _function(
            "kornia.filters.bilateral_blur", _picture(image), kernel_size=3, sigma_color=0.1,
            sigma_space=(1.0, 1.0),
        ),
        "hue_and_lightness": _function("kornia.color.rgb_to_hls", _picture(image)),
        "lightness_and_opponents": _function("kornia.color.rgb_to_lab", _picture(image)),
        "perspective": _function(
            "kornia.geometry.warp_perspective", _picture((3, 8, 8), (3, 3)), dsize=(6, 7)
        ),
        "turns": _function(
            "kornia.geometry.conversions.quaternion_to_rotation_matrix", _rows(4)
        ),
        "similarity": _function(
            "kornia.losses.ssim_loss", _picture(image, image), window_size=5
        ),
    }.items():  # fmt: skip
        _add(name, "kornia", builder)


def _add_codes() -> None:
    library = "vector_quantize_pytorch"
    for name, builder in {
        "codes": _module(f"{library}.VectorQuantize", _rows(7, 8), dim=8, codebook_size=12),
        "codes_of_residuals": _module(
            f"{library}.ResidualVQ", _rows(7, 8), dim=8, codebook_size=12, num_quantizers=3
        ),
        "codes_of_scalars": _module(f"{library}.FSQ", _rows(7, 8), levels=[5, 4, 3], dim=8),
        "codes_without_a_book": _module(
            f"{library}.LFQ", _rows(7, 8), codebook_size=16, dim=8, entropy_loss_weight=0.1
        ),
    }.items():
        _add(name, library, builder)


def names() -> list[str]:
    """The programs, in order of their definition."""
    return list(BUILDERS)


def build(name: str, *, layers: int = 1, batch: int = 3, seed: int = 0) -> Built:
    """A program with inputs for it; the same for the same seed. `layers` is of no effect.

    Raises ImportError if the library is missing.
    """
    torch.manual_seed(seed)
    return BUILDERS[name](batch)


_add_diffusion()
for _name, _options in _DECODERS.items():
    _add(_name, "x_transformers", _decoder(_options))
_add_graphs()
_add_images()
_add_codes()

__all__ = ["BUILDERS", "META", "build", "loss_of", "names"]
