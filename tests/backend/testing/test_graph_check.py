"""`xductor.check`: the verifier on any FX graph."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx
from xdsl.utils.exceptions import VerifyException

import xductor
from xductor.backend.testing.graph_check import stage_of


def traced(function: Any, *inputs: Any, mode: str = "fake") -> torch.fx.GraphModule:
    return make_fx(function, tracing_mode=mode)(*inputs)


def f(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.mm(torch.sin(x), y)


@pytest.fixture
def gm() -> torch.fx.GraphModule:
    return traced(f, torch.ones(2, 3), torch.ones(3, 2))


@pytest.mark.parametrize("level", ["structure", "types", "stage"])
@pytest.mark.parametrize("mode", ["fake", "symbolic"])
def test_a_right_graph_gives_nothing(level: Any, mode: str) -> None:
    gm = traced(f, torch.ones(2, 3), torch.ones(3, 2), mode=mode)
    before = str(gm.graph)
    assert xductor.check(gm, level) is None
    assert xductor.check(gm.graph, level) is None
    assert xductor.check(xductor.from_fx(gm), level) is None
    assert str(gm.graph) == before


def test_a_wrong_type_is_told_with_the_node_and_both_sides(gm: torch.fx.GraphModule) -> None:
    (sin,) = gm.graph.find_nodes(op="call_function", target=torch.ops.aten.sin.default)
    sin.meta["val"] = sin.meta["val"].to(torch.float64)
    with pytest.raises(VerifyException, match=r"(?s)node sin.*f32\[2, 3\].*f64\[2, 3\]"):
        xductor.check(gm)
    xductor.check(gm, "structure")


def test_a_graph_out_of_order_is_a_verify_exception(gm: torch.fx.GraphModule) -> None:
    (sin,) = gm.graph.find_nodes(op="call_function", target=torch.ops.aten.sin.default)
    (mm,) = gm.graph.find_nodes(op="call_function", target=torch.ops.aten.mm.default)
    mm.append(sin)
    with pytest.raises(VerifyException, match=r"(?s)post_grad stage.*'mm'.*uses 'sin'"):
        xductor.check(gm)


def test_the_stage_level_has_the_rules_of_the_stage() -> None:
    def mutates(x: torch.Tensor) -> torch.Tensor:
        y = x + 1
        torch.ops.aten.add_.Tensor(y, 1)
        return y * 2

    gm = traced(mutates, torch.ones(2))
    xductor.check(gm)
    with pytest.raises(VerifyException, match=r"add_"):
        xductor.check(gm, "stage", "joint")


class Module(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x)).view(-1) + 1


def test_the_stage_is_guessed(gm: torch.fx.GraphModule) -> None:
    assert stage_of(gm) == "post_grad"
    assert stage_of(torch.fx.symbolic_trace(Module())) == "pre_grad"
    assert stage_of(torch.fx.symbolic_trace(lambda x: torch.sin(x))) == "pre_grad"

    def joint(primals: list[torch.Tensor], tangents: list[torch.Tensor]) -> Any:
        return torch.sin(primals[0]), torch.cos(primals[0]) * tangents[0]

    both = traced(joint, [torch.ones(2)], [torch.ones(2)])
    for node, name in zip(both.graph.find_nodes(op="placeholder"), ("primals_1", "tangents_1")):  # noqa: B905
        node.target = name
    assert stage_of(both) == "joint"


def test_each_stage_of_a_compile_is_guessed_as_it_is() -> None:
    from torch._inductor import config

    seen: list[tuple[str, str]] = []

    def look(stage: str) -> Any:
        def hook(graph: torch.fx.Graph) -> None:
            xductor.check(graph)
            seen.append((stage, stage_of(graph.owning_module)))

        return hook

    from xductor.backend.run_as_fx.without_codegen import without_codegen

    hooks = {
        "pre_grad_custom_pass": look("pre_grad"),
        "joint_custom_post_pass": look("joint"),
        "post_grad_custom_pre_pass": look("post_grad"),
    }
    model = Module()
    with config.patch(hooks), without_codegen():
        torch.compile(model)(torch.ones(2, 3)).sum().backward()
    assert seen == [
        ("pre_grad", "pre_grad"),
        ("joint", "joint"),
        ("post_grad", "post_grad"),
        ("post_grad", "post_grad"),
    ]


def test_a_graph_without_values_needs_inputs() -> None:
    gm = torch.fx.symbolic_trace(lambda x: torch.sin(x) + 1)
    with pytest.raises(VerifyException, match="example_inputs"):
        xductor.check(gm)
    xductor.check(gm, example_inputs=[torch.ones(2)])


def test_what_is_no_graph_is_refused(gm: torch.fx.GraphModule) -> None:
    with pytest.raises(TypeError, match=r"takes an fx\.GraphModule"):
        xductor.check(Module())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unknown level 'type'"):
        xductor.check(gm, "type")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unknown stage 'forward'"):
        xductor.check(gm, stage="forward")  # type: ignore[arg-type]
