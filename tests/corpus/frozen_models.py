"""Models that are frozen before they run: random weights, sizes at which kernels count.

`build(name, layers=...)` gives `(module, args, kwargs)`, the module in evaluation mode.
`META[name]` says what a runner must know: `kind`, which sets how near to eager the numbers are
("float32", "bfloat16" or "quantised"), and `needs` (a package that may be missing).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Built = tuple[nn.Module, tuple[Any, ...], dict[str, Any]]
Builder = Callable[[int], Built]

BUILDERS: dict[str, Builder] = {}
META: dict[str, dict[str, Any]] = {}

WIDTH, HEADS, LENGTH, VOCABULARY, GROUP = 256, 4, 32, 512, 32


def model(kind: str = "float32", *, needs: str | None = None) -> Callable[[Builder], Builder]:
    """Register a builder under its own name."""

    def register(builder: Builder) -> Builder:
        BUILDERS[builder.__name__] = builder
        META[builder.__name__] = {"kind": kind, "needs": needs, "train": False}
        return builder

    return register


def names() -> list[str]:
    """The models, in order of their definition."""
    return list(BUILDERS)


def build(name: str, *, layers: int = 2, seed: int = 0) -> Built:
    """A model with inputs for it; the same for the same seed."""
    torch.manual_seed(seed)
    return BUILDERS[name](layers)


def _settled(net: nn.Module) -> nn.Module:
    """In evaluation mode, with statistics and factors of batch norms as if it had been trained."""
    for one in net.modules():
        if isinstance(one, nn.BatchNorm2d):
            for tensor in (one.running_mean, one.bias):
                assert tensor is not None
                nn.init.normal_(tensor, std=0.1)
            for tensor in (one.running_var, one.weight):
                assert tensor is not None
                nn.init.uniform_(tensor, 0.5, 1.5)
    return net.eval().requires_grad_(False)


# ------------------------------------------------------------------- convolutions


def _normalised(inner: int, outer: int, kernel: int, stride: int = 1, groups: int = 1) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(inner, outer, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outer),
    )


class Residual(nn.Module):
    """Normalised convolutions with a ReLU between, and a shortcut."""

    def __init__(self, inner: int, outer: int, stride: int, kernels: tuple[int, ...]) -> None:
        super().__init__()
        middle = outer if len(kernels) == 2 else outer // 4
        widths = [inner, *[middle] * (len(kernels) - 1), outer]
        strides = [stride if i == len(kernels) - 2 else 1 for i in range(len(kernels))]
        self.layers = nn.ModuleList(
            _normalised(widths[i], widths[i + 1], kernel, strides[i])
            for i, kernel in enumerate(kernels)
        )
        same = inner == outer and stride == 1
        self.shortcut = nn.Identity() if same else _normalised(inner, outer, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        y = x
        for layer in self.layers[:-1]:
            y = F.relu(layer(y))
        return F.relu(self.layers[-1](y) + self.shortcut(x))


def _residual_net(kernels: tuple[int, ...], blocks: int, width: int) -> nn.Module:
    """Four stages, each of half the size and twice the width of the one before."""
    widths = [width, *[width * 2**stage for stage in range(4)]]
    net: list[nn.Module] = [_normalised(3, width, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    for stage in range(4):
        for block in range(blocks):
            inner = widths[stage] if block == 0 else widths[stage + 1]
            stride = 2 if block == 0 and stage > 0 else 1
            net.append(Residual(inner, widths[stage + 1], stride, kernels))
    return nn.Sequential(*net, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(widths[-1], 100))


def _image(size: int = 64, channels: int = 3) -> Tensor:
    return torch.randn(1, channels, size, size)


@model()
def resnet18(layers: int) -> Built:
    return _settled(_residual_net((3, 3), layers, 32)), (_image(),), {}


@model()
def resnet50(layers: int) -> Built:
    return _settled(_residual_net((1, 3, 1), layers, 64)), (_image(),), {}


class Inverted(nn.Module):
    """Wide inside, one filter a channel, with gates for the channels."""

    def __init__(self, inner: int, outer: int, stride: int, activation: type[nn.Module]) -> None:
        super().__init__()
        wide = 4 * inner
        self.grow = nn.Sequential(_normalised(inner, wide, 1), activation())
        self.each = nn.Sequential(_normalised(wide, wide, 5, stride, groups=wide), activation())
        self.gate = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(wide, wide // 4, 1), nn.ReLU(),
            nn.Conv2d(wide // 4, wide, 1), nn.Hardsigmoid(),
        )  # fmt: skip
        self.shrink = _normalised(wide, outer, 1)
        self.adds = stride == 1 and inner == outer

    def forward(self, x: Tensor) -> Tensor:
        y = self.each(self.grow(x))
        y = self.shrink(y * self.gate(y))
        return x + y if self.adds else y


@model()
def mobile(layers: int) -> Built:
    blocks: list[nn.Module] = []
    for inner, outer, activation in ((16, 24, nn.ReLU6), (24, 40, nn.Hardswish)):
        blocks.append(Inverted(inner, outer, 2, activation))
        blocks += [Inverted(outer, outer, 1, activation) for _ in range(layers - 1)]
    stem = [_normalised(3, 16, 3, 2), nn.Hardswish()]
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(40, 64), nn.SiLU(), nn.Linear(64, 10)]
    return _settled(nn.Sequential(*stem, *blocks, *head)), (_image(),), {}


class UNet(nn.Module):
    """Down and up again through transposed convolutions, with cats of what was on the way."""

    def __init__(self, levels: int, width: int) -> None:
        super().__init__()
        widths = [width * 2**level for level in range(levels + 1)]

        def twice(inner: int, outer: int) -> nn.Module:
            return nn.Sequential(
                _normalised(inner, outer, 3), nn.ReLU(),
                _normalised(outer, outer, 3), nn.LeakyReLU(0.1),
            )  # fmt: skip

        self.first = twice(3, width)
        pairs = list(pairwise(widths))
        self.down = nn.ModuleList(twice(inner, outer) for inner, outer in pairs)
        self.widen = nn.ModuleList(
            nn.ConvTranspose2d(outer, inner, 2, 2) for inner, outer in reversed(pairs)
        )
        self.up = nn.ModuleList(twice(2 * inner, inner) for inner, _ in reversed(pairs))
        self.last = nn.Conv2d(width, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = self.first(x)
        met = []
        for layer in self.down:
            met.append(x)
            x = layer(F.max_pool2d(x, 2))
        for widen, layer in zip(self.widen, self.up, strict=True):
            x = layer(torch.cat([widen(x), met.pop()], 1))
        return torch.sigmoid(self.last(x))


@model()
def unet(layers: int) -> Built:
    return _settled(UNet(layers, 24)), (_image(),), {}


# ------------------------------------------------------------------- transformers


class OneOutput(nn.Module):
    """A model of `transformers` that returns one of its outputs."""

    def __init__(self, inner: nn.Module, output: str) -> None:
        super().__init__()
        self.inner, self.output = inner, output

    def forward(self, **inputs: Tensor) -> Tensor:
        return getattr(self.inner(**inputs), self.output)


def _tokens(length: int = LENGTH) -> dict[str, Tensor]:
    return {"input_ids": torch.randint(2, VOCABULARY, (1, length))}


def _bert(layers: int, length: int) -> Built:
    from transformers import BertConfig, BertModel

    config = BertConfig(
        num_hidden_layers=layers,
        hidden_size=WIDTH,
        intermediate_size=2 * WIDTH,
        num_attention_heads=HEADS,
        vocab_size=VOCABULARY,
        attn_implementation="eager",
    )
    net = OneOutput(BertModel(config), "last_hidden_state")
    mask = torch.ones(1, length, dtype=torch.long)
    mask[:, -3:] = 0
    return _settled(net), (), {**_tokens(length), "attention_mask": mask}


@model(needs="transformers")
def bert(layers: int) -> Built:
    return _bert(layers, LENGTH)


@model(needs="transformers")
def bert_of_128(layers: int) -> Built:
    """More tokens, so that attention counts for more."""
    return _bert(layers, 128)


class Int8Linear(nn.Module):
    """Rows of int8 with a scale each, in the place of a linear without a bias."""

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        scales = weight.abs().amax(1) / 127
        rounded = torch.round(weight / scales[:, None]).clamp(-128, 127)
        self.register_buffer("weight", rounded.to(torch.int8))
        self.register_buffer("scales", scales.to(torch.bfloat16))

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight.to(x.dtype)) * self.scales


class Int4Linear(nn.Module):
    """Four bits a weight, with a scale and an offset for each `GROUP` of a row."""

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        groups = weight.unflatten(1, (-1, GROUP))
        low, high = groups.amin(2), groups.amax(2)
        scales = (high - low) / 15
        digits = torch.round((groups - low[..., None]) / scales[..., None]).clamp(0, 15)
        packed = torch.ops.aten._convert_weight_to_int4pack_for_cpu(
            digits.flatten(1).to(torch.int32), 1
        )
        both = torch.stack([scales, low + 8 * scales], -1).transpose(0, 1).contiguous()
        self.register_buffer("weight", packed)
        self.register_buffer("scales", both.to(torch.bfloat16))

    def forward(self, x: Tensor) -> Tensor:
        rows = x.reshape(-1, x.shape[-1])
        product = torch.ops.aten._weight_int4pack_mm_for_cpu(rows, self.weight, GROUP, self.scales)
        return product.reshape(*x.shape[:-1], product.shape[-1])


def _narrowed(net: nn.Module, kind: type[nn.Module]) -> nn.Module:
    """The model with other linears in the place of its own."""
    for name, child in net.named_children():
        if isinstance(child, nn.Linear):
            setattr(net, name, kind(child.weight.detach()))
        else:
            _narrowed(child, kind)
    return net


def _llama(layers: int, kind: type[nn.Module]) -> Built:
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        num_hidden_layers=layers,
        hidden_size=WIDTH,
        intermediate_size=2 * WIDTH,
        num_attention_heads=HEADS,
        num_key_value_heads=HEADS // 2,
        vocab_size=VOCABULARY,
        use_cache=False,
        attn_implementation="eager",
    )
    net = _narrowed(LlamaForCausalLM(config), kind).to(torch.bfloat16)
    return _settled(OneOutput(net, "logits")), (), _tokens()


@model("bfloat16", needs="transformers")
def llama_int8(layers: int) -> Built:
    return _llama(layers, Int8Linear)


@model("bfloat16", needs="transformers")
def llama_int4(layers: int) -> Built:
    return _llama(layers, Int4Linear)


class Encoder(nn.Module):
    """Attention and two linears a layer, each with a norm and a shortcut."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList()
        for _ in range(layers):
            linears = [nn.Linear(WIDTH, WIDTH) for _ in range(4)]
            linears += [nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)]
            norms = [nn.LayerNorm(WIDTH) for _ in range(2)]
            self.layers.append(nn.ModuleList([*linears, *norms]))

    def forward(self, x: Tensor) -> Tensor:
        for q, k, v, out, up, down, *norms in self.layers:
            heads = [one(x).unflatten(-1, (HEADS, -1)).transpose(1, 2) for one in (q, k, v)]
            scores = heads[0] @ heads[1].transpose(-1, -2) / (WIDTH // HEADS) ** 0.5
            mixed = (torch.softmax(scores, -1) @ heads[2]).transpose(1, 2).flatten(2)
            x = norms[0](x + out(mixed))
            x = norms[1](x + down(F.gelu(up(x))))
        return x


# ------------------------------------------------------------------- quantised by PT2E


def _quantised(net: nn.Module, x: Tensor) -> Built:
    """Exported, calibrated with its input, and converted for Inductor on x86."""
    from torchao.quantization import pt2e
    from torchao.quantization.pt2e import quantize_pt2e
    from torchao.quantization.pt2e.quantizer import x86_inductor_quantizer as x86

    quantizer = x86.X86InductorQuantizer()
    quantizer.set_global(x86.get_default_x86_inductor_quantization_config())
    exported = torch.export.export(net, (x,)).module()
    prepared = quantize_pt2e.prepare_pt2e(exported, quantizer)
    prepared(x)
    converted = quantize_pt2e.convert_pt2e(prepared)
    pt2e.allow_exported_model_train_eval(converted)
    converted.eval()
    return converted, (x,), {}


@model("quantised", needs="torchao")
def pt2e_convolutions(layers: int) -> Built:
    return _quantised(_settled(_residual_net((3, 3), layers, 32)), _image())


@model("quantised", needs="torchao")
def pt2e_transformer(layers: int) -> Built:
    return _quantised(_settled(Encoder(layers)), torch.randn(1, LENGTH, WIDTH))
