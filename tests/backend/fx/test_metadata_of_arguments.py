"""What a call keeps of its metadata when a rewrite gives it another operand: the table says it."""

from __future__ import annotations

from typing import Any

import torch
import torch.fx as fx
from torch._subclasses import FakeTensorMode

from xductor import Rewrite, Tensor
from xductor.backend.steps.runner import run_typed
from xductor.ir import aten
from xductor.ir.dialect.metadata import MetadataClass, keys_of
from xductor.transforms.rewriting.rewrite_pass import RewritePass

_ATEN = torch.ops.aten
_OWN = object()


class NegNeg(Rewrite):
    stage = "joint"

    def pattern(self, x: Tensor) -> Any:
        return aten.neg(aten.neg(x))

    def replacement(self, x: Tensor) -> Any:
        return x


def _graph() -> tuple[fx.GraphModule, fx.Node, fx.Node]:
    """A sum whose first operand goes, and a sine that nothing happens to; all keys on both."""
    graph = fx.Graph()
    with FakeTensorMode():
        x = graph.placeholder("x")
        x.meta["val"] = torch.empty(3)
        negated = graph.call_function(_ATEN.neg.default, (x,))
        again = graph.call_function(_ATEN.neg.default, (negated,))
        added = graph.call_function(_ATEN.add.Tensor, (again, x))
        sine = graph.call_function(_ATEN.sin.default, (added,))
        for node in (negated, again, added, sine):
            node.meta["val"] = torch.empty(3)
    graph.output((sine,))
    for node in (added, sine):
        for kind in (MetadataClass.ARGUMENTS, MetadataClass.ORDER, MetadataClass.CALL):
            node.meta.update(dict.fromkeys(keys_of(kind), _OWN))
        node.meta["a key of a plugin"] = _OWN
        node.meta["stack_trace"] = 'File "model.py", line 3'
    return fx.GraphModule({}, graph), added, sine


def _kept(node: fx.Node, kind: MetadataClass) -> set[str]:
    return {key for key in keys_of(kind) if node.meta.get(key) is _OWN}


def test_only_what_is_of_the_arguments_goes() -> None:
    gm, added, sine = _graph()
    assert run_typed(gm, [RewritePass.of([NegNeg])], "joint") == {"rewrites": 1}
    (x,) = gm.graph.find_nodes(op="placeholder")
    assert added.args == (x, x)
    assert _kept(added, MetadataClass.ARGUMENTS) == set()
    assert _kept(added, MetadataClass.CALL) == keys_of(MetadataClass.CALL)
    assert added.meta["a key of a plugin"] is _OWN
    assert added.meta["stack_trace"]
    for kind in (MetadataClass.ARGUMENTS, MetadataClass.CALL, MetadataClass.ORDER):
        assert _kept(sine, kind) == keys_of(kind)


class SinTwice(Rewrite):
    stage = "joint"

    def pattern(self, x: Tensor) -> Any:
        return aten.neg(aten.neg(x))

    def replacement(self, x: Tensor) -> Any:
        return aten.clone(x)


def test_what_is_of_the_order_goes_where_a_node_is_new() -> None:
    gm, added, sine = _graph()
    assert run_typed(gm, [RewritePass.of([SinTwice])], "joint") == {"rewrites": 1}
    for node in (added, sine):
        assert _kept(node, MetadataClass.ORDER) == set()
    assert _kept(sine, MetadataClass.ARGUMENTS) == keys_of(MetadataClass.ARGUMENTS)
