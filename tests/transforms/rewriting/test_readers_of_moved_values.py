"""Readers of values whose strides changed are made again, once each."""

from __future__ import annotations

import torch

from tests.specimens import onednn_specimens as specimens
from xductor.backend.fx.export import to_fx
from xductor.ir import verify
from xductor.transforms.onednn.convolution_packing import ConvolutionWeightPacking


class _Model(torch.nn.Module):
    """A product whose operands both follow to other strides, and a second layer behind it."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Conv2d(2, 2, 1), torch.nn.Conv2d(2, 2, 1)
        self.requires_grad_(False)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor]:
        y = self.first(x)
        return (self.second(y.sin() * y.cos() * y).sum(),)


def test_a_reader_of_several_moved_values() -> None:
    model, x = _Model(), torch.randn(1, 2, 3, 3)
    module = specimens.frozen(model, x)
    assert ConvolutionWeightPacking().rewrite(module) == 2
    verify(module, "types")
    torch.testing.assert_close(to_fx(module)(x), model(x))
