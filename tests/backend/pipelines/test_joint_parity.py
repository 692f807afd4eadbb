"""Passes of the joint stage on graphs on which they fire, in Inductor's pipeline and in ours.

Those that a graph on a CPU can give work to: not the pads, `bmm_to_mm` and `fix_iota_device`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._inductor.decomposition import select_decomp_table
from torch._inductor.fx_passes import post_grad
from torch._inductor.virtualized import V
from torch.fx.experimental.proxy_tensor import make_fx

from tests.corpus.graph_comparison import compare_graphs
from xductor.backend import ledger, seam, settings, stages

aten, prims = torch.ops.aten, torch.ops.prims


def _ones(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.ones(shape, dtype=dtype)


def _shifted(scaled: torch.Tensor) -> torch.Tensor:
    return scaled - scaled.amax(-1, keepdim=True)


#: By the name of a pass: a program whose graph holds work for that pass, and its inputs.
CASES: dict[str, tuple[Callable[..., Any], tuple[torch.Tensor, ...]]] = {
    "remove_noop_ops": (lambda x: aten.clone(x + 1) * 2, (_ones(3, 4),)),
    "constant_fold_uniform_value": (
        lambda x: x * aten.mul(aten.full([3, 4], 2.0), 3.0),
        (_ones(3, 4),),
    ),
    "remove_no_ops": (lambda x: aten.add(x.sin(), aten.zeros([3, 4])).cos(), (_ones(3, 4),)),
    "remove_redundant_views": (
        lambda x: aten.view.dtype(aten.view.dtype(x + 1, torch.int32), torch.float32) * 2,
        (_ones(3, 4),),
    ),
    "pointless_view": (lambda x: aten.view((x + 1), [3, 4]).sin(), (_ones(3, 4),)),
    "pointless_view_pair": (
        lambda x: aten.view(aten.view(x + 1, [12]), [3, 4]).sin(),
        (_ones(3, 4),),
    ),
    "pointless_permute_pair": (
        lambda x: aten.permute(aten.permute(x + 1, [1, 0]), [1, 0]).sin(),
        (_ones(3, 4),),
    ),
    "pointless_convert": (
        lambda x: prims.convert_element_type(
            prims.convert_element_type(x, torch.float32), torch.float16
        ),
        (_ones(3, dtype=torch.bfloat16),),
    ),
    "scatter_upon_const_tensor": (
        lambda i: aten.full([3, 8], 0.5).scatter(1, i, 2.0) * 1.5,
        (torch.zeros(3, 1, dtype=torch.int64),),
    ),
    "mul_softmax_pattern": (
        lambda x: _shifted(x * 0.5),
        (_ones(3, 4),),
    ),
    "div_softmax_pattern": (
        lambda x: _shifted(x / 0.5),
        (_ones(3, 4),),
    ),
    "randperm_index_add": (
        lambda x, y: x.index_add(0, torch.randperm(8)[:4], y),
        (_ones(8, 2), _ones(4, 2)),
    ),
    "replace_random": (lambda x: x + torch.rand(3, 4), (_ones(3, 4),)),
    "replace_randint": (lambda x: x + torch.randint(0, 9, (3, 4)), (_ones(3, 4),)),
    "fuse_seed_creation_pass": (
        lambda x: x + torch.rand(3, 4) + torch.randn(3, 4),
        (_ones(3, 4),),
    ),
}


def _joint(function: Callable[..., Any], inputs: tuple[torch.Tensor, ...]) -> Any:
    return make_fx(function, select_decomp_table(), tracing_mode="fake")(*inputs)


def _staged(gm: Any, stage: Callable[..., Any]) -> Any:
    mode = next(n.meta["val"].fake_mode for n in gm.graph.nodes if "val" in n.meta)
    with V.set_fake_mode(mode), mode:
        return stage(gm, torch.device("cpu")) or gm


@pytest.mark.parametrize("name", CASES)
def test_a_pass_fires_in_both(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, inputs = CASES[name]
    if name == "pointless_view":  # else that has done its work already
        monkeypatch.setattr(post_grad, "remove_noop_ops", lambda graph: None)
    before, stock, ours = (_joint(function, inputs) for _ in range(3))
    ours = _ours(ours, name)
    stock = _staged(stock, seam.stock_function("joint"))
    assert not compare_graphs(stock, before).equal, "stock has work here too"
    compared = compare_graphs(ours, stock)
    assert compared.equal, str(compared)


def _ours(gm: Any, name: str) -> Any:
    """What our stage makes of a graph; the pass must be among those that fire."""
    now = settings.current().replace(on_error="raise", verify="types", numerics="fast")
    with ledger.record() as records, settings.use(now):
        gm = _staged(gm, stages.joint_graph_passes)
    (record,) = records
    assert record.fallback is None
    assert record.applications(name) > 0, record.fired()
    return gm


def test_randperm_index_fires_in_ours_alone() -> None:
    """Inductor's pattern has lost its slice: a part of a permutation does not match, and a whole
    one lacks an argument that the replacement wants."""

    def part(x: Any) -> Any:
        index = torch.randperm(8)[:4]
        return x[index], index

    def whole(x: Any) -> Any:
        index = torch.randperm(8)
        return x[index], index

    inputs = (_ones(8, 2),)
    for function in (part, whole):
        _ours(_joint(function, inputs), "randperm_index")
    stock = _staged(_joint(part, inputs), seam.stock_function("joint"))
    assert stock.graph.find_nodes(op="call_function", target=aten.index.Tensor)
    with pytest.raises(RuntimeError, match="slice_shape"):
        _staged(_joint(whole, inputs), seam.stock_function("joint"))
