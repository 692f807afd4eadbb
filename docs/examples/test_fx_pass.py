import pytest
import torch
from fx_pass import use_log1p, use_log1p_wrongly
from torch._inductor import config
from torch.fx.experimental.proxy_tensor import make_fx
from xdsl.utils.exceptions import VerifyException

import xductor


def f(x, n):
    return torch.log(x + 1), torch.log(n + 1)


INPUTS = torch.rand(8), torch.arange(8)


def graph_of(function, *inputs):
    return make_fx(function, tracing_mode="fake")(*inputs)


def test_the_graph_that_it_leaves_is_right():
    gm = graph_of(f, *INPUTS)
    use_log1p(gm.graph)
    xductor.check(gm)
    assert len(gm.graph.find_nodes(op="call_function", target=torch.ops.aten.log1p.default)) == 2
    torch.testing.assert_close(gm(*INPUTS), f(*INPUTS))


def test_a_mistake_is_found():
    """Only the dtype that the pass records is wrong, and only for integers."""
    gm = graph_of(f, *INPUTS)
    use_log1p_wrongly(gm.graph)
    with pytest.raises(VerifyException, match="i64"):
        xductor.check(gm)


def test_in_stock_inductor(xductor_capture, xductor_filecheck):
    with config.patch(post_grad_custom_post_pass=use_log1p):
        stages = xductor_capture(f, *INPUTS, backend="inductor")
    torch.testing.assert_close(stages.output, f(*INPUTS))
    after = stages.one("post_grad").after
    xductor_filecheck(
        after,
        """
        CHECK-COUNT-2: aten.log1p.default
        CHECK-NOT: aten.log.default
        """,
    )
    xductor.verify(after, level="types")
