"""Models for the table of what oneDNN computes: each has one layer for every entry of a row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from tests.transforms.onednn.generated_calls import Call

F = torch.nn.functional
Function = Callable[[Any], Any]

#: Activations, with the names and numbers that oneDNN has for them.
ACTIVATIONS: Mapping[str, tuple[Function, Call]] = {
    "gelu": (F.gelu, ("gelu",)),
    "gelu by tanh": (lambda y: F.gelu(y, approximate="tanh"), ("gelu", "tanh")),
    "silu": (F.silu, ("swish",)),
    "hardswish": (F.hardswish, ("hardswish",)),
    "sigmoid": (torch.sigmoid, ("sigmoid",)),
    "tanh": (torch.tanh, ("tanh",)),
    "leaky_relu": (lambda y: F.leaky_relu(y, 0.125), ("leaky_relu", 0.125)),
    "relu": (torch.relu, ("relu",)),
    "relu6": (F.relu6, ("hardtanh", 0.0, 6.0)),
    "hardtanh": (lambda y: F.hardtanh(y, -0.5, 2.0), ("hardtanh", -0.5, 2.0)),
    "hardsigmoid": (F.hardsigmoid, ("hardsigmoid",)),
}

#: What stands behind a result `y`, beside another tensor `z`.
ARITHMETIC: Mapping[str, tuple[Callable[[Any, Any], Any], Call]] = {
    "add": (lambda y, z: y + z, ("add",)),
    "add, second": (lambda y, z: z + y, ("add",)),
    "sub": (lambda y, z: y - z, ("sub",)),
    "add and relu": (lambda y, z: torch.relu(y + z), ("add", "relu")),
    "sub and relu": (lambda y, z: torch.relu(y - z), ("sub", "relu")),
}


@dataclass(frozen=True)
class Row:
    """One line of the table.

    - `kernels`: the kernels that count for it.
    - `layers`: how many there can be.
    """

    handler: str
    what: str
    kernels: tuple[Call, ...]
    layers: int = 1


@dataclass(frozen=True)
class Case:
    """One model and its inputs, for one column of the table; each of its rows is counted.

    - `flags`: flags of Inductor beside `freezing`.
    - `step`: how far apart two results may be that are rounded to int8.
    """

    column: str
    rows: Sequence[Row]
    model: nn.Module
    inputs: tuple[torch.Tensor, ...]
    dynamic: bool = False
    flags: Mapping[str, Any] = field(default_factory=dict)
    step: float = 0.0


class Branches(nn.Module):
    """A layer for each function, which gets the layer's result and the inputs."""

    def __init__(self, make: Callable[[], nn.Module], functions: Sequence[Callable[..., Any]]):
        super().__init__()
        self.layers = nn.ModuleList([make() for _ in functions])
        self.functions = list(functions)

    def forward(self, *inputs: torch.Tensor) -> tuple[Any, ...]:
        pairs = zip(self.layers, self.functions, strict=True)
        return tuple(function(layer(inputs[0]), *inputs) for layer, function in pairs)


class InTurn(nn.Module):
    """Blocks of a residual network: what is added is read by convolutions before, and by nobody
    later."""

    def __init__(self, count: int, after: Function) -> None:
        super().__init__()
        self.first = _convolution()
        blocks = [nn.Sequential(_convolution(), _convolution()) for _ in range(count)]
        self.blocks = nn.ModuleList(blocks)
        self.after = after

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.first(x)
        for block in self.blocks:
            y = self.after(block(y) + y)
        return y


def _convolution() -> nn.Module:
    return nn.Conv2d(4, 4, 3, padding=1)


LAYERS: Mapping[str, tuple[str, Callable[[], nn.Module], tuple[int, ...]]] = {
    "convolution": ("ConvolutionUnary", _convolution, (2, 4, 6, 6)),
    "transposed convolution": (
        "ConvolutionTransposeUnary",
        lambda: nn.ConvTranspose2d(4, 4, 2),
        (2, 4, 6, 6),
    ),
    "linear": ("LinearUnary", lambda: nn.Linear(8, 8), (6, 8)),
}

#: Layers whose weights are packed, by what they are.
PACKED: Mapping[
    str, tuple[tuple[Call, ...], Sequence[Callable[[], nn.Module]], tuple[int, ...]]
] = {
    "convolutions": (
        (("ConvolutionUnary",),),
        [
            lambda: nn.Conv2d(4, 6, 3),
            lambda: nn.Conv2d(4, 6, 3, bias=False),
            lambda: nn.Conv2d(4, 6, 3, groups=2, padding=1),
            lambda: nn.Conv2d(4, 4, 3, groups=4),
            lambda: nn.Conv2d(4, 6, 2, stride=2, dilation=2),
        ],
        (2, 4, 8, 8),
    ),
    "convolutions over three dims": (
        (("ConvolutionUnary",),),
        [lambda: nn.Conv3d(2, 3, 2), lambda: nn.Conv3d(2, 4, 2, groups=2)],
        (1, 2, 4, 4, 4),
    ),
    "convolutions over one dim": (
        (("ConvolutionUnary",),),
        [lambda: nn.Conv1d(4, 6, 2)],
        (2, 4, 8),
    ),
    "transposed convolutions": (
        (("ConvolutionTransposeUnary",),),
        [
            lambda: nn.ConvTranspose2d(4, 6, 3),
            lambda: nn.ConvTranspose2d(4, 6, 3, groups=2),
            lambda: nn.ConvTranspose2d(4, 6, 3, stride=2, output_padding=1),
            lambda: nn.ConvTranspose2d(4, 4, 3, groups=4),
        ],
        (2, 4, 6, 6),
    ),
    "linears": (
        (("LinearUnary",), ("MKLPackedLinear",)),
        [lambda: nn.Linear(8, 5), lambda: nn.Linear(8, 16, bias=False)],
        (6, 8),
    ),
    "linears of batches": (
        (("LinearUnary",), ("MKLPackedLinear",)),
        [lambda: nn.Linear(8, 5), lambda: nn.Linear(8, 16, bias=False)],
        (2, 3, 8),
    ),
}


def dtypes() -> dict[str, torch.dtype]:
    """The dtypes that oneDNN computes with on this machine."""
    found = {"float32": torch.float32}
    if torch.ops.mkldnn._is_mkldnn_bf16_supported():
        found["bfloat16"] = torch.bfloat16
    if torch.ops.mkldnn._is_mkldnn_fp16_supported():
        found["float16"] = torch.float16
    return found


def _layouts(
    sizes: tuple[int, ...], dtype: torch.dtype
) -> Iterator[tuple[str, torch.Tensor, bool]]:
    x = torch.randn(sizes, generator=torch.Generator().manual_seed(0)).to(dtype)
    yield "contiguous", x, False
    if len(sizes) == 4:
        yield "channels_last", x.contiguous(memory_format=torch.channels_last), False
    yield "symbolic", x, True


def unary() -> Iterator[Case]:
    """Activations behind each kind of layer."""
    for layer, (kernel, make, sizes) in LAYERS.items():
        rows = [Row(layer, name, ((kernel, *call),)) for name, (_, call) in ACTIVATIONS.items()]
        functions = [lambda y, *_, one=one: one(y) for one, _ in ACTIVATIONS.values()]
        for name, dtype in dtypes().items():
            for layout, x, dynamic in _layouts(sizes, dtype):
                model = Branches(make, functions).eval().to(dtype)
                yield Case(f"{name} {layout}", rows, model, (x,), dynamic)


def beside(layer: str, sizes: tuple[int, ...]) -> Mapping[str, tuple[int, ...]]:
    """The sizes of what stands beside a result."""
    if layer == "linear":
        return {"all": sizes, "columns": (1, sizes[1])}
    return {
        "all": sizes,
        "channels of images": (*sizes[:2], 1, 1),
        "channels": (1, sizes[1], 1, 1),
        "one": (1, 1, 1, 1),
    }


def binary() -> Iterator[Case]:
    """Sums and differences behind convolutions and linears."""
    kernels = {"convolution": "ConvolutionBinary", "linear": "LinearBinary"}
    for layer, kernel in kernels.items():
        _, make, sizes = LAYERS[layer]
        for name, dtype in dtypes().items():
            for layout, x, dynamic in _layouts(sizes, dtype):
                for which, shape in beside(layer, sizes).items():
                    yield _binary(layer, kernel, make, which, x, shape, f"{name} {layout}", dynamic)


def _binary(
    layer: str,
    kernel: str,
    make: Callable[[], nn.Module],
    which: str,
    x: torch.Tensor,
    shape: tuple[int, ...],
    column: str,
    dynamic: bool,
) -> Case:
    arithmetic = dict(ARITHMETIC)
    if layer == "linear":
        arithmetic = {name: one for name, one in ARITHMETIC.items() if "relu" not in name}
    rows = [
        _row(layer, kernel, which, arithmetic, "add"),
        _row(layer, kernel, which, arithmetic, "sub"),
    ]
    if layer == "convolution":
        rows.append(_row(layer, kernel, which, arithmetic, "relu"))
    functions = [lambda y, _, z, one=one: one(y, torch.tanh(z)) for one, _ in arithmetic.values()]
    z = torch.randn(shape, generator=torch.Generator().manual_seed(1)).to(x.dtype)
    if x.is_contiguous(memory_format=torch.channels_last) and x.dim() == 4:
        z = z.contiguous(memory_format=torch.channels_last)
    return Case(column, rows, Branches(make, functions).eval().to(x.dtype), (x, z), dynamic)


def _row(layer: str, kernel: str, which: str, arithmetic: Any, name: str) -> Row:
    """What is counted of sums, of differences, or of those whose relu is computed too."""
    asked = [call for _, call in arithmetic.values() if name in call]
    kernels = {(kernel, *call) for call in asked}
    title = {"add": "a sum", "sub": "a difference", "relu": "its relu too"}[name]
    return Row(layer, f"{title}; {which}", tuple(sorted(kernels)), len(asked))


def in_place() -> Iterator[Case]:
    """Sums that are written to what is added."""
    total = ("ConvolutionBinaryInplace", "add")
    sums = Row("convolution, in place", "a sum", (total, (*total, "relu")), 3)
    relus = Row("convolution, in place", "its relu too", ((*total, "relu"),), 3)
    for name, dtype in dtypes().items():
        for layout, x, dynamic in _layouts((2, 4, 6, 6), dtype):
            model = InTurn(3, torch.relu).eval().to(dtype)
            yield Case(f"{name} {layout}", [sums, relus], model, (x,), dynamic)


def packing() -> Iterator[Case]:
    """Layers alone."""
    for what, (kernels, makes, sizes) in PACKED.items():
        rows = [Row("packing", what, kernels, len(makes))]
        for name, dtype in dtypes().items():
            for layout, x, dynamic in _layouts(sizes, dtype):
                model = nn.ModuleList([make() for make in makes]).eval().to(dtype)
                yield Case(f"{name} {layout}", rows, _Each(model).eval(), (x,), dynamic)


class _Each(nn.Module):
    def __init__(self, layers: nn.ModuleList) -> None:
        super().__init__()
        self.layers = layers

    def forward(self, x: torch.Tensor) -> tuple[Any, ...]:
        return tuple([layer(x) for layer in self.layers])


class _Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.LSTM(4, 8), nn.LSTM(4, 8, bias=False)])

    def forward(self, x: torch.Tensor) -> tuple[Any, ...]:
        return tuple([layer(x)[0] for layer in self.layers])


def recurrent() -> Iterator[Case]:
    """Recurrent layers."""
    rows = [Row("packing", "recurrent layers", (("MkldnnRnnLayer",),), 2)]
    for name, dtype in dtypes().items():
        x = torch.randn((5, 2, 4), generator=torch.Generator().manual_seed(0)).to(dtype)
        yield Case(f"{name} contiguous", rows, _Recurrent().eval().to(dtype), (x,))


CASES: Mapping[str, Callable[[], Iterator[Case]]] = {
    "unary": unary,
    "binary": binary,
    "in place": in_place,
    "packing": packing,
    "recurrent": recurrent,
}

__all__ = ["CASES", "Case", "Row", "dtypes"]
