"""Architectures of `transformers` in sizes that keep a GPU busy, none of them in the tuned corpus.

    python -m tests.benchmarks.gpu_corpus --models-file tests/benchmarks/large_architectures.py

They are those of `tests/corpus/architectures.py` that attend, with 16 heads of 64 over 512 tokens;
attention is spelled out. None was looked at while costs were measured or rewrites were chosen.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tests.corpus import architectures
from tests.corpus.models import Built

TEXTS = (
    "albert", "bloom", "codegen", "cohere2", "convbert", "diffllama", "esm", "falcon",
    "gemma3_text", "glm4", "gpt_bigcode", "gpt_neox", "gptj", "m2m_100", "mbart",
    "megatron-bert", "modernbert", "mpnet", "mpt", "nemotron", "persimmon", "phi", "rembert",
    "roformer", "squeezebert", "stablelm", "starcoder2", "umt5", "xglm", "xlm",
)  # fmt: skip
IMAGES = ("beit",)
META: dict[str, dict[str, Any]] = {name: architectures.META[name] for name in (*TEXTS, *IMAGES)}

_DTYPES = {"bf16": torch.bfloat16, "fp32": torch.float32}
_LENGTH = 512
_SIZES = architectures.sizes(
    width=1024,
    heads=16,
    groups=8,
    inner=2048,
    positions=2 * _LENGTH,
    words=8192,
    image=128,
    window=_LENGTH // 2,
)


def names() -> list[str]:
    """The architectures, by their names in `transformers`."""
    return list(META)


def build(name: str, *, layers: int = 2, batch: int = 16, dtype: str = "bf16") -> Built:
    """A model with inputs for it, as `architectures.build` gives them."""
    model, args, inputs = architectures.build(
        name, layers=layers, batch=batch, length=_LENGTH, wanted=_SIZES
    )
    kind = _DTYPES[dtype]
    images = {key: one.to(kind) for key, one in inputs.items() if key == "pixel_values"}
    return model.to(kind), args, {**inputs, **images}


def loss_of(name: str, outputs: list[Tensor]) -> Tensor:
    """A scalar that every output counts in."""
    return torch.stack([output.float().square().mean() for output in outputs]).sum()


__all__ = ["META", "build", "loss_of", "names"]
