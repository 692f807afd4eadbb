"""`remove_profiler_ops`, `view_to_reshape`, and `fix_iota_device` of the joint stage."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch._subclasses import FakeTensorMode

from xductor.backend.fx.export import to_fx
from xductor.frontend import from_fx
from xductor.transforms.joint_graph.fix_iota_device import FixIotaDevice
from xductor.transforms.post_grad.remove_profiler_ops import RemoveProfilerOps
from xductor.transforms.post_grad.view_to_reshape import ViewToReshape

aten = torch.ops.aten

# ------------------------------------------------------------------------------ profiler


RANGES = {
    "_record_function_enter": ("_record_function_exit.default", "!fx.tensor<f32[], cpu>"),
    "_record_function_enter_new": (
        "_record_function_exit._RecordFunction",
        '!fx.object<"torch.ScriptObject">',
    ),
}


@pytest.mark.parametrize("enter", RANGES)
def test_ranges_go(parse: Any, enter: str) -> None:
    leave, handle = RANGES[enter]
    case = parse(f"""
        fx.graph @g stage(post_grad) symbols() (%x : !fx.tensor<f32[4], cpu>) {{
          %outer = profiler.{enter}.default "outer" : {handle}
          %inner = profiler.{enter}.default "inner" : {handle}
          %y = aten.neg.default %x : !fx.tensor<f32[4], cpu>
          profiler.{leave} %inner
          profiler.{leave} %outer
          fx.output (%y,)
        }}""")
    assert case.run(RemoveProfilerOps()) == 4
    assert case.ops == ["aten.neg.default"]


def test_ranges_go_from_the_fx_graph() -> None:
    profiler: Any = torch.ops.profiler
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    handle = graph.call_function(profiler._record_function_enter.default, ("range",))
    y = graph.call_function(aten.neg.default, (x,))
    leave = graph.call_function(profiler._record_function_exit.default, (handle,))
    graph.output((y,))
    with FakeTensorMode():
        for node in (x, y, handle):
            node.meta["val"] = torch.empty(3)
    leave.meta["val"] = None
    gm = torch.fx.GraphModule(torch.nn.Module(), graph)
    assert RemoveProfilerOps.may_apply(gm.graph)
    module = from_fx(gm, "post_grad")
    assert RemoveProfilerOps().rewrite(module) == 2
    to_fx(module, into=gm)
    assert [node.op for node in gm.graph.nodes] == ["placeholder", "call_function", "output"]
    assert not RemoveProfilerOps.may_apply(gm.graph)


def test_a_range_whose_handle_is_used_stays(parse: Any) -> None:
    case = parse("""
        fx.graph @g stage(post_grad) symbols() () {
          %a = profiler._record_function_enter.default "range" : !fx.tensor<f32[], cpu>
          fx.output (%a,)
        }""")
    assert case.run(RemoveProfilerOps()) == 0


# ----------------------------------------------------------------------------------- views


@pytest.mark.parametrize("dynamic", [False, True])
def test_views_become_reshapes(trace: Any, special: Any, dynamic: bool) -> None:
    def f(x: Any) -> Any:
        y = x.view(-1)
        return y, aten.view(x + 1, [x.shape[1], x.shape[0]]) * 2

    case = trace(f, special(3, 4), dynamic=dynamic, stage="post_grad")
    assert case.run(ViewToReshape()) == 2
    assert "aten.view.default" not in case.ops
    assert case.ops.count("aten.reshape.default") == 2
    assert case.run(ViewToReshape()) == 0
    case.check_values(special(3, 4) if not dynamic else special(5, 2))


def test_a_reshape_still_shares_storage(trace: Any, special: Any) -> None:
    """So that a later pass does not take the result for a copy."""
    from xductor.transforms.noops.remove_noop_ops import RemoveNoopOps

    case = trace(lambda x: aten.clone(x.view(-1)), special(3, 4), stage="post_grad")
    assert case.run(ViewToReshape()) == 1
    assert case.run(RemoveNoopOps()) == 0
    assert "0" in case.text
    case.check_values(special(3, 4))


def test_other_views_stay(trace: Any, special: Any) -> None:
    case = trace(lambda x: (x.t(), x.view(torch.int32) + 1), special(3, 4), stage="post_grad")
    assert case.run(ViewToReshape()) == 0


# ----------------------------------------------------------------------------------- ranges

INDEXED = """
    fx.graph @g stage(joint) symbols()
        (%x : !fx.tensor<f32[8, 4], cuda:0>, %c : !fx.tensor<f32[8, 4], cpu>,
         %v : !fx.tensor<f32[4], cuda:0>) {{
      %i = prims.iota.default 4, start = 0, step = 1, dtype = i64, device = device<cpu>,
        requires_grad = false : !fx.tensor<i64[4], cpu>
      {use}
      fx.output (%y,)
    }}"""

MOVED = {
    "index": "%y = aten.index.Tensor %x, [%i] : !fx.tensor<f32[4, 4], cuda:0>",
    "index of the second dim": (
        "%y = aten.index.Tensor %x, [none, %i] : !fx.tensor<f32[8, 4], cuda:0>"
    ),
    "index_put": "%y = aten.index_put.default %x, [%i], %v : !fx.tensor<f32[8, 4], cuda:0>",
}
STAYING = {
    "one device": "%y = aten.index.Tensor %c, [%i] : !fx.tensor<f32[4, 4], cpu>",
    "two devices": (
        "%y = aten.index.Tensor %c, [%i] : !fx.tensor<f32[4, 4], cpu>\n"
        "%z = aten.index.Tensor %x, [%i] : !fx.tensor<f32[4, 4], cuda:0>"
    ),
    "arithmetic": (
        "%z = aten.index.Tensor %x, [%i] : !fx.tensor<f32[4, 4], cuda:0>\n"
        "%y = aten.add.Tensor %i, 1 : !fx.tensor<i64[4], cpu>"
    ),
    "the values": "%y = aten.index_put.default %x, [none], %i : !fx.tensor<f32[8, 4], cuda:0>",
}


@pytest.mark.parametrize("what", MOVED)
def test_a_range_that_indexes_moves(parse: Any, what: str) -> None:
    case = parse(INDEXED.format(use=MOVED[what]))
    assert case.run(FixIotaDevice()) == 1
    assert "device = device<cuda:0>" in case.text
    assert case.run(FixIotaDevice()) == 0


@pytest.mark.parametrize("what", STAYING)
def test_other_ranges_stay(parse: Any, what: str) -> None:
    case = parse(INDEXED.format(use=STAYING[what]))
    assert case.run(FixIotaDevice()) == 0


def test_a_returned_range_stays(parse: Any) -> None:
    case = parse(INDEXED.format(use="%y = aten.alias.default %i : !fx.tensor<i64[4], cpu>"))
    assert case.run(FixIotaDevice()) == 0
