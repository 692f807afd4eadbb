"""A fresh GraphModule: what it needs of the module that was lowered, or of its caller."""

from __future__ import annotations

import pytest
import torch
import torch.fx as fx
from xdsl.dialects.builtin import ModuleOp

import xductor
from xductor.backend.fx.call_arguments import RaisingError
from xductor.ir import entry_graph
from xductor.transforms import TypedPass
from xductor.transforms.editing.editor import Editor

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


def test_what_is_made_goes_below_the_inputs() -> None:
    """Parameters that became constants stand above the inputs behind them."""
    graph, mul = fx.Graph(), torch.ops.aten.mul.Tensor
    w, v, x = graph.get_attr("w"), graph.get_attr("v"), graph.placeholder("x")
    y = graph.call_function(mul, (x, w))
    z = graph.call_function(mul, (y, v))
    graph.output((z,))
    for node in (w, v, x, y, z):
        node.meta["val"] = torch.empty(3)
    gm = fx.GraphModule({"w": torch.randn(3), "v": torch.randn(3)}, graph)
    module = xductor.from_fx(gm, stage="post_grad")
    assert _Reassociated().rewrite(module) == 1
    given = torch.randn(3)
    xductor.to_fx(module, into=gm)
    gm.graph.lint()
    torch.testing.assert_close(gm(given)[0], given * (gm.w * gm.v))


class _Reassociated(TypedPass):
    """`(x * w) * v` as `x * (w * v)`, with the new product above all that uses it."""

    name = "reassociated"
    stage = "post_grad"

    def rewrite(self, module: ModuleOp) -> int:
        graph = entry_graph(module)
        first, second = [op for op in graph.block.ops if op.name == "aten.mul.Tensor"]
        with Editor(graph) as editor:
            (x, w), v = first.operands, second.operands[1]
            held = editor.call("aten.mul.Tensor", (w, v), above=first).results[0]
            made = editor.call("aten.mul.Tensor", (x, held), above=second)
            editor.replace(second, *made.results)
            editor.erase(first)
        return 1
