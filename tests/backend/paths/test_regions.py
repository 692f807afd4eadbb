"""Parts of a program that are compiled for themselves."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import torch
from torch._dynamo.backends.common import aot_autograd
from torch.fx.experimental.proxy_tensor import make_fx

from tests.backend.paths.through_stages import (
    FORWARD,
    OPTIONS,
    Chain,
    StageRecords,
    chain,
    leaves,
    square,
)
from xductor.backend.seam import dispatch


def test_submodule(stages: StageRecords) -> None:
    """Only the compiled submodule is ours; what stands around it stays eager."""
    model, x = torch.nn.Sequential(Chain(), Chain()), square()
    expected = model(x)
    model[1].compile(backend="xductor", options=OPTIONS)
    with torch.no_grad():
        torch.testing.assert_close(model(x), expected.detach())
    assert stages.names() == FORWARD


def test_nested_compile_region(stages: StageRecords) -> None:
    """A region has its own graph in each stage and each direction, children first."""

    @torch.compiler.nested_compile_region
    def region(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return chain(x, w)

    def twice(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return region(region(x, w), w)

    x, w = square(True), square(True)
    again = leaves(x, w)
    out = torch.compile(twice, backend="xductor", options=OPTIONS, fullgraph=True)(x, w)
    expected = twice(*again)
    torch.testing.assert_close(out, expected)
    assert stages.names().count("pre_grad") == 2
    assert stages.take().count("post_grad") == 2
    out.backward(torch.ones(4, 4))
    expected.backward(torch.ones(4, 4))
    torch.testing.assert_close([x.grad, w.grad], [leaf.grad for leaf in again])
    assert stages.names() == ["post_grad", "post_grad"]


def test_invoke_subgraph_compiled_by_itself(stages: StageRecords) -> None:
    """A region with a compiler of its own goes to Inductor behind AOTAutograd: post-grad only."""
    invoke_subgraph = import_module("torch._higher_order_ops.invoke_subgraph")
    x, w = square(), square()
    gm = make_fx(lambda x, w: (chain(x, w),), tracing_mode="fake")(x, w)
    with dispatch.installed(OPTIONS):
        compiled = invoke_subgraph.invoke_subgraph_inductor_compile(gm, [x, w])
    torch.testing.assert_close(compiled(x, w)[0], chain(x, w))
    assert stages.names() == ["post_grad"]


def test_annotated_region(stages: StageRecords) -> None:
    """``compile_with_inductor`` marks a part of a graph that another backend runs eagerly."""
    from torch.fx.passes.regional_inductor import regional_inductor

    def marked(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        with torch.fx.traceback.annotate({"compile_with_inductor": "here"}):
            product = chain(x, w)
        return product.relu()

    def compile_marked(gm: torch.fx.GraphModule, inputs: Any) -> Any:
        return regional_inductor(gm, inputs)

    eager_but_marked = aot_autograd(fw_compiler=compile_marked, bw_compiler=compile_marked)
    x, w = square(), square()
    with dispatch.installed(OPTIONS), torch.fx.traceback.preserve_node_meta(enable=False):
        out = torch.compile(marked, backend=eager_but_marked, fullgraph=True)(x, w)
    torch.testing.assert_close(out, marked(x, w))
    assert stages.names() == FORWARD


def test_branches(stages: StageRecords) -> None:
    """Both branches of a ``cond``, then the graph that holds them."""

    def branched(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return torch.cond(x[0, 0] > w[0, 0], chain, torch.mm, (x, w))

    x, w = square(), square()
    with torch.no_grad():
        compiled = torch.compile(branched, backend="xductor", options=OPTIONS, fullgraph=True)
        torch.testing.assert_close(compiled(x, w), branched(x, w))
    assert stages.names() == ["pre_grad"] * 3 + ["joint"] * 3 + ["post_grad"] * 3
    assert stages.pairs_removed() == 1
