"""What oneDNN reads as if it lay side by side, and sums that do not fit its 32 bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch._inductor import config

# Defines the operators `quantized_decomposed`.
from torch.ao.quantization.fx import _decomposed as _decomposed

import xductor
from xductor.backend.run_as_fx.without_codegen import without_codegen

_quantised = torch.ops.quantized_decomposed


def _data(x: Tensor, scale: float = 0.04, zero: int = 100) -> Tensor:
    numbers = (scale, zero, 0, 255, torch.uint8)
    return _quantised.dequantize_per_tensor(_quantised.quantize_per_tensor(x, *numbers), *numbers)


def _weight(weight: Tensor, scales: Tensor, zeros: Tensor) -> Tensor:
    return _quantised.dequantize_per_channel(weight, scales, zeros, 0, -128, 127, torch.int8)


class _Model(nn.Module):
    """A program with weights of twice its sizes, scales and zero points."""

    wide: Tensor
    scales: Tensor
    zeros: Tensor
    kernel: Tensor

    def __init__(self, program: Callable[..., Tensor], inner: int) -> None:
        super().__init__()
        torch.manual_seed(0)
        wide = torch.randint(-127, 128, (16, 2 * inner), dtype=torch.int8)
        self.register_buffer("wide", wide)
        self.register_buffer("scales", torch.rand(16) * 0.01 + 0.001)
        self.register_buffer("zeros", torch.zeros(16, dtype=torch.int64))
        self.register_buffer("kernel", torch.randint(-127, 128, (16, 4, 3), dtype=torch.int8))
        self.program = program

    @property
    def dense(self) -> Tensor:
        return _weight(self.wide[:8, : self.wide.shape[1] // 2], self.scales[:8], self.zeros[:8])

    def forward(self, *given: Tensor) -> Tensor:
        return self.program(self, *given)


def _strided(m: _Model, x: Tensor) -> Tensor:
    return F.linear(_data(x), _weight(m.wide[::2, ::2], m.scales[:8], m.zeros[:8]))


def _strided_scales(m: _Model, x: Tensor) -> Tensor:
    return F.linear(_data(x), _weight(m.wide[::2, ::2], m.scales[::2], m.zeros[::2]))


def _one_scale(m: _Model, x: Tensor) -> Tensor:
    weight = m.wide[:8, : m.wide.shape[1] // 2]
    return F.linear(_data(x), _weight(weight, m.scales[:1].expand(8), m.zeros[:1].expand(8)))


def _row(m: _Model, x: Tensor) -> Tensor:
    return F.linear(_data(x), m.dense, m.dense[:, 0])


def _input(m: _Model, x: Tensor, b: Tensor) -> Tensor:
    return F.linear(_data(x), m.dense, b[:8, 0])


def _spread(m: _Model, x: Tensor, b: Tensor) -> Tensor:
    return F.linear(_data(x), m.dense, b[0, :1].expand(8))


def _batches(m: _Model, x: Tensor, b: Tensor) -> Tensor:
    weight = m.dense.t()
    return torch.bmm(_data(x).expand(2, *x.shape), weight.expand(2, *weight.shape)) + b[:8, 0]


def _addmm(m: _Model, x: Tensor, b: Tensor) -> Tensor:
    return torch.addmm(b[:8, 0], _data(x), m.dense.t())


def _convolution(m: _Model, x: Tensor, b: Tensor) -> Tensor:
    data = _data(x[:, :16].reshape(1, 4, -1))
    return F.conv1d(data, _weight(m.kernel, m.scales, m.zeros), b[:, 0])


def _in_float(m: _Model, x: Tensor, b: Tensor) -> Tensor:
    return F.conv2d(x[:, :16].reshape(1, 4, 3, -1), m.kernel.float().unsqueeze(-1), b[:, 0])


_PROGRAMS: list[tuple[Callable[..., Tensor], int]] = [
    (_strided, 1), (_strided_scales, 0), (_one_scale, 0), (_row, 0), (_input, 0), (_spread, 0),
    (_batches, 0), (_addmm, 0), (_convolution, 0), (_in_float, 0),
]  # fmt: skip


def _packed(model: _Model, *given: Tensor) -> int:
    """How many int8 weights are packed; results are eager's."""
    torch._dynamo.reset()
    options: dict[str, Any] = {"xductor.on_error": "raise"}
    with torch.no_grad(), config.patch(freezing=True, force_disable_caches=True):
        wanted = model(*given)
        with without_codegen():
            found = torch.compile(model, backend="xductor", options=options)(*given)
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4 * float(wanted.abs().max()))
    record = xductor.last_compile()
    assert record is not None
    return sum(record.count(f"q{kind}_weight_prepack") for kind in ("linear", "conv"))


@pytest.mark.parametrize(("program", "count"), _PROGRAMS)
def test_layouts(program: Callable[..., Tensor], count: int) -> None:
    model = _Model(program, 16).eval()
    given = (torch.randn(3, 16), torch.randn(16, 3))
    assert _packed(model, *given[: program.__code__.co_argcount - 1]) == count


@pytest.mark.parametrize(
    ("inner", "zero", "count"), [(512, 100, 1), (512, 70_000, 0), (40_000, 0, 1), (70_000, 0, 0)]
)
def test_sums_that_may_not_fit_stay_in_float(inner: int, zero: int, count: int) -> None:
    def program(m: _Model, x: Tensor) -> Tensor:
        return F.linear(_data(x, 0.01, zero), m.dense)

    model = _Model(program, inner).eval()
    model.wide.fill_(127)
    assert _packed(model, torch.full((2, inner), 2.55)) == count
