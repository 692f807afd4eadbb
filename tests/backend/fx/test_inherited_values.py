"""A call in the place of another takes over its fake value where it would give one like it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.fx as fx
from torch.fx.experimental.proxy_tensor import make_fx

import xductor
from xductor.ir import ArgsAttr, ListArg, Ref, entry_graph, op_class_by_name
from xductor.transforms.joint_graph.pointless_permute_pair import PointlessPermutePair
from xductor.transforms.rewriting.rewrite_pass import RewritePass

aten = torch.ops.aten


def _traced(function: Callable[..., Any]) -> fx.GraphModule:
    return make_fx(function, tracing_mode="fake")(torch.ones(2, 3))


def _storage(node: fx.Node) -> int:
    return node.meta["val"].untyped_storage()._cdata


def _node(gm: fx.GraphModule, target: Any) -> fx.Node:
    (found,) = gm.graph.find_nodes(op="call_function", target=target)
    return found


def _instead(gm: fx.GraphModule, target: Any, name: str, *args: Any, erase: bool = True) -> None:
    """Put a call of `name` in the place of the call of `target`, with its type."""
    module = xductor.from_fx(gm, "post_grad")
    graph = entry_graph(module)
    (op,) = [one for one in graph.block.ops if getattr(one, "target", None) is target]
    result: Any = op.results[0]
    cls: Any = op_class_by_name(name)
    node = op.node.inherited(op.node.names if erase else ("other",), "")  # type: ignore[attr-defined]
    made = cls.make(ArgsAttr((Ref(0), *args)), [op.operands[0]], [result.type], node)
    graph.block.insert_op_after(made, op)
    if erase:
        result.replace_all_uses_with(made.results[0])
        graph.block.erase_op(op)
    else:
        (user,) = [use.operation for use in result.uses]
        user.operands[0] = made.results[0]
        graph.output.operands[0] = result
    xductor.to_fx(module, into=gm)


def test_a_view_in_the_place_of_a_view() -> None:
    gm = _traced(lambda x: x.permute(1, 0).permute(1, 0).permute(1, 0).sin())
    (x,) = gm.graph.find_nodes(op="placeholder")
    values = [
        node.meta["val"]
        for node in gm.graph.find_nodes(op="call_function", target=aten.permute.default)
    ]
    module = xductor.from_fx(gm, "joint")
    assert RewritePass.of([PointlessPermutePair()]).rewrite(module) > 0
    xductor.to_fx(module, into=gm)
    made = _node(gm, aten.permute.default)
    assert any(made.meta["val"] is value for value in values)
    assert made.meta["val"].shape == (3, 2)
    assert _storage(made) == _storage(x)
    xductor.verify(xductor.from_fx(gm, "joint"), "types")


def test_a_copy_in_the_place_of_a_view_has_storage_of_its_own() -> None:
    gm = _traced(lambda x: x.view(2, 3).sin())
    (x,) = gm.graph.find_nodes(op="placeholder")
    _instead(gm, aten.view.default, "aten.clone.default", None)
    assert _storage(_node(gm, aten.clone.default)) != _storage(x)


def test_a_view_in_the_place_of_a_copy_has_the_storage_viewed() -> None:
    gm = _traced(lambda x: x.clone().sin())
    (x,) = gm.graph.find_nodes(op="placeholder")
    _instead(gm, aten.clone.default, "aten.view.default", ListArg((2, 3)))
    assert _storage(_node(gm, aten.view.default)) == _storage(x)


def test_a_copy_in_the_place_of_a_copy() -> None:
    gm = _traced(lambda x: x.neg().sin())
    value = _node(gm, aten.neg.default).meta["val"]
    _instead(gm, aten.neg.default, "aten.abs.default")
    assert _node(gm, aten.abs.default).meta["val"] is value


def test_what_stays_keeps_its_value_to_itself() -> None:
    gm = _traced(lambda x: x.neg().sin())
    _instead(gm, aten.neg.default, "aten.abs.default", erase=False)
    assert _node(gm, aten.abs.default).meta["val"] is not _node(gm, aten.neg.default).meta["val"]
