"""The two models of `xductor demo`, with random weights; nothing is downloaded."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

LAYERS, WIDTH, HEADS, SEQUENCE, VOCABULARY = 2, 128, 4, 64, 512


class Logits(nn.Module):
    """A causal language model of transformers that returns only its logits."""

    def __init__(self, language_model: nn.Module) -> None:
        super().__init__()
        self.language_model = language_model

    def forward(self, tokens: Tensor) -> Tensor:
        return self.language_model(input_ids=tokens, use_cache=False).logits


class Block(nn.Module):
    """Pre-norm self-attention and feed-forward, with attention written out."""

    def __init__(self) -> None:
        super().__init__()
        self.norm_attention = nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.project = nn.Linear(WIDTH, WIDTH)
        self.norm_feed_forward = nn.LayerNorm(WIDTH)
        self.expand = nn.Linear(WIDTH, 4 * WIDTH)
        self.contract = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.project(self._attend(self.norm_attention(x)))
        return x + self.contract(F.gelu(self.expand(self.norm_feed_forward(x))))

    def _attend(self, x: Tensor) -> Tensor:
        batch, sequence, width = x.shape
        heads = self.qkv(x).view(batch, sequence, 3, HEADS, width // HEADS)
        q, k, v = heads.permute(2, 0, 3, 1, 4).unbind(0)
        scores = q @ k.transpose(-2, -1) * (width // HEADS) ** -0.5
        hidden = torch.ones(sequence, sequence, dtype=torch.bool, device=x.device).triu(1)
        weights = scores.masked_fill(hidden, torch.finfo(scores.dtype).min).softmax(-1)
        return (weights @ v).transpose(1, 2).reshape(batch, sequence, width)


class PlainTransformer(nn.Module):
    """A decoder like GPT-2 in plain torch."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Embedding(SEQUENCE, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        for embedding in (self.tokens, self.positions):
            nn.init.normal_(embedding.weight, std=0.02)

    def forward(self, tokens: Tensor) -> Tensor:
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.tokens(tokens) + self.positions(places)
        for block in self.blocks:
            x = block(x)
        return self.norm(x) @ self.tokens.weight.t()


def build(plain: bool) -> tuple[str, nn.Module]:
    """The model of the demo and what to call it.

    GPT-2 from transformers' configuration; the plain one if asked for, or if transformers is
    not installed. Dropout is off, so that compiled and eager training can be compared.
    """
    if not plain:
        try:
            from transformers import GPT2Config, GPT2LMHeadModel
        except ImportError:
            plain = True
        else:
            config = GPT2Config(
                n_layer=LAYERS,
                n_embd=WIDTH,
                n_head=HEADS,
                n_positions=SEQUENCE,
                vocab_size=VOCABULARY,
                bos_token_id=0,
                eos_token_id=0,
                resid_pdrop=0.0,
                embd_pdrop=0.0,
                attn_pdrop=0.0,
            )
            config._attn_implementation = "eager"
            return "GPT-2 (transformers)", Logits(GPT2LMHeadModel(config))
    return "plain torch transformer", PlainTransformer()
