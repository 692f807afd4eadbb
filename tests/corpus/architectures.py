"""Architectures of `transformers` with small random weights, attention spelled out.

    python tests/corpus/run_models.py --models-file tests/corpus/architectures.py --no-codegen

A models file as `models.py` is: a configuration gets small sizes for what it has of `SIZES`, and
the inputs are what the `forward` of its model asks for, the last text of a batch padded.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from tests.corpus.models import Built, loss_of

TEXTS = (
    "albert", "bamba", "bart", "big_bird", "bigbird_pegasus", "bloom", "canine", "codegen",
    "cohere2", "convbert", "deberta", "deberta-v2", "diffllama", "doge", "esm", "falcon",
    "falcon_h1", "falcon_mamba", "fnet", "gemma3_text", "glm4", "gpt_bigcode", "gpt_neox",
    "gpt_oss", "gptj", "granitemoehybrid", "ibert", "jamba", "jetmoe", "led", "lfm2",
    "llama4_text", "longformer", "longt5", "m2m_100", "mbart", "megatron-bert", "minimax",
    "mobilebert", "modernbert", "mpnet", "mpt", "mra", "nemotron", "nystromformer", "olmoe",
    "pegasus_x", "persimmon", "phi", "phimoe", "qwen2_moe", "qwen3_next", "recurrent_gemma",
    "rembert", "roformer", "rwkv", "squeezebert", "stablelm", "starcoder2",
    "switch_transformers", "umt5", "xglm", "xlm", "yoso",
)  # fmt: skip
IMAGES = (
    "vit", "beit", "focalnet", "mobilevit", "mobilenet_v2", "poolformer", "pvt_v2", "regnet",
    "segformer",
)  # fmt: skip
SOUNDS = ("whisper", "wav2vec2", "sew", "wavlm")

#: In training these amplify what float32 rounds, by stock's compile too, or mask longer stretches
#: of sound than there are.
_INFERENCE_ALONE = ("rwkv", "mobilevit", "mobilenet_v2", "regnet", "wav2vec2", "sew", "wavlm")

META: dict[str, dict[str, Any]] = {
    name: {"train": name not in _INFERENCE_ALONE, "needs": "transformers"}
    for name in (*TEXTS, *IMAGES, *SOUNDS)
}

_LENGTH = 24


def sizes(
    *,
    width: int = 64,
    heads: int = 4,
    groups: int = 2,
    inner: int = 96,
    positions: int = 128,
    words: int = 256,
    image: int = 32,
    window: int = 16,
    patch: int = 8,
) -> dict[str, int]:
    """Sizes by the names that configurations have for them; `groups` share keys and values."""
    return {
        **dict.fromkeys(("hidden_size", "d_model", "n_embd", "embedding_size", "emb_dim"), width),
        **dict.fromkeys(("dim", "embedding_dim", "word_embed_proj_dim"), width),
        **dict.fromkeys(("num_attention_heads", "n_head", "num_heads", "n_heads"), heads),
        **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), heads),
        **dict.fromkeys(("intermediate_size", "encoder_ffn_dim", "decoder_ffn_dim"), inner),
        **dict.fromkeys(("d_ff", "ffn_dim", "hidden_dim"), inner),
        **dict.fromkeys(("max_position_embeddings", "n_positions", "n_ctx"), positions),
        **dict.fromkeys(("head_dim", "d_kv", "v_head_dim"), width // heads),
        **dict.fromkeys(("kv_lora_rank", "q_lora_rank"), width // heads),
        **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts"), 4),
        **dict.fromkeys(("moe_intermediate_size", "shared_expert_intermediate_size"), 32),
        **dict.fromkeys(("rotary_dim", "attention_window", "block_size", "state_size"), 8),
        **dict.fromkeys(("mamba_d_state", "qk_rope_head_dim", "qk_nope_head_dim"), 8),
        **dict.fromkeys(("n_group", "topk_group", "first_k_dense_replace"), 1),
        "num_key_value_heads": groups,
        "patch_size": patch,
        "vocab_size": words,
        "image_size": image,
        "projection_dim": 32,
        "max_source_positions": 32,
        "sliding_window": window,
        "num_mel_bins": 16,
        "num_experts_per_tok": 2,
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
    }


_LAYERS = (
    *("num_hidden_layers", "encoder_layers", "decoder_layers", "n_layer", "n_layers"),
    *("num_layers", "num_decoder_layers"),
)
#: What configurations may refuse together with their other defaults; left as it is then.
_REFUSED = ((), ("num_key_value_heads",), ("head_dim",), ("num_key_value_heads", "head_dim"))


class FloatingOutputs(nn.Module):
    """A model of `transformers` that returns all its floating-point outputs."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, **inputs: Any) -> list[Tensor]:
        leaves = tree_leaves(self.inner(**inputs).to_tuple())
        return [one for one in leaves if isinstance(one, Tensor) and one.is_floating_point()]


def names() -> list[str]:
    """The architectures, by their names in `transformers`."""
    return list(META)


def build(
    name: str,
    *,
    layers: int = 2,
    batch: int = 2,
    seed: int = 0,
    length: int = _LENGTH,
    wanted: Mapping[str, int] | None = None,
) -> Built:
    """A model with inputs for it; the same for the same seed.

    - `length`: how many tokens a text has.
    - `wanted`: sizes by the names of a configuration, as `sizes` gives them (the default).

    Raises ValueError for a model whose inputs are not known, and what `transformers` raises.
    """
    from transformers import AutoModel

    torch.manual_seed(seed)
    config = _configuration(name, {**(wanted or sizes()), **dict.fromkeys(_LAYERS, layers)})
    model = AutoModel.from_config(config, attn_implementation="eager").eval()
    return FloatingOutputs(model), (), _inputs(model, config, batch, length)


def _configuration(name: str, wanted: Mapping[str, int]) -> Any:
    from transformers import CONFIG_MAPPING

    kind: Any = CONFIG_MAPPING[name]
    default = kind()
    known = {key: size for key, size in wanted.items() if _takes_size(default, key)}
    refusal: Exception | None = None
    for left in _REFUSED:
        try:
            return kind(**{key: size for key, size in known.items() if key not in left})
        except (AttributeError, TypeError, ValueError) as error:
            refusal = error
    raise ValueError(f"{name} takes none of the sizes: {refusal}")


def _takes_size(config: Any, key: str) -> bool:
    return hasattr(config, key) and (getattr(config, key) is None or _is_size(getattr(config, key)))


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _inputs(model: nn.Module, config: Any, batch: int, length: int) -> dict[str, Any]:
    asked = inspect.signature(model.forward).parameters
    made: dict[str, Any] = {}
    if "input_ids" in asked:
        made["input_ids"] = torch.randint(3, 200, (batch, length))
        if "attention_mask" in asked:
            made["attention_mask"] = torch.ones(batch, length, dtype=torch.long)
            made["attention_mask"][-1, -(length // 4) :] = 0
    elif "pixel_values" in asked:
        size = config.image_size if _is_size(getattr(config, "image_size", None)) else 32
        made["pixel_values"] = torch.randn(batch, config.num_channels, size, size)
    elif "input_values" in asked:
        made["input_values"] = torch.randn(batch, 2000)
    elif "input_features" in asked:
        frames = 2 * config.max_source_positions
        made["input_features"] = torch.randn(batch, config.num_mel_bins, frames)
    else:
        raise ValueError(f"{type(model).__name__} asks for {', '.join(asked)}")
    if "decoder_input_ids" in asked:
        made["decoder_input_ids"] = torch.randint(3, 200, (batch, length // 3))
    if "use_cache" in asked:
        made["use_cache"] = False
    return made


__all__ = ["IMAGES", "META", "SOUNDS", "TEXTS", "build", "loss_of", "names", "sizes"]
