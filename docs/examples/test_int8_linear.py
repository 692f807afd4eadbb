import pytest
import torch
from int8_linear import FuseInt8Linear, Int8Linear

import xductor


@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no_bias"])
def test_inference(xductor_capture, xductor_fired, bias):
    layer = Int8Linear(torch.nn.Linear(32, 16, bias=bias))
    x = torch.randn(4, 6, 32)
    with torch.no_grad():
        stages = xductor_capture(layer, x, rewrites=[FuseInt8Linear])
        torch.testing.assert_close(stages.output, layer(x), rtol=1e-4, atol=1e-5)
    xductor_fired(FuseInt8Linear, 1)


def test_it_is_right_on_generated_graphs():
    found = xductor.validate(FuseInt8Linear, instances=4)
    assert found.ok, found


def test_an_input_that_is_trained_is_left_alone(xductor_capture, xductor_fired):
    """An adapter before the layer is trained: the gradient flows through eager's ops."""
    layer, x = Int8Linear(torch.nn.Linear(32, 16)), torch.randn(4, 32, requires_grad=True)
    (expected,) = torch.autograd.grad(layer(x).sum(), [x])
    xductor_capture(layer, x, rewrites=[FuseInt8Linear])
    xductor_fired(FuseInt8Linear, 0)
    torch.testing.assert_close(x.grad, expected)
