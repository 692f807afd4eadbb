import pytest
import torch
from add_rms_norm import FuseAddRMSNorm, add_rms_norm

import xductor


class Layers(torch.nn.Module):
    def __init__(self, many: int = 3) -> None:
        super().__init__()
        self.linears = torch.nn.ModuleList(torch.nn.Linear(16, 16) for _ in range(many))
        self.weights = torch.nn.ParameterList(torch.rand(16) + 0.5 for _ in range(many))

    def forward(self, x, residual):
        for linear, weight in zip(self.linears, self.weights, strict=True):
            x, residual = add_rms_norm(linear(x), residual, weight)
        return x, residual


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_each_layer_is_fused(xductor_capture, xductor_fired, dtype):
    layers = Layers().to(dtype)
    x, residual = torch.randn(2, 4, 16, dtype=dtype)
    with torch.no_grad():
        stages = xductor_capture(layers, x, residual, rewrites=[FuseAddRMSNorm])
        torch.testing.assert_close(stages.output, layers(x, residual))
    xductor_fired(FuseAddRMSNorm, 3)


def test_a_residual_of_another_layout_stays(xductor_capture, xductor_fired):
    x, residual = torch.randn(4, 16), torch.randn(16, 4).t()
    xductor_capture(add_rms_norm, x, residual, torch.rand(16), rewrites=[FuseAddRMSNorm])
    xductor_fired(FuseAddRMSNorm, 0)


def test_it_is_right_on_generated_graphs():
    found = xductor.validate(FuseAddRMSNorm, instances=2)
    assert found.ok, found
