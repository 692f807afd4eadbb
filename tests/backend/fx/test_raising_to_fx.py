"""A fresh GraphModule: what it needs of the module that was lowered, or of its caller."""

from __future__ import annotations

import pytest
import torch
import torch.fx as fx

import xductor
from xductor.backend.fx.call_arguments import RaisingError

CALLS_A_MODULE = """
fx.graph @forward stage(pre_grad) (%x : !fx.tensor<f32[2, 3], cpu>) {
  %y = module.block.0 %x : !fx.tensor<f32[2, 4], cpu>
  fx.output (%y,)
}
"""


def test_a_submodule_is_that_of_the_module_lowered() -> None:
    model = torch.nn.Sequential(torch.nn.Sequential(torch.nn.Linear(3, 4)))
    gm = fx.symbolic_trace(model, concrete_args=None)
    x = torch.randn(2, 3)
    (linear,) = gm.graph.find_nodes(op="call_module", target="0.0") or [None]
    assert linear is not None
    module = xductor.from_fx(gm, stage="pre_grad", example_inputs=[x])
    raised = xductor.to_fx(module)
    assert raised.get_submodule("0.0") is gm.get_submodule("0.0")
    torch.testing.assert_close(raised(x), model(x))


def test_a_submodule_is_given_by_its_path() -> None:
    module = xductor.parse_ir(CALLS_A_MODULE)
    linear, x = torch.nn.Linear(3, 4), torch.randn(2, 3)
    raised = xductor.to_fx(module, attributes={"block.0": linear})
    torch.testing.assert_close(raised(x)[0], linear(x))


def test_a_submodule_that_is_missing_is_named() -> None:
    with pytest.raises(RaisingError, match=r"attributes=\{'block.0': module\}"):
        xductor.to_fx(xductor.parse_ir(CALLS_A_MODULE))


def test_a_graph_that_holds_a_live_object() -> None:
    """There is no Python code for a generator; FX's interpreter runs the graph all the same."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    x.meta["example_value"] = torch.empty(4)
    drawn = graph.call_function(torch.rand_like, (x,), {"generator": torch.Generator()})
    drawn.meta["example_value"] = torch.empty(4)
    graph.output((drawn,))
    gm = fx._lazy_graph_module._LazyGraphModule(torch.nn.Module(), graph)
    module = xductor.from_fx(gm, stage="pre_grad")
    raised = xductor.to_fx(module)
    (result,) = fx.Interpreter(raised).run(torch.empty(4))
    assert result.shape == (4,)
