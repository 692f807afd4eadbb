"""The steps of `fuse_fx`: norms folded when freezing, calls of modules, functions of a user's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._inductor import config
from torch._inductor.fx_passes import pre_grad
from torch.fx import GraphModule, symbolic_trace

import xductor
from xductor.backend.fx.module_calls import module_calls, spell_module_calls
from xductor.backend.records import stage_records
from xductor.backend.run_as_fx.without_codegen import without_codegen

nn = torch.nn


def trained(module: nn.Module) -> nn.Module:
    """A module in evaluation whose norms have seen something."""
    for one in module.modules():
        if isinstance(one, nn.modules.batchnorm._BatchNorm) and one.running_mean is not None:
            one.running_mean.normal_()
            one.running_var.uniform_(0.5, 1.5)
            one.weight.data.normal_()
    return module.eval().requires_grad_(False)


LAYERS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "linear": (lambda: nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)), (2, 3)),
    "conv1d": (lambda: nn.Sequential(nn.Conv1d(3, 4, 2), nn.BatchNorm1d(4)), (2, 3, 5)),
    "conv2d": (
        lambda: nn.Sequential(nn.Conv2d(4, 4, 2, groups=2, bias=False), nn.BatchNorm2d(4)),
        (2, 4, 5, 5),
    ),
    "conv3d": (
        lambda: nn.Sequential(nn.Conv3d(3, 4, 2, padding=1), nn.BatchNorm3d(4)),
        (2, 3, 3, 3, 3),
    ),
    "conv_transpose2d": (
        lambda: nn.Sequential(nn.ConvTranspose2d(4, 4, 2, stride=2, groups=2), nn.BatchNorm2d(4)),
        (2, 4, 5, 5),
    ),
}


@pytest.mark.parametrize("name", LAYERS)
@torch.no_grad()
def test_norms_are_folded_when_freezing(name: str) -> None:
    make, sizes = LAYERS[name]
    module, x = trained(make()), torch.randn(sizes)
    before = {key: value.clone() for key, value in module.state_dict().items()}
    torch._dynamo.reset()
    with without_codegen(), config.patch(freezing=True):
        found = torch.compile(module, backend="xductor", options={"xductor.on_error": "raise"})(x)
    assert xductor.last_compile().count("efficient_conv_bn_eval_pass") == 1
    torch.testing.assert_close(found, module(x), atol=1e-5, rtol=1e-4)
    after = module.state_dict()
    assert list(after) == list(before)
    assert all(torch.equal(after[key], before[key]) for key in before)


@pytest.mark.parametrize("grad", [True, False])
def test_nothing_is_folded_where_something_is_differentiated(grad: bool) -> None:
    module, x = trained(LAYERS["conv2d"][0]()), torch.randn(2, 4, 5, 5)
    torch._dynamo.reset()
    with without_codegen(), config.patch(freezing=not grad), torch.set_grad_enabled(grad):
        found = torch.compile(module, backend="xductor")(x)
    assert xductor.last_compile().count("efficient_conv_bn_eval_pass") == (not grad)
    torch.testing.assert_close(found, module(x), atol=1e-5, rtol=1e-4)


def traced(module: nn.Module) -> GraphModule:
    gm = symbolic_trace(module)
    assert module_calls(gm)
    return gm


@pytest.mark.parametrize("name", LAYERS)
@torch.no_grad()
def test_calls_of_modules_are_spelled_as_functions(name: str) -> None:
    make, sizes = LAYERS[name]
    module, x = trained(nn.Sequential(make(), nn.Identity())), torch.randn(sizes)
    gm = traced(module)
    assert spell_module_calls(gm, [x]) == 3
    assert not gm.graph.find_nodes(op="call_module")
    torch.testing.assert_close(gm(x), module(x), rtol=0, atol=0)
    xductor.verify(xductor.from_fx(gm, stage="pre_grad"), level="types")


def _hooked() -> nn.Module:
    module = nn.Linear(3, 3)
    module.register_forward_hook(lambda _, inputs, output: output + 1)
    return module


def _overridden() -> nn.Module:
    module = nn.Linear(3, 3)
    module.forward = lambda x: x  # type: ignore[method-assign]
    return module


class OwnLinear(nn.Linear):
    """What a subclass does, its class does not say."""


OTHERS: dict[str, Callable[[], nn.Module]] = {
    "a norm in training": lambda: nn.BatchNorm1d(3),
    "no statistics": lambda: nn.BatchNorm1d(3, track_running_stats=False).eval(),
    "padding by reflection": lambda: nn.Conv1d(3, 3, 1, padding_mode="reflect"),
    "a hook": _hooked,
    "a function of its own": _overridden,
    "weight normalisation": lambda: nn.utils.parametrizations.weight_norm(nn.Linear(3, 3)),
    "another module": lambda: nn.ReLU(),
}


class Leaves(torch.fx.Tracer):
    """A tracer for which every module is a leaf."""

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        return not isinstance(m, nn.Sequential)


@pytest.mark.parametrize("name", [*OTHERS, "a subclass"])
def test_modules_that_stay(name: str) -> None:
    module = nn.Sequential(OTHERS[name]() if name in OTHERS else OwnLinear(3, 3))
    gm = GraphModule(module, Leaves().trace(module))
    code = gm.code
    assert not module_calls(gm)
    assert not spell_module_calls(gm, [torch.randn(2, 3)])
    assert gm.code == code


@torch.no_grad()
def test_a_graph_with_calls_of_modules() -> None:
    module = trained(nn.Sequential(LAYERS["conv2d"][0](), nn.Identity()))
    x = torch.randn(2, 4, 5, 5)
    gm, expected = traced(module), module(x)
    with stage_records.record() as records, config.patch(freezing=True):
        after = xductor.pre_grad_passes(gm, [x])
    assert records[0].counts()["efficient_conv_bn_eval_pass"] == 1
    torch.testing.assert_close(after(x), expected, atol=1e-5, rtol=1e-4)


def test_a_function_of_a_users_runs_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[Any] = []

    def fuse_conv_bn(gm: GraphModule, inplace: bool = False) -> GraphModule:
        ran.append(gm)
        return gm

    monkeypatch.setattr(pre_grad, "fuse_conv_bn", fuse_conv_bn)
    module, x = trained(LAYERS["conv2d"][0]()), torch.randn(2, 4, 5, 5)
    torch._dynamo.reset()
    with torch.no_grad(), without_codegen(), config.patch(freezing=True):
        found = torch.compile(module, backend="xductor")(x)
    assert ran
    assert not xductor.last_compile().count("efficient_conv_bn_eval_pass")
    torch.testing.assert_close(found, module(x), atol=1e-5, rtol=1e-4)
