"""`move_constructors_to_gpu` in a stage, and beside Inductor's own."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch._dynamo.utils import detect_fake_mode
from torch._inductor import config
from torch._inductor.fx_passes import post_grad
from torch._inductor.virtualized import V

from tests.specimens.moved_constructor_specimens import random_graph
from xductor.backend import stages
from xductor.backend.fx.export import to_fx
from xductor.backend.records import stage_records
from xductor.ir import parse_ir
from xductor.transforms.devices.move_constructors_to_gpu import MoveConstructorsToGpu

CUDA = torch.device("cuda", 0)
SCALARS = """
fx.graph @f stage(post_grad) symbols() (
    %x : !fx.tensor<f32[8], cuda:0>, %a : !fx.tensor<f32[], cpu>, %n : !fx.tensor<i64[], cpu>) {
  %m = aten.mul.Tensor %x, %a : !fx.tensor<f32[8], cuda:0>
  %s = aten.add.Tensor %m, %n : !fx.tensor<f32[8], cuda:0>
  %z = aten.full.default [3], 2.0, dtype = f32, device = device<cpu> : !fx.tensor<f32[3], cpu>
  fx.output (%s, %z)
}
"""
INDEXED = """
fx.graph @f stage(post_grad) symbols() (%x : !fx.tensor<f32[8], cuda:0>) {
  %z = aten.full.default [3], 2, dtype = i64, device = device<cpu> : !fx.tensor<i64[3], cpu>
  %s = aten.index.Tensor %x, [%z] : !fx.tensor<f32[3], cuda:0>
  fx.output (%s,)
}
"""


def _moved(gm: torch.fx.GraphModule) -> set[str]:
    return {node.name for node in gm.graph.nodes if node.kwargs.get("device") == CUDA}


def test_stock_moves_nothing_else() -> None:
    """But draws, which give other numbers there, and what would wait at a call for the CPU."""
    both, ours_alone = 0, 0
    for seed in range(60):
        gm = to_fx(random_graph(seed))
        gm.graph.eliminate_dead_code()  # Inductor moves what nobody reads, too
        module = random_graph(seed)
        MoveConstructorsToGpu(policy="fast").rewrite(module)
        ours = _moved(to_fx(module))
        post_grad.move_constructors_to_gpu(gm.graph)
        stock = _moved(gm)
        draws = gm.graph.find_nodes(op="call_function", target=torch.ops.aten.randperm.default)
        left = stock - ours - {node.name for node in draws}
        assert not left or draws or "full_like" in gm.code, (seed, left)
        both += bool(stock & ours)
        ours_alone += bool(ours - stock)
    assert both > 10
    assert ours_alone > 0


def _stage(text: str) -> tuple[torch.fx.GraphModule, Any]:
    gm = to_fx(parse_ir(text))
    mode = detect_fake_mode([node.meta.get("val") for node in gm.graph.nodes])
    with V.set_fake_mode(mode), stage_records.record() as records:
        stages.post_grad_passes(gm, True)
    return gm, records[0]


def test_runs_in_the_stage() -> None:
    gm, record = _stage(INDEXED)
    assert record.applications("move_constructors_to_gpu") == 1
    (full,) = gm.graph.find_nodes(op="call_function", target=torch.ops.aten.full.default)
    assert full.kwargs["device"] == CUDA
    assert full.meta["val"].device == CUDA


def test_scalars_are_moved_for_cuda_graphs_alone() -> None:
    put = torch.ops.prims.device_put.default
    gm, record = _stage(SCALARS)
    assert record.applications("move_constructors_to_gpu") == 0
    with config.patch({"triton.cudagraphs": True, "graph_partition": True}):
        gm, record = _stage(SCALARS)
    assert record.applications("move_constructors_to_gpu") == 2
    dtypes = [
        node.meta["val"].dtype for node in gm.graph.find_nodes(op="call_function", target=put)
    ]
    assert dtypes == [torch.float32, torch.int64]
    (full,) = gm.graph.find_nodes(op="call_function", target=torch.ops.aten.full.default)
    assert full.kwargs["device"] == torch.device("cpu")


def test_stock_joins_scalars_of_two_dtypes_and_moves_what_is_returned() -> None:
    """Both give the caller something else than eager does."""
    gm = to_fx(parse_ir(SCALARS))
    with config.patch({"triton.cudagraphs": True, "graph_partition": True}):
        post_grad.move_constructors_to_gpu(gm.graph)
    (joined,) = gm.graph.find_nodes(op="call_function", target=torch.ops.aten.cat.default)
    assert len(joined.args[0]) == 2
    (full,) = gm.graph.find_nodes(op="call_function", target=torch.ops.aten.full.default)
    assert full.kwargs["device"] == CUDA


SAVED = """
fx.graph @f stage(post_grad) symbols() (
    %x : !fx.tensor<f32[8], cuda:0>, %a : !fx.tensor<f64[], cpu>) {
  %c = prims.convert_element_type.default %a, f32 : !fx.tensor<f32[], cpu>
  %m = aten.mul.Tensor %x, %c : !fx.tensor<f32[8], cuda:0>
  %s = aten.sub.Tensor %c, %m : !fx.tensor<f32[8], cuda:0>
  fx.output (%s, %c)
}
"""


def test_a_saved_scalar_is_read_from_a_copy() -> None:
    """What a forward saves for its backward stays on CPU, where the backward expects it.

    Symbolic floats are such scalars. Inductor moves what is saved; its backward then reads memory
    of the device on the CPU, and ends with a segmentation fault. A CUDA graph that reads the scalar
    on CPU cannot be recorded.
    """
    module = parse_ir(SAVED)
    assert MoveConstructorsToGpu().rewrite(module) == 0
    assert MoveConstructorsToGpu(scalars_too=True).rewrite(module) == 1
    graph = to_fx(module).graph
    (converted,) = graph.find_nodes(
        op="call_function", target=torch.ops.prims.convert_element_type.default
    )
    (put,) = graph.find_nodes(op="call_function", target=torch.ops.prims.device_put.default)
    assert put.args == (converted, CUDA, True)
    assert set(converted.users) == {put, graph.output_node()}
    assert [user.target for user in put.users] == [
        torch.ops.aten.mul.Tensor,
        torch.ops.aten.sub.Tensor,
    ]
    assert converted.meta["val"].device.type == "cpu"
    assert MoveConstructorsToGpu(scalars_too=True).rewrite(module) == 0


WRITTEN = """
fx.graph @f stage(post_grad) symbols() (
    %x : !fx.tensor<f32[8], cuda:0>, %a : !fx.tensor<f64[], cpu>) {
  %c = prims.convert_element_type.default %a, f32 : !fx.tensor<f32[], cpu>
  %w = aten.add_.Tensor %c, 1 : !fx.tensor<f32[], cpu>
  %m = aten.mul.Tensor %x, %c : !fx.tensor<f32[8], cuda:0>
  fx.output (%m, %c)
}
"""


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(WRITTEN, id="a copy would be outdated"),
        pytest.param(SAVED.replace("[], cpu", "[1], cpu"), id="no scalar"),
        pytest.param(SAVED.replace("cuda:0", "cpu"), id="one device"),
    ],
)
def test_other_tensors_are_not_copied(text: str) -> None:
    assert MoveConstructorsToGpu(scalars_too=True).rewrite(parse_ir(text)) == 0


SINE = """
fx.graph @f stage(post_grad) symbols() (%x : !fx.tensor<f32[8], cuda:0>) {
  %z = aten.full.default [8], 2.0, dtype = f32, device = device<cpu> : !fx.tensor<f32[8], cpu>
  %y = aten.sin.default %z : !fx.tensor<f32[8], cpu>
  %s = aten.copy.default %x, %y : !fx.tensor<f32[8], cuda:0>
  fx.output (%s,)
}
"""


@pytest.mark.parametrize(("policy", "applied"), [("strict", 0), ("default", 0), ("fast", 1)])
def test_other_bits_under_fast_alone(policy: Any, applied: int) -> None:
    assert MoveConstructorsToGpu(policy=policy).rewrite(parse_ir(SINE)) == applied


def test_explained() -> None:
    reasons: list[str] = []
    MoveConstructorsToGpu().explained(parse_ir(SINE), lambda op, reason: reasons.append(reason))
    assert reasons == ["its results have other bits on another device"]


ON_CPU = """
fx.graph @f stage(post_grad) symbols() (%x : !fx.tensor<f32[8], cpu>) {
  %z = aten.full.default [8], 2.0, dtype = f32, device = device<cpu> : !fx.tensor<f32[8], cpu>
  %s = aten.maximum.default %x, %z : !fx.tensor<f32[8], cpu>
  fx.output (%s,)
}
"""


def test_a_graph_on_cpu_is_not_lowered() -> None:
    """An index is the root of `randperm_index`, which this stage has once the joint stage ran."""
    _, record = _stage(ON_CPU)
    assert record.lowered == 0
    gm, record = _stage(INDEXED.replace("cuda:0", "cpu"))
    assert "move_constructors_to_gpu" not in {one.name for one in record.passes}
    assert not _moved(gm)
