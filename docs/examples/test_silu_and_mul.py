import pytest
import torch
from silu_and_mul import FuseSiluAndMul, silu_and_mul

import xductor


class MLP(torch.nn.Module):
    def __init__(self, hidden: int = 32) -> None:
        super().__init__()
        self.up = torch.nn.Linear(16, 2 * hidden)
        self.down = torch.nn.Linear(hidden, 16)

    def forward(self, x):
        return self.down(silu_and_mul(self.up(x)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_inference(xductor_capture, xductor_fired, dtype):
    mlp, x = MLP().to(dtype), torch.randn(6, 16, dtype=dtype)
    with torch.no_grad():
        stages = xductor_capture(mlp, x, rewrites=[FuseSiluAndMul])
        exact = MLP().double()
        exact.load_state_dict(mlp.state_dict())
        close = (
            {"rtol": 1e-5, "atol": 1e-5} if dtype == torch.float32 else {"rtol": 0.02, "atol": 0.02}
        )
        torch.testing.assert_close(stages.output.double(), exact(x.double()), **close)
    xductor_fired(FuseSiluAndMul, 1)


def test_any_number_of_tokens(xductor_capture, xductor_fired):
    mlp, x = MLP(), torch.randn(6, 16)
    torch._dynamo.mark_dynamic(x, 0)
    with torch.no_grad():
        stages = xductor_capture(mlp, x, rewrites=[FuseSiluAndMul])
    torch.testing.assert_close(stages.output, mlp(x))
    xductor_fired(FuseSiluAndMul, 1)


def test_a_size_that_the_kernel_does_not_take(xductor_capture, xductor_fired):
    with torch.no_grad():
        xductor_capture(MLP(hidden=20), torch.randn(6, 16), rewrites=[FuseSiluAndMul])
    xductor_fired(FuseSiluAndMul, 0)
    said = xductor.explain(FuseSiluAndMul, silu_and_mul, torch.randn(6, 40))
    assert "where" in str(said)


def test_training(xductor_capture, xductor_fired):
    mlp, x = MLP(), torch.randn(6, 16)
    expected = torch.autograd.grad(mlp(x).sum(), list(mlp.parameters()))
    xductor_capture(mlp, x, rewrites=[FuseSiluAndMul])
    torch.testing.assert_close([one.grad for one in mlp.parameters()], [*expected])
    xductor_fired(FuseSiluAndMul, 1)
