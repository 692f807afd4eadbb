"""Passes of the joint stage on graphs on which they fire, in Inductor's pipeline and in ours.

Those that work for CUDA alone get graphs whose tensors are said to be there: nothing is run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch._higher_order_ops import InvokeQuant, invoke_quant_packed
from torch._inductor import config as inductor_config
from torch._inductor.decomposition import select_decomp_table
from torch._inductor.fx_passes import pad_mm, post_grad
from torch._inductor.virtualized import V
from torch._subclasses import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from tests.corpus.graph_comparison import compare_graphs
from xductor.backend import stages
from xductor.backend.config import settings
from xductor.backend.records import stage_records
from xductor.backend.seam import dispatch
from xductor.transforms.rewriting.driver import watching
from xductor.transforms.rows import registry

aten, prims = torch.ops.aten, torch.ops.prims


def _ones(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.ones(shape, dtype=dtype)


def _shifted(scaled: torch.Tensor) -> torch.Tensor:
    return scaled - scaled.amax(-1, keepdim=True)


def _body(x: Any, y: Any) -> Any:
    return (torch.mul(x, y) + y,)


def _quantised(x: Any) -> Any:
    options = InvokeQuant(codegen_low_precision=False)
    return invoke_quant_packed(_body, x, x + 1, quant_options=options, scheme="nf4")[0] @ x


#: By the name of a pass: a program whose graph holds work for that pass, and its inputs.
CASES: dict[str, tuple[Callable[..., Any], tuple[torch.Tensor, ...]]] = {
    "canonicalize_quant_mapping": (_quantised, (_ones(4, 4),)),
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
    _fires_in_both(name, [_joint(function, inputs) for _ in range(3)])


def _fires_in_both(name: str, graphs: Sequence[Any]) -> tuple[Any, Any]:
    """Both stages on two of three copies of a graph; they leave the same, and not the third."""
    before, stock, ours = graphs
    ours = _ours(ours, name)
    stock = _staged(stock, dispatch.stock_function("joint"))
    assert not compare_graphs(stock, before).equal, "stock has work here too"
    compared = compare_graphs(ours, stock)
    only = [{line.split(" = ")[1] for line in side} for side in (compared.ours, compared.theirs)]
    assert only == [set(), set()] or only == SPELLED_OTHERWISE.get(name), str(compared)
    return ours, stock


#: What only ours calls and what only Inductor calls, for the same values: Inductor names the dim of
#: a batch among those that it pads, by nothing, and pads what is added by a cat with zeros.
SPELLED_OTHERWISE = {
    "pad_bmm": [{"aten.constant_pad_nd.default"}, {"aten.constant_pad_nd.default"}],
    "pad_addmm": [{"aten.constant_pad_nd.default"}, {"aten.full.default"}],
}


def _ours(gm: Any, name: str) -> Any:
    """What our stage makes of a graph; the pass must be among those that fire."""
    now = settings.current().replace(on_error="raise", verify="types", numerics="fast")
    with stage_records.record() as records, settings.use(now):
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
    stock = _staged(_joint(part, inputs), dispatch.stock_function("joint"))
    assert stock.graph.find_nodes(op="call_function", target=aten.index.Tensor)
    with pytest.raises(RuntimeError, match="slice_shape"):
        _staged(_joint(whole, inputs), dispatch.stock_function("joint"))


# Graphs for CUDA.


@pytest.fixture
def _as_with_a_gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What Inductor asks of a machine; padding is not measured but forced."""
    properties = SimpleNamespace(multi_processor_count=108, max_threads_per_multi_processor=2048)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: properties)
    monkeypatch.setattr(pad_mm, "has_triton", lambda: True)
    with inductor_config.patch(shape_padding=True, force_shape_pad=True):
        yield


def _iota(count: int) -> Any:
    cpu = torch.device("cpu")
    return prims.iota(count, start=0, step=1, dtype=torch.int64, device=cpu, requires_grad=False)


#: By the name of a pass: a program, and the sizes of its inputs.
CUDA_CASES: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]] = {
    "fix_iota_device": (lambda x: aten.index(x, [_iota(4)]), ((8, 4),)),
    "bmm_to_mm": (lambda a, b: aten.bmm(a, b).relu(), ((1, 8, 8), (1, 8, 8))),
    # Cutting a padded result to size is for real devices: here only what is added up is padded.
    "pad_mm": (lambda a, b: aten.mm(a, b).relu(), ((8, 5), (5, 8))),
    "pad_bmm": (lambda a, b: aten.bmm(a, b).relu(), ((3, 8, 5), (3, 5, 8))),
    "pad_addmm": (lambda c, a, b: aten.addmm(c, a, b).relu(), ((8,), (8, 5), (5, 8))),
    "fuse_offset_creation_pass": (
        lambda x: x + torch.rand(3, 4, device="cuda:0") + torch.rand(4, device="cuda:0"),
        ((3, 4),),
    ),
}


@pytest.mark.usefixtures("_as_with_a_gpu")
@pytest.mark.parametrize("name", CUDA_CASES)
def test_a_pass_for_cuda_fires_in_both(name: str) -> None:
    function, sizes = CUDA_CASES[name]
    aligned = name == "fuse_offset_creation_pass"
    if aligned and registry.row(name, "joint").since > _RELEASE:  # type: ignore[operator]
        pytest.skip("this release draws nothing as eager does")
    options = {"align_random_eager": True} if aligned else {}
    with inductor_config.patch(options):
        _fires_in_both(name, [_joint_on_cuda(function, sizes) for _ in range(3)])


@pytest.mark.usefixtures("_as_with_a_gpu")
@pytest.mark.parametrize(
    ("name", "function", "sizes"),
    [
        ("pad_mm", lambda a, b: aten.mm(a, b).relu(), ((6, 5), (5, 7))),
        ("pad_bmm", lambda a, b: aten.bmm(a, b).relu(), ((3, 6, 5), (3, 5, 7))),
        ("pad_addmm", lambda c, a, b: aten.addmm(c, a, b).relu(), ((7,), (6, 5), (5, 7))),
    ],
)
def test_padding_of_all_sizes(
    name: str, function: Any, sizes: Sequence[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results are cut to size too: on the CPU, with both taking it for a GPU."""
    monkeypatch.setattr(pad_mm, "check_device", lambda *_: True)
    inputs = tuple([_ones(*size) for size in sizes])
    with watching(any_device=True):
        ours, stock = _fires_in_both(name, [_joint(function, inputs) for _ in range(3)])
    given = [torch.randn(*size) for size in sizes]
    assert torch.equal(ours(*given), stock(*given))
    assert stock.graph.find_nodes(op="call_function", target=aten.slice.Tensor)


_RELEASE = tuple(int(part) for part in torch.__version__.split(".")[:2])


def _joint_on_cuda(function: Callable[..., Any], sizes: Sequence[tuple[int, ...]]) -> Any:
    with FakeTensorMode(shape_env=ShapeEnv()):
        inputs = [torch.empty(size, device="cuda:0") for size in sizes]
        return make_fx(function, select_decomp_table(), tracing_mode="real")(*inputs)


# The order at the end.


def test_the_last_step_puts_what_a_hook_left_in_order() -> None:
    """A hook leaves an op below the op that uses it; both pipelines move the user, and no other.

    A graph out of order is put in order as it is lowered, so that the typed pass counts nothing.
    """
    left: list[list[str]] = []

    def hook(graph: torch.fx.Graph) -> None:
        (sine,) = graph.find_nodes(op="call_function", target=aten.sin.default)
        (cosine,) = graph.find_nodes(op="call_function", target=aten.cos.default)
        cosine.append(sine)
        left.append([str(node.target) for node in graph.nodes])

    def function(x: Any) -> Any:
        return x.sin().cos().exp() + x.neg()

    now = settings.current().replace(on_error="raise", verify="types", numerics="fast")
    orders: list[list[str]] = []
    with inductor_config.patch(joint_custom_post_pass=hook), settings.use(now):
        for stage in (stages.joint_graph_passes, dispatch.stock_function("joint")):
            gm = _staged(_joint(function, (_ones(3),)), stage)
            orders.append([str(node.target) for node in gm.graph.nodes])
    assert left[0] == left[1]
    assert left[0][1:3] == ["aten.cos.default", "aten.sin.default"]
    assert orders[0] == orders[1]
    assert orders[0][1:3] == ["aten.sin.default", "aten.cos.default"]


def test_every_pass_of_ours_has_a_graph() -> None:
    """Attention is found before autograd: its spellings have tables of their own."""
    elsewhere = {"stable_topological_sort", "randperm_index", "auto_chunker"}
    here = {*CASES, *CUDA_CASES, *elsewhere}
    typed = [row for row in registry.rows("joint") if row.factory]
    ours = {row.name for row in typed if row.origin == "inductor"}
    assert ours == here
