"""Frozen models that train, write to what they hold, share it, or are quantised by odd numbers.

Each gives what eager gives, or raises where eager does; what the user holds is as eager leaves it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

import pytest
import torch
from torch import nn
from torch._dynamo.exc import BackendCompilerFailed, TorchRuntimeError
from torch._inductor import config

# Defines the operators `quantized_decomposed`.
from torch.ao.quantization.fx import _decomposed as _decomposed

import xductor
from tests.corpus.capture import passes_only

F = torch.nn.functional
aten = torch.ops.aten
quantised = torch.ops.quantized_decomposed

pytestmark = pytest.mark.filterwarnings("ignore")


class Held(nn.Module):
    """A function of an input and of the module, which holds tensors by their names."""

    def __init__(self, function: Callable[..., Any], **held: Any) -> None:
        super().__init__()
        self.function = function
        for name, value in held.items():
            if isinstance(value, torch.Tensor):
                value = nn.Parameter(value, requires_grad=value.is_floating_point())
            setattr(self, name, value)

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(self, x)


def image(*sizes: int) -> torch.Tensor:
    made = torch.randn(sizes or (2, 4, 5, 5), generator=torch.Generator().manual_seed(1))
    return made


def weight() -> torch.Tensor:
    return image(4, 4, 3, 3)


def same(found: torch.Tensor, wanted: torch.Tensor) -> None:
    torch.testing.assert_close(found, wanted, rtol=0, atol=0, equal_nan=True)


def run(model: nn.Module, x: torch.Tensor, needs_code: bool = False) -> list[Any]:
    """Two runs of a frozen model."""
    torch._dynamo.reset()
    way = nullcontext() if needs_code else passes_only()
    options: dict[str, Any] = {"xductor.on_error": "raise"}
    with torch.no_grad(), config.patch(freezing=True), way:
        compiled = torch.compile(model, backend="xductor", options=options)
        return [compiled(x) for _ in range(2)]


def check(
    make: Callable[[], nn.Module], x: torch.Tensor, needs_code: bool = False, atol: float = 1e-4
) -> nn.Module:
    """Compare two runs with eager's, and what the models hold afterwards."""
    torch.manual_seed(0)
    model = make()
    eager = copy.deepcopy(model)
    kept = model.state_dict(keep_vars=True)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    shared = {name: value.untyped_storage().data_ptr() for name, value in kept.items()}
    with torch.no_grad():
        expected = [eager(x) for _ in range(2)]
    for found, wanted in zip(run(model, x, needs_code), expected, strict=True):
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=atol)
    after = model.state_dict(keep_vars=True)
    assert list(after) == list(kept)
    for name, value in eager.state_dict().items():
        assert after[name] is kept[name]
        assert after[name].untyped_storage().data_ptr() == shared[name]
        if torch.equal(value, before[name]):  # eager did not write to it
            same(after[name], before[name])
        else:
            torch.testing.assert_close(after[name].detach(), value, rtol=1e-4, atol=1e-5)
    return model


# ------------------------------------------------------------ training mode


TRAINING: Mapping[str, Callable[[], nn.Module]] = {
    "a norm that counts": lambda: nn.Sequential(nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4), nn.ReLU()),
    "a transposed one": lambda: nn.Sequential(nn.ConvTranspose2d(4, 4, 3), nn.BatchNorm2d(4)),
    "a norm without momentum": lambda: nn.Sequential(
        nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4, momentum=None)
    ),
    "a norm of one layer in eval mode": lambda: nn.Sequential(
        nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4).eval(), nn.Conv2d(4, 4, 1), nn.BatchNorm2d(4)
    ),
}


@pytest.mark.parametrize("name", TRAINING)
def test_training_mode(name: str) -> None:
    check(lambda: TRAINING[name](), image())


def test_gradients_are_those_of_eager() -> None:
    model, x = nn.Sequential(nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4)), image()
    eager = copy.deepcopy(model)
    torch._dynamo.reset()
    with config.patch(freezing=True), passes_only():
        torch.compile(model, backend="xductor")(x).square().sum().backward()
    eager(x).square().sum().backward()
    for found, wanted in zip(model.parameters(), eager.parameters(), strict=True):
        torch.testing.assert_close(found.grad, wanted.grad, rtol=1e-3, atol=1e-3)
    for found, wanted in zip(model.buffers(), eager.buffers(), strict=True):
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)
    assert xductor.last_compile().count("mkldnn_convolution_packing") == 0


# ------------------------------------------------------------ writes


def _grows(self: Any, x: Any) -> Any:
    self.w.add_(1)
    return F.conv2d(x, self.w)


def _grows_later(self: Any, x: Any) -> Any:
    y = F.conv2d(x, self.w)
    self.w.mul_(0.5)
    return y + F.conv2d(x, self.w)


def _grows_in_part(self: Any, x: Any) -> Any:
    self.w.view(-1)[:5].fill_(2.0)
    return F.conv2d(x, self.w).relu()


def _counts(self: Any, x: Any) -> Any:
    self.b.add_(1)
    return (F.conv2d(x, self.w) + self.b.view(4, 1, 1)) * self.b.view(4, 1, 1)


def _of_a_linear(self: Any, x: Any) -> Any:
    y = F.linear(x, self.v, self.c)
    self.v.neg_()
    self.c.add_(0.5)
    return y


WRITES: Mapping[str, tuple[Callable[[], nn.Module], torch.Tensor]] = {
    "before": (lambda: Held(_grows, w=weight()), image()),
    "between": (lambda: Held(_grows_later, w=weight()), image()),
    "in part": (lambda: Held(_grows_in_part, w=weight()), image()),
    "what would be folded": (lambda: Held(_counts, w=weight(), b=torch.ones(4)), image()),
    "weight and bias": (lambda: Held(_of_a_linear, v=image(3, 5), c=torch.ones(3)), image(2, 5)),
}


@pytest.mark.parametrize("name", WRITES)
def test_parameters_that_are_written_to(name: str) -> None:
    make, x = WRITES[name]
    check(make, x)
    count = xductor.last_compile().count
    assert count("binary_folding") == 0
    assert count("mkldnn_convolution_packing") == (1 if name == "what would be folded" else 0)


class Aliased(nn.Module):
    """A weight, and a buffer that is a part of its memory and is written to."""

    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(weight())
        self.register_buffer("part", self.w.detach()[:2])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        part: Any = self.part
        part.add_(1)
        return F.conv2d(x, self.w)


def test_what_autograd_refuses_of_two_names_is_its_error() -> None:
    model = Aliased()
    with pytest.raises(BackendCompilerFailed, match="Aliased inputs share storage"):
        run(model, image())
    same(model.w.detach(), weight())


# ------------------------------------------------------------ shared weights


def _twice(self: Any, x: Any) -> Any:
    return F.conv2d(torch.relu(F.conv2d(x, self.w, padding=1)), self.w) * 2


def _also_returned(self: Any, x: Any) -> Any:
    return F.conv2d(x, self.w) * 2, self.w


def _parts(self: Any, x: Any) -> Any:
    return F.conv2d(x[:, :2], self.w[:, :2]) + F.conv2d(x, self.w) * 3


def _transposed(self: Any, x: Any) -> Any:
    return (x @ self.v) @ self.v.t() + x


SHARED: Mapping[str, tuple[Callable[[], nn.Module], torch.Tensor]] = {
    "one weight twice": (lambda: Held(_twice, w=weight()), image()),
    "a weight that is returned": (lambda: Held(_also_returned, w=weight()), image()),
    "a weight and a part of it": (lambda: Held(_parts, w=weight()), image()),
    "a weight and its transpose": (lambda: Held(_transposed, v=image(5, 5)), image(3, 5)),
}


@pytest.mark.parametrize("name", SHARED)
def test_shared_weights(name: str) -> None:
    make, x = SHARED[name]
    model = check(make, x)
    if name == "a weight that is returned":
        assert run(model, x)[0][1] is model.w


def test_two_names_of_one_parameter() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Conv2d(4, 4, 3, padding=1)
            self.second = nn.Conv2d(4, 4, 3, bias=False)
            self.second.weight = self.first.weight

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.second(self.first(x) * 0.5)

    model = check(Tied, image())
    assert model.second.weight is model.first.weight  # type: ignore[union-attr]


# ------------------------------------------------------------ quantised


def _int8(self: Any, x: Any) -> Any:
    return torch.relu(F.linear(x, self.w.to(torch.bfloat16)) * self.s)


def _rows() -> torch.Tensor:
    return torch.randint(-9, 9, (16, 64), dtype=torch.int8, generator=torch.Generator())


SCALES: Mapping[str, torch.Tensor] = {
    "one": torch.tensor(0.5, dtype=torch.bfloat16),
    "one, as a vector": torch.full((1,), 0.5, dtype=torch.bfloat16),
    "for each row": torch.linspace(0.5, 1, 3).to(torch.bfloat16).view(3, 1),
    "float32": torch.linspace(0.5, 1, 16),
    "every second one": torch.linspace(0.5, 1, 32).to(torch.bfloat16)[::2],
}


@pytest.mark.parametrize("name", SCALES)
def test_odd_scales_of_an_int8_weight(name: str) -> None:
    x = image(3, 64).to(torch.bfloat16)
    check(lambda: Held(_int8, w=_rows(), s=SCALES[name]), x, atol=0.5)


def test_scales_that_do_not_fit_raise_as_in_eager() -> None:
    model = Held(_int8, w=_rows(), s=torch.ones(7, dtype=torch.bfloat16))
    x = image(3, 64).to(torch.bfloat16)
    with pytest.raises(RuntimeError, match=r"must match the size|Dynamo failed"):
        run(model, x)
    with pytest.raises(RuntimeError, match="must match the size"), torch.no_grad():
        model(x)


def _int4(group: int, rows: int = 64, groups: int = 2) -> nn.Module:
    packed = aten._convert_weight_to_int4pack_for_cpu(
        torch.randint(0, 16, (64, 64), dtype=torch.int32), 1
    )

    def product(self: Any, x: Any) -> Any:
        return [aten._weight_int4pack_mm_for_cpu(x, self.w, group, self.s) for _ in range(2)]

    return Held(product, w=packed, s=torch.rand(groups, rows, 2).to(torch.bfloat16))


@pytest.mark.parametrize("given", [(48, 64, 2), (32, 63, 2)])
def test_int4_products_that_eager_refuses(given: tuple[int, int, int]) -> None:
    x, model = image(3, 64).to(torch.bfloat16), _int4(*given)
    with pytest.raises(RuntimeError), torch.no_grad():
        model(x)
    with (
        pytest.raises((RuntimeError, TorchRuntimeError)),
        config.patch({"cpp.enable_concat_linear": True}),
    ):
        run(model, x)


def _pt2e(
    scale: Any, zero: Any, weight_scales: torch.Tensor, weight_zeros: torch.Tensor
) -> nn.Module:
    """A linear between PT2E's quantisations; tensors among the numbers are held by the module."""
    tensors = isinstance(scale, torch.Tensor)
    quantise = quantised.quantize_per_tensor
    dequantise = quantised.dequantize_per_tensor
    down = quantise.tensor if tensors else quantise.default
    up = dequantise.tensor if tensors else dequantise.default

    def product(self: Any, x: Any) -> Any:
        given = (self.scale, self.zero) if tensors else (scale, zero)
        weight = quantised.dequantize_per_channel(
            self.w, self.ws, self.wz, 0, -128, 127, torch.int8
        )
        narrow = down(x, *given, 0, 255, torch.uint8)
        return F.linear(up(narrow, *given, 0, 255, torch.uint8), weight)

    held: dict[str, Any] = {"scale": scale, "zero": zero} if tensors else {}
    generator = torch.Generator().manual_seed(2)
    narrow = torch.randint(-128, 127, (8, 8), dtype=torch.int8, generator=generator)
    return Held(product, w=narrow, ws=weight_scales, wz=weight_zeros, **held)


SCALES_OF_ROWS, ZEROS = torch.linspace(0.01, 0.02, 8), torch.zeros(8, dtype=torch.int64)
QUANTISED: Mapping[str, tuple[Any, Any, torch.Tensor, torch.Tensor]] = {
    "numbers": (0.05, 100, SCALES_OF_ROWS, ZEROS),
    "tensors": (torch.tensor(0.05), torch.tensor(100), SCALES_OF_ROWS, ZEROS),
    "a zero point above the range": (0.05, 300, SCALES_OF_ROWS, ZEROS),
    "a zero point below the range": (0.05, -20, SCALES_OF_ROWS, ZEROS),
    "zero points of the weight": (0.05, 100, SCALES_OF_ROWS, torch.arange(8)),
    "zero points of the weight out of range": (0.05, 100, SCALES_OF_ROWS, ZEROS + 200),
}


@pytest.mark.skipif(not torch._C._has_mkldnn, reason="no oneDNN")
@pytest.mark.parametrize("name", QUANTISED)
def test_odd_numbers_of_pt2e(name: str) -> None:
    check(lambda: _pt2e(*QUANTISED[name]), image(3, 8), needs_code=True, atol=1e-3)


@pytest.mark.parametrize("count", [7, 9])
def test_scales_of_rows_of_the_wrong_number(count: int) -> None:
    zeros = torch.zeros(count, dtype=torch.int64)
    model, x = _pt2e(0.05, 100, torch.ones(count), zeros), image(3, 8)
    raised: list[type[BaseException]] = []
    for backend in ("inductor", "xductor"):
        torch._dynamo.reset()
        with (
            torch.no_grad(),
            config.patch(freezing=True, fx_graph_cache=False),
            pytest.raises(Exception) as error,  # noqa: PT011
        ):
            torch.compile(model, backend=backend)(x)
        raised.append(error.type)
    assert raised[0] is raised[1]
