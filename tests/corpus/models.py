"""Small models that between them show the stages every kind of graph: random weights, no data.

`build(name, layers=..., batch=...)` gives `(module, args, kwargs)`; `META[name]` says what a
runner must know: `train` (a training step makes sense), `needs` (a package), `dynamo` (settings of
Dynamo that keep it one graph).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch._higher_order_ops import while_loop
from torch.utils.checkpoint import checkpoint

WIDTH, HEADS, LENGTH, VOCABULARY = 16, 2, 6, 40

Built = tuple[nn.Module, tuple[Any, ...], dict[str, Any]]
Builder = Callable[[int, int], Built]

BUILDERS: dict[str, Builder] = {}
META: dict[str, dict[str, Any]] = {}


def model(
    *, train: bool = True, needs: str | None = None, dynamo: dict[str, Any] | None = None
) -> Callable[[Builder], Builder]:
    """Register a builder `(layers, batch) -> (module, args, kwargs)` under its own name."""

    def register(builder: Builder) -> Builder:
        BUILDERS[builder.__name__] = builder
        META[builder.__name__] = {"train": train, "needs": needs, "dynamo": dynamo or {}}
        return builder

    return register


def names() -> list[str]:
    """The models, in order of their definition."""
    return list(BUILDERS)


def build(name: str, *, layers: int = 1, batch: int = 2, seed: int = 0) -> Built:
    """A model with inputs for it; the same for the same seed."""
    torch.manual_seed(seed)
    return BUILDERS[name](layers, batch)


def loss_of(name: str, outputs: Any) -> Tensor:
    """A scalar that depends on every floating output."""
    tensors = [t for t in torch.utils._pytree.tree_leaves(outputs) if isinstance(t, Tensor)]
    return sum((t.float().square().mean() for t in tensors if t.requires_grad), torch.zeros(()))


def _tokens(batch: int) -> Tensor:
    return torch.randint(2, VOCABULARY, (batch, LENGTH))


# ------------------------------------------------------------------- transformers


class OneOutput(nn.Module):
    """A model of `transformers` that returns one of its outputs."""

    def __init__(self, inner: nn.Module, output: str) -> None:
        super().__init__()
        self.inner, self.output = inner, output

    def forward(self, **inputs: Tensor) -> Tensor:
        return getattr(self.inner(**inputs), self.output)


@model(needs="transformers")
def gpt2(layers: int, batch: int) -> Built:
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        n_layer=layers,
        n_embd=WIDTH,
        n_head=HEADS,
        n_positions=LENGTH,
        vocab_size=VOCABULARY,
        use_cache=False,
        attn_implementation="eager",
    )
    return OneOutput(GPT2LMHeadModel(config), "logits"), (), {"input_ids": _tokens(batch)}


@model(needs="transformers")
def llama(layers: int, batch: int) -> Built:
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        num_hidden_layers=layers,
        hidden_size=WIDTH,
        intermediate_size=2 * WIDTH,
        num_attention_heads=2 * HEADS,
        num_key_value_heads=HEADS,
        vocab_size=VOCABULARY,
        use_cache=False,
        attn_implementation="eager",
    )
    return OneOutput(LlamaForCausalLM(config), "logits"), (), {"input_ids": _tokens(batch)}


@model(needs="transformers")
def bert(layers: int, batch: int) -> Built:
    from transformers import BertConfig, BertModel

    config = BertConfig(
        num_hidden_layers=layers,
        hidden_size=WIDTH,
        intermediate_size=2 * WIDTH,
        num_attention_heads=HEADS,
        vocab_size=VOCABULARY,
        attn_implementation="eager",
    )
    mask = torch.ones(batch, LENGTH, dtype=torch.long)
    mask[-1, -2:] = 0
    inputs = {"input_ids": _tokens(batch), "attention_mask": mask}
    return OneOutput(BertModel(config), "last_hidden_state"), (), inputs


# ------------------------------------------------------------------- plain torch


class Residual(nn.Module):
    """Two normalised convolutions with a shortcut."""

    def __init__(self, channels: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.norms = nn.ModuleList(nn.BatchNorm2d(channels) for _ in range(2))
        self.shortcut = nn.AvgPool2d(stride)

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.norms[0](self.first(x)), inplace=True)
        return F.relu(self.norms[1](self.second(y)) + self.shortcut(x))


@model()
def convolutions(layers: int, batch: int) -> Built:
    blocks = [Residual(4, 2) for _ in range(layers)]
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 5)]
    net = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), *blocks, *head)
    return net, (torch.randn(batch, 3, 8, 8),), {}


class FeedForward(nn.Module):
    """Layer norm, a gated unit, dropout, residual."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        value, gate = self.up(self.norm(x)).chunk(2, -1)
        return x + self.dropout(self.down(F.gelu(gate) * value))


@model()
def feed_forward(layers: int, batch: int) -> Built:
    return (
        nn.Sequential(*[FeedForward(0.0) for _ in range(layers)]),
        (torch.randn(batch, WIDTH),),
        {},
    )


@model()
def dropout(layers: int, batch: int) -> Built:
    return (
        nn.Sequential(*[FeedForward(0.3) for _ in range(layers)]),
        (torch.randn(batch, WIDTH),),
        {},
    )


class Recurrent(nn.Module):
    """LSTM cells in a Python loop."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.cells = nn.ModuleList(nn.LSTMCell(WIDTH, WIDTH) for _ in range(layers))

    def forward(self, x: Tensor) -> Tensor:
        for cell in self.cells:
            state = torch.zeros_like(x[:, 0]), torch.zeros_like(x[:, 0])
            steps = []
            for step in x.unbind(1):
                state = cell(step, state)
                steps.append(state[0])
            x = torch.stack(steps, 1)
        return x


@model()
def recurrent(layers: int, batch: int) -> Built:
    return Recurrent(layers), (torch.randn(batch, 3, WIDTH),), {}


class Recommender(nn.Module):
    """Embedding bags, pairwise products, features that are split and joined again."""

    def __init__(self, tables: int = 3) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.EmbeddingBag(20, WIDTH, mode="sum") for _ in range(tables))
        self.dense = nn.Linear(5, WIDTH)
        self.towers = nn.ModuleList(nn.Linear(WIDTH, 4) for _ in range(tables + 1))

    def forward(self, dense: Tensor, sparse: Tensor) -> Tensor:
        bags = [table(ids) for table, ids in zip(self.tables, sparse.unbind(1), strict=True)]
        joined = torch.cat([F.relu(self.dense(dense)), *bags], 1)
        parts = torch.split(joined, WIDTH, 1)
        stacked = torch.stack(parts, 1)
        products = (stacked @ stacked.transpose(1, 2)).flatten(1)
        towers = [torch.tanh(t(p)) for t, p in zip(self.towers, parts, strict=True)]
        return torch.cat([torch.cat(towers[:2], 1), torch.cat(towers[2:], 1), products], 1)


@model()
def recommender(layers: int, batch: int) -> Built:
    return Recommender(), (torch.randn(batch, 5), torch.randint(0, 20, (batch, 3, 2))), {}


class MixedPrecision(nn.Module):
    """Attention under a bf16 autocast region; the norm outside of it."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(x)
        with torch.autocast(x.device.type, dtype=torch.bfloat16):
            q, k, v = self.qkv(y).chunk(3, -1)
            weights = torch.softmax(q @ k.transpose(1, 2) * WIDTH**-0.5, -1)
            y = self.out(weights.to(v.dtype) @ v)
        return x + y.float()


@model()
def mixed_precision(layers: int, batch: int) -> Built:
    return MixedPrecision(), (torch.randn(batch, LENGTH, WIDTH),), {}


class LoopAndBranch(nn.Module):
    """A loop and a branch that stay in the graph, each with bodies of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        def step(i: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
            return i + 1, torch.tanh(self.linear(y))

        start = torch.zeros((), dtype=torch.long, device=x.device)
        _, x = while_loop(lambda i, y: i < 3, step, (start, x))
        return torch.cond(x.sum() > 0, lambda y: y.sin() + 1, lambda y: y.cos(), (x,))


@model(train=False)
def loop_and_branch(layers: int, batch: int) -> Built:
    return LoopAndBranch(), (torch.randn(batch, WIDTH),), {}


class Checkpointed(nn.Module):
    """Blocks whose activations are computed again in the backward."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(FeedForward(0.0) for _ in range(layers))

    def forward(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return x


@model()
def checkpointed(layers: int, batch: int) -> Built:
    return Checkpointed(layers), (torch.randn(batch, WIDTH),), {}


class Sizes(nn.Module):
    """Returns sizes beside tensors, one output twice, and a view of an input."""

    def forward(self, x: Tensor) -> tuple[Any, ...]:
        y = (x * x.shape[0]).reshape(-1, 2)
        rows = torch.arange(y.shape[0], device=x.device)
        return y, x.shape[0], [y.shape[0] * 2, rows + x.shape[0]], y, x.t(), None


@model()
def sizes(layers: int, batch: int) -> Built:
    return Sizes(), (torch.randn(batch, WIDTH),), {}


class Writes(nn.Module):
    """Writes to an input, to a view of an intermediate, and to a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)
        self.register_buffer("mean", torch.zeros(WIDTH))

    def forward(self, x: Tensor, count: Tensor) -> Tensor:
        y = self.linear(x)
        y[:, 0] = 0.5
        with torch.no_grad():
            self.mean.lerp_(y.mean(0), 0.1)
            count.add_(1)
        return y * self.mean + count


@model()
def writes(layers: int, batch: int) -> Built:
    return Writes(), (torch.randn(batch, WIDTH), torch.zeros(WIDTH, dtype=torch.long)), {}


@torch.library.custom_op("xductor_corpus::scaled_sine", mutates_args=())
def scaled_sine(x: Tensor, scale: float = 2.0) -> Tensor:
    return torch.sin(x) * scale


@scaled_sine.register_fake
def _(x: Tensor, scale: float = 2.0) -> Tensor:
    return torch.empty_like(x)


def _keep(ctx: Any, inputs: tuple[Tensor, float], output: Tensor) -> None:
    ctx.save_for_backward(inputs[0])
    ctx.scale = inputs[1]


def _scaled_sine_backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
    (x,) = ctx.saved_tensors
    return gradient * torch.cos(x) * ctx.scale, None


scaled_sine.register_autograd(_scaled_sine_backward, setup_context=_keep)


class CustomOperator(nn.Module):
    """A third party's operator, with its own autograd formula."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        return scaled_sine(self.linear(x), scale=0.5) + scaled_sine(x)


@model()
def custom_operator(layers: int, batch: int) -> Built:
    return CustomOperator(), (torch.randn(batch, WIDTH),), {}


class Redundant(nn.Module):
    """Work that clean-up passes remove: pairs that cancel, conversions, no-ops, checks."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        y = self.linear(x).permute(1, 0).permute(1, 0)
        y = y.view(-1).view(x.shape).view(x.shape)
        y = y.to(torch.bfloat16).to(torch.float64).to(torch.float32) + y.to(torch.float32)
        y = y.expand(y.shape).contiguous().clone() * 1.0
        torch._assert_async((y == y).all())
        return torch.cat([y], 0)[:] + torch.zeros_like(y)


@model()
def redundant(layers: int, batch: int) -> Built:
    return Redundant(), (torch.randn(batch, WIDTH),), {}


class SizeFromData(nn.Module):
    """A size that only the data tells."""

    def forward(self, x: Tensor, count: Tensor) -> tuple[Tensor, Tensor]:
        rows = count.item()
        torch._check(rows >= 0)
        torch._check(rows <= x.shape[0])
        chosen = x[:, 0].abs().gt(0.1).nonzero()
        return x.narrow(0, 0, rows) * 2.0, x.index_select(0, chosen[:, 0]).sum(0)


@model(
    train=False,
    dynamo={"capture_scalar_outputs": True, "capture_dynamic_output_shape_ops": True},
)
def size_from_data(layers: int, batch: int) -> Built:
    return SizeFromData(), (torch.randn(batch + 2, WIDTH), torch.tensor(batch)), {}


class Attention(nn.Module):
    """Attention written out, in a spelling that Inductor fuses in training too."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        shape = (*x.shape[:2], HEADS, WIDTH // HEADS)
        q, k, v = (f(x).view(shape).transpose(1, 2) for f in (self.query, self.key, self.value))
        weights = torch.softmax(q @ k.transpose(2, 3) / (WIDTH // HEADS) ** 0.5, -1)
        mixed = (weights @ v).transpose(1, 2)
        return self.out(mixed.reshape(x.shape))


@model()
def attention(layers: int, batch: int) -> Built:
    return Attention(), (torch.randn(batch, LENGTH, WIDTH),), {}
