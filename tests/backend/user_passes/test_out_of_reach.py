"""A rewrite that was named and cannot run is told of once, by a compile and by `explain`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch._inductor.decomposition import select_decomp_table
from torch.fx.experimental.proxy_tensor import make_fx
from xdsl.dialects.builtin import ModuleOp

import xductor
from xductor import Rewrite, Tensor, maybe, one_of
from xductor.backend.config.coverage_warnings import NotCoveredWarning
from xductor.backend.config.warn_once import forget_warnings
from xductor.backend.run_as_fx.without_codegen import without_codegen
from xductor.backend.stage_runs import stage_watch
from xductor.ir import aten, ops, prims
from xductor.transforms import TypedPass
from xductor.transforms.matching.absent_ops import is_decomposed


@pytest.fixture(autouse=True)
def afresh() -> Iterator[None]:
    forget_warnings()
    torch._dynamo.reset()
    with without_codegen():
        yield


class Fast(Rewrite):
    stage = "joint"
    numerics = xductor.APPROXIMATE

    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return aten.mul(aten.sin(x), y)

    def replacement(self, x: Tensor, y: Tensor) -> Any:
        return aten.mul(y, aten.sin(x))


class OnCuda(Fast):
    numerics = xductor.EXACT
    devices = ("cuda",)


class Decomposed(Rewrite):
    stage = "joint"

    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return aten.mul(aten.silu(x), y)

    def replacement(self, x: Tensor, y: Tensor) -> Any:
        return aten.mul(y, aten.silu(x))


class DecomposedAfter(Decomposed):
    stage = "post_grad"


class AtenBeforeAutograd(Rewrite):
    stage = "pre_grad"

    def pattern(self, x: Tensor, dtype: torch.dtype) -> Any:
        return prims.convert_element_type(x, dtype)

    def replacement(self, x: Tensor, dtype: torch.dtype) -> Any:
        return prims.convert_element_type(x, dtype)


class PythonBehindAutograd(Rewrite):
    stage = "post_grad"

    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return ops.pyfn.torch.mul(ops.pyfn.torch.sin(x), y)

    def replacement(self, x: Tensor, y: Tensor) -> Any:
        return ops.pyfn.torch.mul(y, ops.pyfn.torch.sin(x))


@dataclass(frozen=True)
class FastPass(TypedPass):
    name = "fast_pass"
    stage = "joint"
    inductor = ""
    numerics = xductor.APPROXIMATE
    roots = frozenset({"aten.sin.default"})

    def rewrite(self, module: ModuleOp) -> int:
        return 0


def program(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.mul(torch.sin(x), y) + F.silu(x) * y


def _compile(rewrite: Any, function: Any = program, **options: Any) -> None:
    torch._dynamo.reset()
    given = {f"xductor.{name}": value for name, value in options.items()}
    given["xductor.rewrites"] = [rewrite]
    x, y = torch.ones(3), torch.ones(3)
    torch.compile(function, backend="xductor", options=given)(x, y)


CASES = [
    (Fast, "its numerics are 'approximate': it runs only with xductor.numerics = 'fast'"),
    (FastPass, "its numerics are 'approximate': it runs only with xductor.numerics = 'fast'"),
    (OnCuda, "it runs on cuda only; this graph is on cpu"),
    (Decomposed, "aten.silu.default does not reach this stage: Inductor decomposes it before"),
    (DecomposedAfter, "aten.silu.default does not reach this stage: Inductor decomposes it before"),
    (AtenBeforeAutograd, "prims.convert_element_type.default is no op of this stage"),
    (PythonBehindAutograd, "pyfn.torch.mul does not reach this stage"),
]


@pytest.mark.parametrize(("rewrite", "reason"), CASES)
def test_one_warning_and_the_same_line_in_explain(rewrite: Any, reason: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            _compile(rewrite)
    said = [str(one.message) for one in caught if one.category is NotCoveredWarning]
    assert len(said) == 1
    assert said[0].startswith(f"{rewrite.name} does not run in the {rewrite.stage} stage: {reason}")
    graph = make_fx(program)(torch.ones(3), torch.ones(3))
    explanation = xductor.explain(rewrite, graph)
    assert [one for one in explanation.notes if one.startswith(reason)]
    assert said[0].partition("stage: ")[2] in str(explanation)


class Silu(Rewrite):
    stage = "post_grad"

    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return aten.mul(one_of(aten.silu(x), aten.sin(x)), y)

    def replacement(self, x: Tensor, y: Tensor) -> Any:
        return aten.mul(y, aten.sin(x))


class MaybeSilu(Rewrite):
    stage = "post_grad"

    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return aten.mul(maybe(aten.silu)(aten.sin(x)), y)

    def replacement(self, x: Tensor, y: Tensor) -> Any:
        return aten.mul(y, aten.sin(x))


class SiluItself(Rewrite):
    """Makes what another may match."""

    stage = "post_grad"

    def pattern(self, x: Tensor) -> Any:
        return aten.sin(x)

    def replacement(self, x: Tensor) -> Any:
        return aten.silu(x)


class Products(Rewrite):
    """Products are decomposed for some sizes only."""

    stage = "post_grad"

    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return aten.relu(aten.mm(x, y))

    def replacement(self, x: Tensor, y: Tensor) -> Any:
        return aten.relu(aten.mm(x, y))


@pytest.mark.parametrize("rewrite", [Silu, MaybeSilu, Products])
def test_what_may_run_is_not_accused(rewrite: type[Rewrite]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotCoveredWarning)
        _compile(rewrite)


def test_what_is_admitted_or_on_its_device_is_not_accused() -> None:
    class OnCpu(OnCuda):
        devices = ("cpu", "cuda")

    class OnCudaWithoutRoot(Rewrite):
        stage = "joint"
        devices = ("cuda",)

        def pattern(self, x: Tensor) -> Any:
            return aten.erf(aten.erf(x))

        def replacement(self, x: Tensor) -> Any:
            return aten.erf(x)

    with warnings.catch_warnings():
        warnings.simplefilter("error", NotCoveredWarning)
        _compile(Fast, numerics="fast")
        _compile(OnCpu)
        _compile(OnCudaWithoutRoot)
        with xductor.register_rewrites([OnCuda, xductor.placed(Fast, position="first")]):
            _compile(OnCpu)


def test_an_op_that_is_there_all_the_same() -> None:
    """Called by its own name before autograd, or made by another rewrite behind it."""

    def calls_aten(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.ops.prims.convert_element_type.default(x, torch.float64) + y

    with warnings.catch_warnings():
        warnings.simplefilter("error", NotCoveredWarning)
        _compile(AtenBeforeAutograd, calls_aten)
        torch._dynamo.reset()
        options: Any = {"xductor.rewrites": [SiluItself, DecomposedAfter]}
        torch.compile(lambda x, y: x.sin() + y, backend="xductor", options=options)(
            torch.ones(3), torch.ones(3)
        )


def test_in_a_hook_too() -> None:
    from torch._inductor import config

    hook = xductor.inductor_pass(Fast)
    with (
        config.patch(joint_custom_pre_pass=hook),
        pytest.warns(NotCoveredWarning, match="fast does not run in the joint stage: its num"),
    ):
        torch.compile(program, backend="xductor")(torch.ones(3), torch.ones(3))


def test_what_is_said_to_be_decomposed_is_in_no_graph() -> None:
    """Of a program with many operators, forward and backward."""

    def wide(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        h = F.gelu(F.layer_norm(x @ w, (8,))) + F.silu(x) + torch.tanh(x).t().contiguous()
        h = F.softmax(h, -1) + F.elu(h) + F.leaky_relu(h) + F.hardtanh(h) + torch.logsumexp(h, 0)
        h = torch.where(h > 0, h, torch.zeros_like(h)) + torch.stack([h, h]).mean(0) + h.clamp(0, 1)
        h = F.pad(h, (0, 8)).unfold(1, 8, 8).sum(1) + h.var(0) + F.embedding(torch.arange(8), h)
        return h.std() + F.mse_loss(h, x) + F.nll_loss(h, torch.arange(8)) + h.abs().cumsum(0).sum()

    claimed = {one for one in select_decomp_table() if is_decomposed(one)}
    assert torch.ops.aten.silu.default in claimed
    assert torch.ops.aten.mm.default not in claimed
    seen: set[Any] = set()

    class Watcher(stage_watch.StageWatcher):
        def before(self, run: Any) -> None:
            if run.stage != "pre_grad":
                seen.update(node.target for node in run.gm.graph.nodes)

        def after(self, run: Any) -> None:
            self.before(run)

    x, w = (torch.randn(8, 8, requires_grad=True) for _ in range(2))
    with stage_watch.watching(Watcher()):
        torch.compile(wide, backend="xductor")(x, w).backward()
    assert torch.ops.aten.mm.default in seen
    assert not seen & claimed


def _pre_grad(function: Any, *inputs: torch.Tensor) -> ModuleOp:
    found: list[ModuleOp] = []

    def backend(graph: torch.fx.GraphModule, given: Any) -> Any:
        found.append(xductor.from_fx(graph, "pre_grad", example_inputs=given))
        return graph

    torch._dynamo.reset()
    torch.compile(function, backend=backend)(*inputs)
    return found[0]


def soft_capped(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    scores = torch.tanh(q @ k.transpose(-2, -1) / 50.0) * 50.0
    return torch.softmax(scores, -1) @ v


def plain(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return torch.softmax(q @ k.transpose(-2, -1) / 8.0, -1) @ v


def test_procedural_passes_are_explained() -> None:
    inputs = [torch.randn(2, 4, 8, 8) for _ in range(3)]
    near = xductor.explain("fuse_attention", _pre_grad(soft_capped, *inputs))
    assert near.matched == []
    (entry,) = near.near
    assert "scores go through" in entry.reason
    line = soft_capped.__code__.co_firstlineno + 2
    assert entry.location == (__file__, line)
    assert f"test_out_of_reach.py:{line}" in str(near)
    module = _pre_grad(plain, *inputs)
    before = xductor.print_ir(module)
    from xductor.transforms.rows.registry import typed_class

    for one in ("fuse_attention", typed_class("fuse_attention"), typed_class("fuse_attention")()):
        (entry,) = xductor.explain(one, module).matched
        assert "matmul" in entry.root
    assert xductor.print_ir(module) == before


def test_another_stage_is_named() -> None:
    joint = xductor.from_fx(make_fx(program)(torch.ones(3), torch.ones(3)), "joint")
    text = str(xductor.explain("fuse_attention", joint))
    assert "it is for pre_grad graphs; this graph is of the joint stage" in text
    text = str(xductor.explain(DecomposedAfter, joint))
    assert "it is for post_grad graphs; this graph is of the joint stage" in text
    text = str(
        xductor.explain(AtenBeforeAutograd, make_fx(program)(*[torch.ones(3)] * 2), stage="joint")
    )
    assert "it is for pre_grad graphs; this graph is of the joint stage" in text


def test_a_graph_that_says_no_stage_and_is_of_another() -> None:
    graph = make_fx(program)(torch.ones(3), torch.ones(3))

    class Sines(PythonBehindAutograd):
        stage = "pre_grad"

    assert "holds ATen ops alone" in str(xductor.explain(Sines, graph))
    traced = torch.fx.symbolic_trace(program)
    module = xductor.from_fx(traced, "joint", example_inputs=[torch.ones(3)] * 2)
    assert "holds calls as Dynamo records them" in str(xductor.explain(Decomposed, module))
    assert not xductor.explain(Fast, graph).notes[1:]


def test_names_of_all_sorts() -> None:
    joint = xductor.from_fx(
        make_fx(lambda x: x.permute(1, 0).permute(1, 0) + 1)(torch.ones(2, 3)),
        "joint",
    )
    assert len(xductor.explain("pointless_permute_pair", joint).matched) == 1
    assert "Inductor's own" in str(xductor.explain("fuse_ddp_communication", joint))
    with pytest.raises(ValueError, match=r"'fuse_atention'. Did you mean 'fuse_attention'\?"):
        xductor.explain("fuse_atention", joint)
    assert "does nothing to these graphs" in str(xductor.explain("remove_no_ops", joint))
