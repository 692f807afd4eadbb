"""Packed calls of oneDNN with activations, sums and differences behind them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
import torch._inductor.compile_fx as compile_fx
from torch import nn
from torch._inductor.decomposition import select_decomp_table
from torch.fx.experimental.proxy_tensor import make_fx

from tests.specimens.freezing_specimens import held
from xductor.backend.pass_validation.specimen import Specimen
from xductor.frontend import from_fx
from xductor.transforms import APPROXIMATE, EXACT, REASSOCIATES
from xductor.transforms.onednn.binary_fusion import MkldnnBinaryFusion
from xductor.transforms.onednn.convolution_packing import ConvolutionWeightPacking
from xductor.transforms.onednn.grouped_gemm_pass import GroupedGemmPass
from xductor.transforms.onednn.linear_packing import LinearWeightPacking
from xductor.transforms.onednn.rnn_packing import RnnWeightPacking
from xductor.transforms.onednn.unary_fusion import MkldnnUnaryFusion

Function = Callable[..., Any]
F = torch.nn.functional

_ONES = ([1, 1], [1, 1], 1)


def convolution(x: Any, w: Any, b: Any = None) -> Any:
    return torch.ops.mkldnn._convolution_pointwise(x, w, b, [0, 0], *_ONES, "none", [], "")


def transposed(x: Any, w: Any, b: Any = None) -> Any:
    call = torch.ops.mkldnn._convolution_transpose_pointwise
    return call(x, w, b, [0, 0], [0, 0], *_ONES, "none", [], "")


def linear(x: Any, w: Any, b: Any = None) -> Any:
    return torch.ops.mkldnn._linear_pointwise(x, w, b, "none", [], "")


#: Packed calls, with the sizes of what they read and of their weights and biases.
CALLS: Mapping[str, tuple[Function, tuple[tuple[int, ...], ...]]] = {
    "convolution": (convolution, ((2, 3, 5, 4), (4, 3, 3, 2))),
    "convolution with a bias": (convolution, ((2, 3, 5, 4), (4, 3, 3, 2), (4,))),
    # Its fake kernel takes the sizes of the packed weight, whose first two dims are exchanged.
    "transposed convolution": (transposed, ((2, 3, 5, 4), (3, 3, 3, 2), (3,))),
    "linear": (linear, ((3, 5), (4, 5))),
    "linear with a bias": (linear, ((2, 3, 5), (4, 5), (4,))),
}

#: Activations by what they are; those for which oneDNN gives a number for NaN are in `HIDING`.
ACTIVATIONS: Mapping[str, Function] = {
    "gelu": F.gelu,
    "gelu by tanh": lambda y: F.gelu(y, approximate="tanh"),
    "hardswish": F.hardswish,
    "silu": F.silu,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "leaky_relu": lambda y: F.leaky_relu(y, 0.2),
    "leaky_relu by a negative slope": lambda y: F.leaky_relu(y, -1.5),
    "relu": torch.relu,
    "hardsigmoid": F.hardsigmoid,
    "relu6": F.relu6,
    "hardtanh": lambda y: F.hardtanh(y, -0.5, 2.0),
}
HIDING = frozenset(("relu", "hardsigmoid", "relu6", "hardtanh"))
#: Those for which oneDNN gives NaN for an infinity on some processors.
UNSURE_OF_INFINITY = frozenset(("gelu",))


def lowered(function: Function, *inputs: torch.Tensor) -> Any:
    """A graph of the post-grad stage, in the ops that are left there."""
    table = select_decomp_table()
    graph = make_fx(function, tracing_mode="fake", decomposition_table=table)(*inputs)
    return from_fx(graph, "post_grad")


def inputs_of(call: str, dtype: torch.dtype = torch.float32) -> list[torch.Tensor]:
    """Data with channels last, as code generation hands it over, a weight, perhaps a bias."""
    data, *others = [torch.ones(sizes, dtype=dtype) for sizes in CALLS[call][1]]
    return [_channels_last(data), *others]


def _channels_last(x: torch.Tensor) -> torch.Tensor:
    return x.contiguous(memory_format=torch.channels_last) if x.dim() == 4 else x


def unary() -> Iterator[Specimen]:
    """For `mkldnn_unary_fusion`."""
    for name, (call, _) in CALLS.items():
        for what, activation in ACTIVATIONS.items():
            module = lowered(lambda *given: (activation(call(*given)),), *inputs_of(name))  # noqa: B023
            one, numerics = MkldnnUnaryFusion(), REASSOCIATES
            if what in HIDING:
                one, numerics = MkldnnUnaryFusion(policy="fast"), APPROXIMATE
            yield Specimen(f"{name}, {what}", module, one, numerics)


#: What stands behind a packed call: a function of its result and of another tensor.
ARITHMETIC: Mapping[str, Function] = {
    "add": lambda y, other: y + other,
    "add, second": lambda y, other: other + y,
    "sub": lambda y, other: y - other,
    "add and relu": lambda y, other: torch.relu(y + other),
    "sub and relu": lambda y, other: torch.relu(y - other),
}


def beside(result: torch.Tensor) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The sizes of what oneDNN takes beside a result."""
    sizes = tuple(result.shape)
    yield "all", sizes
    if result.dim() == 4:
        yield "channels of images", (*sizes[:2], 1, 1)
        yield "channels", (1, sizes[1], 1, 1)
        yield "one", (1, 1, 1, 1)
    else:
        yield "columns", (*[1] * (result.dim() - 1), sizes[-1])


def binary() -> Iterator[Specimen]:
    """For `mkldnn_binary_fusion`."""
    for name, (call, _) in CALLS.items():
        if call is transposed:
            continue
        given = inputs_of(name)
        for what, arithmetic in ARITHMETIC.items():
            for which, sizes in beside(call(*given)):
                module = lowered(
                    lambda other, *given: (arithmetic(call(*given), other),),  # noqa: B023
                    _channels_last(torch.ones(sizes)),
                    *given,
                )
                fuses_relu = what.endswith("relu") and call is convolution
                one = MkldnnBinaryFusion(policy="fast" if fuses_relu else "default")
                numerics = APPROXIMATE if fuses_relu else EXACT
                yield Specimen(f"{name}, {what}, {which}", module, one, numerics)


LAYERS: Mapping[str, tuple[Callable[[], torch.nn.Module], tuple[int, ...]]] = {
    "conv": (lambda: nn.Conv2d(4, 6, 2), (2, 4, 5, 4)),
    "conv without bias": (lambda: nn.Conv2d(4, 6, 2, bias=False), (2, 4, 5, 4)),
    "conv of groups": (lambda: nn.Conv2d(4, 6, 3, groups=2, padding=1), (2, 4, 5, 4)),
    "conv of each channel": (lambda: nn.Conv2d(4, 4, 3, groups=4), (2, 4, 5, 4)),
    "conv with steps": (lambda: nn.Conv2d(4, 6, 2, stride=2, dilation=2), (1, 4, 5, 6)),
    "conv over three dims": (lambda: nn.Conv3d(2, 3, 2), (1, 2, 3, 4, 3)),
    "conv_transpose": (lambda: nn.ConvTranspose2d(4, 6, 2), (2, 4, 3, 4)),
    "conv_transpose of groups": (lambda: nn.ConvTranspose2d(4, 6, 2, groups=2), (2, 4, 3, 4)),
    "conv_transpose with steps": (
        lambda: nn.ConvTranspose2d(4, 6, 3, stride=2, output_padding=1),
        (1, 4, 3, 4),
    ),
}
READERS: Mapping[str, Callable[[Any], Any]] = {
    "nobody": lambda y: y,
    "pointwise": lambda y: torch.relu(y) * 2,
    "rows": lambda y: y.sum(-1),
    "a view": lambda y: y.flatten(1).tanh(),
    "one forced": lambda y: torch.ops.prims.inductor_force_stride_order(y, y.stride()),
}


class _Read(nn.Module):
    def __init__(self, layer: nn.Module, read: Callable[[Any], Any]) -> None:
        super().__init__()
        self.layer, self.read = layer, read
        self.requires_grad_(False).eval()

    def forward(self, x: torch.Tensor) -> Any:
        return (self.read(self.layer(x)),)


def frozen(model: nn.Module, x: torch.Tensor) -> Any:
    """The graph that freezing gets: its views are reshapes, which follow to other strides."""
    graph = make_fx(model)(x)
    compile_fx.view_to_reshape(graph)
    return from_fx(graph, "post_grad")


def packed_convolutions() -> Iterator[Specimen]:
    """For `mkldnn_convolution_packing`."""
    torch.manual_seed(0)
    for name, (make, sizes) in LAYERS.items():
        for reader, read in READERS.items():
            module = frozen(_Read(make(), read), torch.ones(sizes))
            title = f"{name}, read by {reader}"
            yield Specimen(title, module, ConvolutionWeightPacking(), REASSOCIATES)


class _Product(nn.Module):
    def __init__(self, columns: int, bias: bool, read: Callable[[Any], Any]) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, columns), requires_grad=False)
        self.bias = nn.Parameter(torch.randn(columns), requires_grad=False) if bias else None
        self.read = read

    def forward(self, x: torch.Tensor) -> Any:
        if self.bias is None:
            return (self.read(torch.mm(x, self.weight)),)
        return (self.read(torch.addmm(self.bias, x, self.weight)),)


def packed_products() -> Iterator[Specimen]:
    """For `mkldnn_linear_packing`."""
    torch.manual_seed(0)
    for columns in (1, 3, 6):
        for bias in (False, True):
            for with_mkl in (True, False):
                for reader, read in READERS.items():
                    model = _Product(columns, bias, read)
                    module = frozen(model, torch.ones(3, 4))
                    title = f"{columns} columns, {bias=}, {with_mkl=}, read by {reader}"
                    one = LinearWeightPacking(packs_for_mkl=with_mkl)
                    yield Specimen(title, module, one, REASSOCIATES)


def grouped() -> Iterator[Specimen]:
    """For `grouped_gemm_pass`; the weights are dense, which oneDNN takes too."""
    chance = torch.Generator().manual_seed(0)
    readers = {name: read for name, read in READERS.items() if name != "one forced"}
    shapes = itertools.product(readers, (2, 3), (True, False), ((3, 5), (2, 3, 5)), (1, 4))
    for reader, number, has_bias, sizes, columns in shapes:
        weights = [torch.randn(columns, sizes[-1], generator=chance) for _ in range(number)]
        biases = [torch.randn(columns, generator=chance) for _ in range(number if has_bias else 1)]

        def program(x: Any, *kept: Any, read: Any = readers[reader], number: int = number) -> Any:
            others = [*kept[number:], *[None] * number]  # only the first has a bias, or all
            pairs = zip(kept[:number], others, strict=False)
            return tuple(read(linear(x, weight, bias)) for weight, bias in pairs)

        graph = held(program, [*weights, *biases], torch.ones(sizes))
        title = f"{reader}, {number}, {columns} columns, {sizes}, bias {has_bias}"
        yield Specimen(title, graph, GroupedGemmPass(), REASSOCIATES)


def packed_recurrent() -> Iterator[Specimen]:
    """For `mkldnn_rnn_layer`."""
    chance = torch.Generator().manual_seed(0)
    hidden = 4
    shapes = itertools.product((False, True), (False, True), (1, 3, 8), (1, 2, 5), (1, 4))
    for reverse, has_bias, inner, length, batch in shapes:
        sizes = ((4 * hidden, inner), (4 * hidden, hidden), (4 * hidden,), (4 * hidden,))
        weights = [torch.randn(one, generator=chance) for one in sizes]
        if not has_bias:
            weights[2:] = [torch.zeros(4 * hidden)] * 2

        def program(
            x: Any, *kept: Any, reverse: bool = reverse, bias: bool = has_bias, batch: int = batch
        ) -> Any:
            start = x.new_zeros(1, batch, hidden)
            how = (reverse, [], 2, hidden, 1, bias, False, False, False)
            return torch.ops.aten.mkldnn_rnn_layer(x, *kept, start, start, *how)[:3]

        graph = held(program, weights, torch.ones(length, batch, inner))
        title = f"{inner} columns, {length} steps, {batch} rows, reverse {reverse}, bias {has_bias}"
        yield Specimen(title, graph, RnnWeightPacking(), REASSOCIATES)


__all__ = [
    "ACTIVATIONS",
    "ARITHMETIC",
    "CALLS",
    "HIDING",
    "UNSURE_OF_INFINITY",
    "binary",
    "frozen",
    "grouped",
    "lowered",
    "packed_convolutions",
    "packed_products",
    "unary",
]
