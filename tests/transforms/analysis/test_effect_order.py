"""What keeps its order: storages, draws, the host, modes, collectives of one group."""

from __future__ import annotations

import random
from typing import Any, cast

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException

from xductor.ir import entry_graph, parse_ir, verify
from xductor.transforms.analysis.effect_order import Footprints, events, predecessors
from xductor.transforms.analysis.op_effects import Bodies
from xductor.transforms.post_grad.stable_topological_sort import StableTopologicalSort

F = "!fx.tensor<f32[4], cpu>"


def _module(body: str, stage: str = "post_grad", returned: str = "") -> ModuleOp:
    return parse_ir(f"""
fx.graph @g stage({stage}) symbols() (%x : {F}, %y : {F}) {{
{body}
  fx.output ({returned})
}}""")


def _ops(module: ModuleOp) -> dict[str, Any]:
    """The ops by the name of their result."""
    return {op.node.names[0]: op for op in entry_graph(module).block.ops if op.node.names}  # type: ignore[attr-defined]


def _conflict(module: ModuleOp, a: str, b: str) -> str | None:
    footprints = Footprints(entry_graph(module), Bodies(module))
    ops = _ops(module)
    one, other = footprints.of(ops[a]), footprints.of(ops[b])
    assert (one.conflict(other) is None) == (other.conflict(one) is None)
    return one.conflict(other)


PAIRS = f"""
  %own = aten.clone.default %x : {F}
  %view = aten.view.default %own, [4] : {F}
  %sin = aten.sin.default %own : {F}
  %cos = aten.cos.default %view : {F}
  %write = aten.mul_.Tensor %own, 2 : {F}
  %through = aten.add_.Tensor %view, %y : {F}
  %reads_y = aten.neg.default %y : {F}
  %write_y = aten.add_.Tensor %y, 1 : {F}
  %write_x = aten.add_.Tensor %x, 1 : {F}
  %draw = aten.rand_like.default %y : {F}
  %draw_too = aten.randn_like.default %own : {F}
  %turned = aten.t_.default %own : {F}
  %gathered = _c10d_functional.all_reduce.default %x, "sum", "0" : {F}
  %again = _c10d_functional.all_reduce.default %y, "sum", "0" : {F}
  %elsewhere = _c10d_functional.all_reduce.default %y, "sum", "1" : {F}
  %waited = _c10d_functional.wait_tensor.default %gathered : {F}
"""
_ACCESS = "one writes to what the other reads or writes"


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ("sin", "cos", None),
        ("sin", "write", _ACCESS),
        ("cos", "write", _ACCESS),
        ("write", "through", _ACCESS),
        ("sin", "through", _ACCESS),
        ("view", "write", None),  # a view sees the write, wherever it is made
        ("view", "turned", _ACCESS),  # but not if it is laid out otherwise then
        ("write", "reads_y", None),
        ("through", "write_y", _ACCESS),
        ("reads_y", "write_y", _ACCESS),
        ("write_x", "write_y", None),
        ("draw", "draw_too", "both draw random numbers"),
        ("draw", "sin", None),
        ("gathered", "again", "both are collectives of one group"),
        ("gathered", "elsewhere", None),
        ("gathered", "waited", None),  # that one is the other's operand says it
        ("again", "waited", None),
    ],
)
def test_what_may_change_places(a: str, b: str, reason: str | None) -> None:
    pytest.importorskip("torch.distributed._functional_collectives")
    assert _conflict(_module(PAIRS), a, b) == reason


def test_inputs_may_overlap_before_autograd() -> None:
    assert _conflict(_module(PAIRS, "pre_grad"), "write_x", "write_y") == _ACCESS


def test_a_graph_without_effects_has_no_order_but_that_of_data() -> None:
    module = _module(f"  %a = aten.sin.default %x : {F}\n  %b = aten.cos.default %a : {F}")
    ops = list(entry_graph(module).block.ops)
    assert events(ops, Bodies(module)) == []
    assert predecessors(entry_graph(module), ops, Bodies(module)) == {}


MOVED_WRITER = f"""
  %buffer = aten.clone.default %y : {F}
  %written = aten.copy_.default %buffer, %x : {F}
  %read = aten.sum.default %buffer : !fx.tensor<f32[], cpu>
  %source = aten.sin.default %x : {F}
"""


def test_a_writer_that_sinks_takes_its_readers_along() -> None:
    """As a fusion leaves it: what the write copies is made below a read of the buffer."""
    module = _module(MOVED_WRITER, returned="%read")
    ops = _ops(module)
    ops["written"].operands[1] = ops["source"].results[0]
    assert StableTopologicalSort().rewrite(module) == 1
    verify(module, "structure")
    names = list(_ops(module))
    assert names == ["buffer", "source", "written", "read"]


def test_draws_keep_their_order() -> None:
    module = _module(
        f"""
  %first = aten.rand_like.default %x : {F}
  %second = aten.rand_like.default %y : {F}
  %late = aten.sin.default %y : {F}""",
        returned="%first, %second",
    )
    ops = _ops(module)
    ops["first"].operands[0] = ops["late"].results[0]
    assert StableTopologicalSort().rewrite(module) == 1
    assert list(_ops(module)) == ["late", "first", "second"]


def test_an_order_that_nothing_has_is_refused() -> None:
    """A write waits for what reads its target below it: either order would change a value."""
    module = _module(
        f"""
  %buffer = aten.clone.default %y : {F}
  %written = aten.copy_.default %buffer, %x : {F}
  %read = aten.sin.default %buffer : {F}""",
        returned="%read",
    )
    ops = _ops(module)
    ops["written"].operands[1] = ops["read"].results[0]
    with pytest.raises(PassFailedException, match="would cross a write"):
        StableTopologicalSort().rewrite(module)


@pytest.mark.parametrize("seed", range(30))
def test_sorting_keeps_every_pair_that_may_not_change_places(seed: int) -> None:
    """Whatever an op waits for, no two ops that conflict change places."""
    chance = random.Random(seed)
    module = _module(PAIRS, chance.choice(("post_grad", "pre_grad")))
    graph = entry_graph(module)
    *ops, output = cast("list[Any]", list(graph.block.ops))
    # One op waits for a new value that is made at the end.
    waits: Any = chance.choice(
        [op for op in ops if len(op.operands) > _WAITERS.get(op.name, len(op.operands))]
    )
    late = parse_ir(f"""
fx.graph @h stage(post_grad) symbols() (%x : {F}) {{
  %late = aten.exp.default %x : {F}
  fx.output (%late)
}}""")
    made: Any = next(iter(entry_graph(late).block.ops)).clone(
        {entry_graph(late).block.args[0]: graph.block.args[0]}
    )
    graph.block.insert_op_before(made, output)
    waits.operands[_WAITERS[waits.name]] = made.results[0]
    footprints = Footprints(graph, Bodies(module))
    pairs = [
        (a, b)
        for place, b in enumerate(ops)
        for a in ops[:place]
        if footprints.of(a).conflict(footprints.of(b)) is not None
    ]
    assert StableTopologicalSort().rewrite(module) == 1
    verify(module, "structure")
    places = {id(op): place for place, op in enumerate(graph.block.ops)}
    assert all(places[id(a)] < places[id(b)] for a, b in pairs)


_WAITERS = {"aten.add_.Tensor": 1, "aten.sin.default": 0, "aten.rand_like.default": 0}
