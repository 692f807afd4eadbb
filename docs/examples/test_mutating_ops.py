import torch
from mutating_ops import FuseSiluAndMulQuantize, quantized_mlp


def inputs(dtype=torch.float32):
    return torch.randn(6, 32, dtype=dtype), torch.tensor(0.02)


def test_two_writes_become_one(xductor_capture, xductor_fired):
    x, scale = inputs()
    stages = xductor_capture(quantized_mlp, x, scale, rewrites=[FuseSiluAndMulQuantize])
    assert torch.equal(stages.output, quantized_mlp(x, scale))
    xductor_fired(FuseSiluAndMulQuantize, 1)


def test_nothing_is_copied(xductor_capture, xductor_filecheck):
    """At the end of the stages the op writes into the buffer of the result, and the other buffer
    is gone.
    """
    stages = xductor_capture(quantized_mlp, *inputs(), rewrites=[FuseSiluAndMulQuantize])
    xductor_filecheck(
        stages.one("post_grad").after,
        """
        CHECK: %[[OUT:.*]] = aten.empty
        CHECK-NOT: aten.empty
        CHECK-NOT: clone
        CHECK: examples.silu_and_mul_quantize_into.default %[[OUT]]
        CHECK-NEXT: fx.output (%[[OUT]],)
        """,
    )


def test_a_product_that_is_read_elsewhere_stays(xductor_capture, xductor_fired):
    def both(x, scale):
        gated = x.new_empty(x.shape[0], x.shape[1] // 2)
        torch.ops.examples.silu_and_mul_into(gated, x)
        out = torch.empty_like(gated, dtype=torch.int8)
        torch.ops.examples.quantize_into(out, gated, scale)
        return out, gated

    x, scale = inputs()
    stages = xductor_capture(both, x, scale, rewrites=[FuseSiluAndMulQuantize])
    torch.testing.assert_close(stages.output, both(x, scale))
    xductor_fired(FuseSiluAndMulQuantize, 0)
