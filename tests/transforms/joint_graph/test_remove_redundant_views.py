"""`remove_redundant_views`: the same bytes as the same dtype, once."""

from __future__ import annotations

from typing import Any

import torch
from torch._inductor.fx_passes import joint_graph
from torch._subclasses import FakeTensorMode

from xductor.frontend import from_fx
from xductor.ir import print_ir
from xductor.transforms.joint_graph.remove_redundant_views import RemoveRedundantViews

VIEW = "aten.view.dtype"


def _views(case: Any) -> int:
    return case.ops.count(VIEW)


def test_two_views_to_one_dtype(trace: Any, special: Any) -> None:
    def f(x: Any) -> Any:
        return x.view(torch.int32) + 1, x.view(torch.int32) * 2, x.view(torch.int16) + 3

    case = trace(f, special(3, 4))
    assert case.run(RemoveRedundantViews()) == 1
    assert _views(case) == 2
    case.check_values(special(3, 4))


def test_a_view_back(trace: Any, special: Any) -> None:
    case = trace(lambda x: x.view(torch.int16).view(torch.float32) + 1, special(3, 4))
    assert case.run(RemoveRedundantViews()) >= 2
    assert _views(case) == 0
    case.check_values(special(3, 4))


def test_a_view_by_way_of_another(trace: Any, special: Any) -> None:
    def f(x: Any) -> Any:
        bits = x.view(torch.int32)
        return bits + 1, x.view(torch.int16).view(torch.int32) * 2

    case = trace(f, special(3, 4))
    assert case.run(RemoveRedundantViews()) >= 2
    assert _views(case) == 1
    case.check_values(special(3, 4))


def test_different_tensors(trace: Any, special: Any) -> None:
    def f(x: Any) -> Any:
        return x.view(torch.int32) + 1, (x * 2).view(torch.int32) + 1

    case = trace(f, special(3, 4))
    assert case.run(RemoveRedundantViews()) == 0
    case.check_values(special(3, 4))


def test_outputs_stay_tensors_of_their_own(parse: Any) -> None:
    """Two returned views are two tensors, and a view back to an input is not the input."""
    case = parse("""
        fx.graph @g stage(joint) symbols() (%x : !fx.tensor<f32[4], cpu>) {
          %a = aten.view.dtype %x, i32 : !fx.tensor<i32[4], cpu>
          %b = aten.view.dtype %x, i32 : !fx.tensor<i32[4], cpu>
          %c = aten.view.dtype %b, f32 : !fx.tensor<f32[4], cpu>
          fx.output (%a, %b, %c)
        }""")
    assert case.run(RemoveRedundantViews()) == 0
    case = parse("""
        fx.graph @g stage(joint) symbols() (%x : !fx.tensor<f32[4], cpu>) {
          %a = aten.view.dtype %x, i32 : !fx.tensor<i32[4], cpu>
          %b = aten.view.dtype %x, i32 : !fx.tensor<i32[4], cpu>
          %n = aten.neg.default %a : !fx.tensor<i32[4], cpu>
          fx.output (%n, %b)
        }""")
    assert case.run(RemoveRedundantViews()) == 1
    assert "fx.output (%n, %a)" in case.text


def test_writes_are_seen_through_every_view(trace: Any, special: Any) -> None:
    def f(x: Any) -> Any:
        y = x.neg()
        early, late = y.view(torch.int32), y.view(torch.int32)
        late.add_(1)
        return early * 2, late + 1

    case = trace(f, special(3, 4))
    assert case.run(RemoveRedundantViews()) == 1
    case.check_values(special(3, 4))


def test_other_sizes_stay(trace: Any, special: Any) -> None:
    def f(x: Any) -> Any:
        return x.view(torch.int32) + 1, x.t().view(torch.int32) + 1

    case = trace(f, special(3, 4))
    assert case.run(RemoveRedundantViews()) == 0
    case.check_values(special(3, 4))


def test_symbolic_sizes(trace: Any, special: Any) -> None:
    def f(x: Any) -> Any:
        return x.view(torch.int16) + 1, x.view(torch.int16) * 2

    case = trace(f, special(3, 4), dynamic=True)
    assert case.run(RemoveRedundantViews()) == 1
    case.check_values(special(5, 2))


def test_as_inductor() -> None:
    """Both leave as many views, of a graph that is functional as the joint graph is."""
    view = torch.ops.aten.view.dtype
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    with FakeTensorMode():
        x.meta["val"] = torch.randn(3, 4)

        def made(source: torch.fx.Node, dtype: torch.dtype) -> torch.fx.Node:
            node = graph.call_function(view, (source, dtype))
            node.meta["val"] = source.meta["val"].view(dtype)
            return node

        bits = made(x, torch.int32)
        back = made(bits, torch.float32)
        halves, again = made(back, torch.int16), made(x, torch.int32)
        used = [
            graph.call_function(torch.ops.aten.neg.default, (node,))
            for node in (bits, back, halves, again)
        ]
        for node in used:
            node.meta["val"] = torch.neg(node.args[0].meta["val"])  # type: ignore[union-attr]
        graph.output(tuple(used))
    gm = torch.fx.GraphModule(torch.nn.Module(), graph)
    module = from_fx(gm, "joint")
    assert RemoveRedundantViews().rewrite(module) == 2
    left = print_ir(module).count(VIEW)
    joint_graph.remove_redundant_views(gm)
    assert left == len(gm.graph.find_nodes(op="call_function", target=view)) == 2
