"""Programs that look like what oneDNN computes as a whole, and must not become one call.

All are compiled under `fast`, which admits the most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import nn

from tests.backend.pipelines.frozen_graphs import packing
from tests.transforms.onednn.generated_calls import Call, calls, values

pytestmark = [
    pytest.mark.skipif(not torch._C._has_mkldnn, reason="no oneDNN"),
    pytest.mark.filterwarnings("ignore"),
]

F = torch.nn.functional
CONVOLUTION: Call = ("ConvolutionUnary",)
SUM: Call = ("ConvolutionBinary", "add")
IN_PLACE: Call = ("ConvolutionBinaryInplace", "add")
needs_bf16 = pytest.mark.skipif(
    not (torch._C._has_mkldnn and torch.ops.mkldnn._is_mkldnn_bf16_supported()),
    reason="no bfloat16 in oneDNN",
)


class Layer(nn.Module):
    """A convolution, and a function of its result and the inputs."""

    def __init__(self, function: Callable[..., Any], *, groups: int = 1) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layer = nn.Conv2d(4, 4, 3, padding=1, groups=groups)
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.function(self.layer(inputs[0]), *inputs)


@pytest.fixture(autouse=True)
def packs() -> Iterator[None]:
    with packing(True):
        yield
    torch._dynamo.reset()


def image(*sizes: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    made = torch.randn(sizes or (2, 4, 6, 6), generator=torch.Generator().manual_seed(1))
    return made.to(dtype)


def called(
    model: nn.Module,
    *inputs: torch.Tensor,
    dynamic: bool = False,
    rtol: float = 1e-4,
    atol: float = 1e-5,
) -> Counter[Call]:
    """Which kernels generated code would call; what the model gives was compared with eager."""
    given = [one.clone() for one in inputs]
    with torch.no_grad():
        expected = model(*given)
    found = values(model, *[one.clone() for one in inputs], numerics="fast", dynamic=dynamic)
    torch.testing.assert_close(found, expected, rtol=rtol, atol=atol)
    counted = calls(model, *inputs, numerics="fast", dynamic=dynamic)
    del counted[("MultiOutput",)]
    return counted


def gelu(y: Any, inner: float, outer: float = 0.5) -> Any:
    return y * outer * (torch.erf(y * inner) + 1)


def gelu_by_tanh(y: Any, cube: float) -> Any:
    return y * 0.5 * (torch.tanh((y + y * y * y * cube) * 0.7978845608028654) + 1)


ACTIVATIONS: dict[str, Callable[..., Any]] = {
    "the result is returned too": lambda y, x: (torch.relu(y), y),
    "two activations read it": lambda y, x: (torch.relu(y), torch.tanh(y)),
    "it is reshaped first": lambda y, x: torch.relu(y.flatten(1)),
    "it is cut first": lambda y, x: torch.relu(y[:, :2]),
    "another dtype": lambda y, x: torch.relu(y.double()),
    "a gelu with another number": lambda y, x: gelu(y, 0.5),
    "a gelu with another factor": lambda y, x: gelu(y, 0.7071067811865476, 0.25),
    "a gelu by tanh with another number": lambda y, x: gelu_by_tanh(y, 0.05),
    "a gelu of two tensors": lambda y, x: y * 0.5 * (torch.erf(x * 0.7071067811865476) + 1),
    "a silu of two tensors": lambda y, x: y * torch.sigmoid(x),
    "a leaky relu without a slope": lambda y, x: F.leaky_relu(y, 0.0),
    "a leaky relu with slopes of channels": lambda y, x: F.prelu(y, x[0, :, 0, 0]),
    "a leaky relu from another number on": lambda y, x: torch.where(y > 0.5, y, y * 0.1),
    "a leaky relu of two tensors": lambda y, x: torch.where(x > 0, y, y * 0.1),
    "bounds in the wrong order": lambda y, x: torch.clamp(y, 0.5, -0.5),
    "bounds that are tensors": lambda y, x: torch.clamp(y, x.amin(), x.amax()),
    "one bound": lambda y, x: torch.clamp(y, max=0.5),
    "a hardsigmoid by another number": lambda y, x: F.relu6(y + 2.5) / 5,
    "written to after it was read": lambda y, x: (torch.sigmoid(y), y.add_(1)),
}


@pytest.mark.parametrize("what", ACTIVATIONS)
def test_no_activation_of_onednn(what: str) -> None:
    found = called(Layer(ACTIVATIONS[what]).eval(), image())
    if "hardsigmoid" in what:  # 2.5 goes into the bias, and a relu6 remains
        assert found == {("ConvolutionUnary", "hardtanh", 0.0, 6.0): 1}
    else:
        assert found == {CONVOLUTION: 1}


@needs_bf16
@pytest.mark.parametrize(
    "function",
    [
        lambda y, x: F.gelu(y.float()),
        lambda y, x: F.gelu(y.float()).half(),
        lambda y, x: torch.sigmoid(y.float() * 2).bfloat16(),
    ],
    ids=["it stays float32", "it becomes float16", "of something else"],
)
def test_no_activation_of_narrow_results(function: Callable[..., Any]) -> None:
    model = Layer(function).eval().bfloat16()
    found = called(model, image(dtype=torch.bfloat16), rtol=2e-2, atol=2e-2)
    assert found == {CONVOLUTION: 1}


SUMS: dict[str, tuple[Callable[..., Any], torch.Tensor]] = {
    "a factor": (lambda y, x, z: torch.add(y, z, alpha=2), image()),
    "a factor of a difference": (lambda y, x, z: torch.sub(y, z, alpha=0.5), image()),
    "subtracted from something": (lambda y, x, z: z - y, image()),
    "another dtype": (lambda y, x, z: y + z, image(dtype=torch.float64)),
    "integers": (lambda y, x, z: y + z, torch.arange(6)),
    "columns": (lambda y, x, z: y + z, image(6)),
    "rows": (lambda y, x, z: y + z, image(6, 1)),
    "images": (lambda y, x, z: y + z, image(2, 1, 1, 1)),
    "a larger tensor": (lambda y, x, z: y[:1] + z, image()),
    "one more dim": (lambda y, x, z: y + z, image(3, 2, 4, 6, 6)),
    "a product": (lambda y, x, z: y * z, image()),
    "itself": (lambda y, x, z: y + y, image()),
    "the result is returned too": (lambda y, x, z: (y + z, y), image()),
    "its maximum is read too": (lambda y, x, z: (y + z) * y.amax(), image()),
    "a number that is known in the run": (lambda y, x, z: y + z.item(), torch.tensor(2.0)),
}


@pytest.mark.parametrize("what", SUMS)
@torch._dynamo.config.patch(capture_scalar_outputs=True)
def test_no_sum_of_onednn(what: str) -> None:
    function, z = SUMS[what]
    assert called(Layer(function).eval(), image(), z) == {CONVOLUTION: 1}


#: Sums that are computed by oneDNN, and must not be written to what is added.
KEPT: dict[str, Callable[..., Any]] = {
    "an input": lambda y, x: y + x,
    "a part of an input": lambda y, x: y + torch.cat([x, x])[:2],
    "it is returned too": lambda y, x: (lambda z: (y + z, z))(torch.tanh(x)),
    "it is read later": lambda y, x: (lambda z: (y + z) * z.amax())(torch.tanh(x)),
    "a view of it is read later": lambda y, x: (lambda z: (y + z, z[0].sin()))(torch.tanh(x)),
    "it has another layout": lambda y, x: y + torch.tanh(x).transpose(2, 3).contiguous().mT,
    "it is one element for each channel": lambda y, x: y + torch.tanh(x[:1, :, :1, :1]),
}


@pytest.mark.parametrize("what", KEPT)
def test_not_in_place(what: str) -> None:
    x = image().contiguous(memory_format=torch.channels_last)
    assert called(Layer(KEPT[what]).eval(), x)[IN_PLACE] == 0


def test_in_place_for_comparison() -> None:
    def twice(y: Any, x: Any) -> Any:
        return y + torch.tanh(x)

    x = image().contiguous(memory_format=torch.channels_last)
    assert called(Layer(twice).eval(), x) == {IN_PLACE: 1}


def test_what_the_convolution_itself_reads_is_not_written() -> None:
    class Through(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Conv2d(4, 4, 3, padding=1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            z = torch.tanh(x)
            return self.layer(z) + z

    assert called(Through().eval(), image()) == {SUM: 1}


# ------------------------------------------------------------ packing


class Given(nn.Module):
    """A convolution by a weight that an input, or a function of one, is."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.weight = nn.Parameter(image(4, 4, 3, 3))
        self.function = function

    def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return self.function(x, w, self.weight)


UNPACKED: dict[str, Callable[..., Any]] = {
    "a weight that is given": lambda x, w, held: F.conv2d(x, w),
    "a weight that is computed in the run": lambda x, w, held: F.conv2d(x, held * w.amax()),
    "float64": lambda x, w, held: F.conv2d(x.double(), held.double()),
    "one dim": lambda x, w, held: F.conv1d(x[:, :, 0], held[:, :, 0]),
    "each channel by itself, transposed": lambda x, w, held: F.conv_transpose2d(
        x, held[:, :1], groups=4
    ),
    "no images": lambda x, w, held: F.conv2d(x[:0], held),
}


@pytest.mark.parametrize("what", UNPACKED)
def test_no_packed_convolution(what: str) -> None:
    found = called(Given(UNPACKED[what]).eval(), image(), image(4, 4, 3, 3))
    assert not any(name.startswith("Convolution") and name != "Convolution" for name, *_ in found)


PRODUCTS: dict[str, Callable[..., Any]] = {
    "a factor": lambda x, w, held: torch.addmm(held[0], x, held, alpha=2.0),
    "a factor of the bias": lambda x, w, held: torch.addmm(held[0], x, held, beta=0.5),
    "a bias of all elements": lambda x, w, held: torch.addmm(x, x, held),
    "a weight that is given": lambda x, w, held: x @ w,
    "a weight that is computed in the run": lambda x, w, held: x @ (held * w.amax()),
    "batches of weights": lambda x, w, held: torch.stack([x, x]) @ torch.stack([held, held + 1]),
    "float64": lambda x, w, held: x.double() @ held.double(),
}


class Product(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.weight = nn.Parameter(image(4, 4))
        self.function = function

    def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return self.function(x, w, self.weight)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("what", PRODUCTS)
def test_no_packed_linear(what: str, dynamic: bool) -> None:
    found = called(Product(PRODUCTS[what]).eval(), image(4, 4), image(4, 4), dynamic=dynamic)
    assert not {("LinearUnary",), ("MKLPackedLinear",)} & found.keys()


def test_transposed_convolutions_of_symbolic_sizes_stay() -> None:
    model = nn.ConvTranspose2d(4, 4, 2).eval()
    assert not [name for name, *_ in called(model, image(), dynamic=True) if "Transpose" in name]
    assert called(model, image()) == {("ConvolutionTransposeUnary",): 1}


def test_a_norm_in_training_mode_stays() -> None:
    model = nn.Sequential(nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4, track_running_stats=False))
    assert called(model.train(), image(), rtol=1e-3, atol=1e-4) == {CONVOLUTION: 1}
