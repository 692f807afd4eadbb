import pytest
import torch
from rms_norm import FuseRMSNorm, rms_norm

import xductor


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(16, 16)
        self.weight = torch.nn.Parameter(torch.rand(16) + 0.5)

    def forward(self, x):
        return self.linear(rms_norm(x, self.weight, 1e-5)).relu()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_inference(xductor_capture, xductor_fired, dtype):
    block, x = Block().to(dtype), torch.randn(4, 6, 16, dtype=dtype)
    with torch.no_grad():
        stages = xductor_capture(block, x, rewrites=[FuseRMSNorm])
        torch.testing.assert_close(stages.output, block(x))
    xductor_fired(FuseRMSNorm, 1)
    assert "examples.rms_norm.default" in stages.one("post_grad").after_text


def test_training(xductor_capture, xductor_fired):
    """The gradients of the input and of each parameter are those of eager."""
    block, x = Block(), torch.randn(4, 6, 16, requires_grad=True)
    expected = torch.autograd.grad(block(x).sum(), [x, *block.parameters()])
    xductor_capture(block, x, rewrites=[FuseRMSNorm])
    xductor_fired(FuseRMSNorm, 1)
    torch.testing.assert_close([x.grad, *(one.grad for one in block.parameters())], [*expected])


def test_other_norms_stay(xductor_capture, xductor_fired):
    def layer_norm(x):
        return torch.nn.functional.layer_norm(x, (16,))

    xductor_capture(layer_norm, torch.randn(4, 16), rewrites=[FuseRMSNorm])
    xductor_fired(FuseRMSNorm, 0)


def test_it_is_right_on_generated_graphs():
    found = xductor.validate(FuseRMSNorm, instances=4, dtypes=[torch.float32, torch.bfloat16])
    assert found.ok, found
