"""Typed passes over pre-dispatch ATen, in the places of functions that are names in Inductor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch._inductor import config as inductor_config
from torch._inductor.fx_passes import pre_grad
from torch.utils.checkpoint import checkpoint

from xductor.backend import stages
from xductor.backend.config import settings
from xductor.backend.pipelines.predispatch import DEFAULT, OPTIONAL, typed_names
from xductor.backend.records import stage_records
from xductor.backend.run_as_fx.without_codegen import without_codegen

Function = Callable[..., Any]


class Called(torch.nn.Module):
    def __init__(self, function: Function) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.function(*inputs)


def exported(function: Function, *inputs: torch.Tensor) -> torch.fx.GraphModule:
    return torch.export.export(Called(function), inputs).module(check_guards=False)  # type: ignore[return-value]


def run(
    function: Function, inputs: tuple[torch.Tensor, ...], add: str = "", remove: str = ""
) -> tuple[dict[str, int], torch.fx.GraphModule]:
    """The counts of a pre-dispatch stage, whose graph gives what eager gives."""
    gm = exported(function, *inputs)
    fast = settings.current().replace(numerics="fast")
    with (
        inductor_config.patch(is_predispatch=True),
        settings.use(fast),
        stage_records.record() as records,
    ):
        after = stages.pre_grad_passes(gm, inputs, add or None, remove or None)
    assert records[0].fallback is None
    torch.testing.assert_close(after(*inputs), function(*inputs), equal_nan=True)
    return dict(records[0].counts()), after


x, w, b = torch.randn(2, 6, 4), torch.randn(5, 6), torch.randn(5)
special = torch.tensor([1.0, -1.0, 0.0, -0.0, float("nan"), float("inf"), -float("inf")])

FIRES: list[tuple[str, Function, tuple[torch.Tensor, ...]]] = [
    ("relu_nan_to_num", lambda x: torch.nan_to_num(x).relu() + 1, (special,)),
    (
        "fuse_chunk_reshape_concat_pass",
        lambda x: torch.cat([one.reshape(2, 8) for one in x.chunk(3, 1)], 1).exp(),
        (x,),
    ),
    (
        "fuse_chunk_squeeze_cat_pass",
        lambda x: torch.cat([one.squeeze(1) for one in x.chunk(6, 1)], 1).exp(),
        (x,),
    ),
    ("remove_reshape_pass", lambda x: x.reshape(2, 24).reshape(48).exp(), (x,)),
    ("remove_reshape_pass", lambda x: x.reshape(2, 24).exp().reshape(2, 6, 4) + 1, (x,)),
    ("normalization_pass_aten", lambda x: [one + 1 for one in x.split(4, -2)], (x,)),
    ("normalization_pass_aten", lambda x: [one + 1 for one in x.split([2, 4], -2)], (x,)),
    ("normalization_pass_aten", lambda x: [one + 1 for one in x.unbind(-1)], (x,)),
    ("normalization_pass_aten", lambda x: torch.cat([x, x + 1], -1) + 1, (x,)),
    ("normalization_pass_aten", lambda x: torch.stack([x, x + 1], -1) + 1, (x,)),
    ("remove_noop_pass", lambda x: x.reshape(2, 6, 4).exp() + 1, (x,)),
    ("remove_noop_pass", lambda x: x.transpose(0, 1).transpose(1, 0).exp(), (x,)),
    ("remove_noop_pass", lambda x: x.permute(2, 0, 1).permute(1, 2, 0).exp(), (x,)),
    ("remove_noop_pass", lambda x: torch.cat([x], 1).exp() + x[:, 0:6], (x,)),
    ("remove_noop_pass", lambda x: F.dropout(x.to(torch.float32), 0.5, False).exp(), (x,)),
    ("remove_noop_pass", lambda x: x.split(8, 1)[0].exp() + x.chunk(1)[0], (x,)),
    ("merge_concats_pass", lambda x: torch.cat([torch.cat([x, x + 1], 1), x], 1).exp(), (x,)),
    ("normalize_node_kwargs_pass", lambda x: x.flip(-1).sum((-1, 0)) + 1, (x,)),
    (
        "fuse_split_linear_add_pass",
        lambda x, w, v: F.linear(x[..., :2], w) + F.linear(x[..., 2:], v, w[:, 0]),
        (torch.randn(2, 32, 6), torch.randn(5, 2), torch.randn(5, 4)),
    ),
    (
        "fuse_parallel_linear_pass",
        lambda x, w, v: F.linear(x, w).exp() + F.linear(x, v) @ torch.ones(2, 5),
        (torch.randn(2, 32, 6), w, torch.randn(2, 6)),
    ),
    ("remove_split_ops_pass", lambda x: x.split([1, 3, 2], 1)[1].exp(), (x,)),
    ("remove_split_ops_pass", lambda x: torch.cat(x.split([1, 3, 2], 1), 1).exp(), (x,)),
    ("stack_to_unsqueeze_pass", lambda x: torch.stack([x, x + 1], 1) * 2, (x,)),
    (
        "fuse_chunk_reshape_unsqueeze_concat_pass",
        lambda x: torch.cat([one.reshape(8, 2).unsqueeze(1) for one in x.chunk(3, 1)], 1).exp(),
        (x,),
    ),
    (
        "fuse_split_getitem_squeeze_cat",
        lambda x, y: torch.cat([*[one.squeeze(1) for one in x.split(1, 1)], y], 1).exp(),
        (x, torch.randn(2, 3)),
    ),
    (
        "use_triton_dot_compress",
        lambda x, w: torch.bmm(torch.bmm(x, x.transpose(1, 2)), w) * 2,
        (torch.randn(2, 8, 2), torch.randn(2, 8, 3)),
    ),
    (
        "use_triton_lce_replace_simple_LCE",
        lambda x, w: F.linear(x.permute(0, 2, 1), w).permute(0, 2, 1).sum(1),
        (x, w),
    ),
    (
        "use_triton_lce_replace_normal_LCE",
        lambda x, w, b: F.linear(x.transpose(1, 2), w, b).transpose(1, 2).sum(1),
        (x, w, b),
    ),
    (
        "use_matmul_lce_replace_normal_LCE",
        lambda x, w, b: F.linear(x.permute(0, 2, 1), w, b).transpose(-1, -2).sum(1),
        (x, w, b),
    ),
    (
        "use_matmul_fuse_lce_replace_first_LCE",
        lambda x, y, w: F.linear(torch.cat([x, y], 1).transpose(1, 2), w).transpose(1, 2).sum(1),
        (x[:, :2], x[:, 2:], w),
    ),
]


@pytest.mark.parametrize(("name", "function", "inputs"), FIRES)
def test_it_fires_where_it_is_asked_for(
    name: str, function: Function, inputs: tuple[torch.Tensor, ...]
) -> None:
    optional = name in OPTIONAL
    others = ",".join({*DEFAULT, "remove_noop"} - {name, name.removesuffix("_pass")})
    counts, _ = run(function, inputs, add=name if optional else "", remove=others)
    assert counts[name] >= 1
    left_out, _ = run(function, inputs, remove="" if optional else f"{name},remove_noop")
    assert not left_out.get(name)


@pytest.mark.parametrize(("name", "function", "inputs"), FIRES)
def test_all_together(name: str, function: Function, inputs: tuple[torch.Tensor, ...]) -> None:
    run(function, inputs, add=",".join(OPTIONAL))


def test_a_function_that_somebody_wrote_runs_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[Any] = []
    monkeypatch.setattr(pre_grad, "relu_nan_to_num", ran.append)
    counts, _ = run(lambda x: torch.nan_to_num(x).relu() + 1, (special,))
    assert ran
    assert "relu_nan_to_num" not in counts


class Squared(torch.autograd.Function):
    """Its backward joins pieces."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return torch.cat([one.square() for one in x.chunk(2, -1)], -1)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> torch.Tensor:
        (saved,) = ctx.saved_tensors
        return torch.cat(grads[0].chunk(2, dim=-1), dim=-1) * saved * 2


def _hooked(x: torch.Tensor) -> torch.Tensor:
    doubled = x * 2
    doubled.register_hook(lambda grad: torch.cat([grad[:, :3].relu(), grad[:, 3:]], -1))
    return doubled.sin()


BODIES: dict[str, Function] = {
    "checkpoint": lambda x: checkpoint(
        lambda y: torch.cat(y.chunk(2, -1), -1).sin(), x, use_reentrant=False
    ),
    "function": Squared.apply,
    "hook": _hooked,
    "branches": lambda x: torch.cond(
        x.sum() > 0, lambda x: torch.cat(x.chunk(2, -1), -1), lambda x: x.sin(), (x,)
    ),
}


@pytest.mark.parametrize("written", [False, True])
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", BODIES)
def test_bodies_that_get_no_inputs(
    name: str, dynamic: bool, written: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shapes are not propagated through them, with a pass that somebody wrote or without one."""
    ran: list[torch.fx.Graph] = []
    if written:
        monkeypatch.setattr(pre_grad, "relu_nan_to_num", ran.append)
    leaf = torch.randn(4, 6, requires_grad=True)
    (wanted,) = torch.autograd.grad(BODIES[name](leaf).sum(), leaf)
    torch._dynamo.reset()
    options = {"xductor.on_error": "raise", "is_predispatch": True}
    with without_codegen():
        compiled = torch.compile(
            BODIES[name], backend="xductor", options=options, dynamic=dynamic, fullgraph=True
        )
        found = compiled(leaf)
        torch.testing.assert_close(found, BODIES[name](leaf))
        torch.testing.assert_close(torch.autograd.grad(found.sum(), leaf)[0], wanted)
    assert len(ran) >= written


def test_group_fusions_that_are_on() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.cat([(x + number).tanh() for number in range(6)])

    with inductor_config.patch(pre_grad_fusion_options={"batch_tanh": {}}):
        counts, _ = run(function, (x,))
    assert counts["batch_tanh"] == 1


def test_every_name_is_one_of_inductors() -> None:
    assert set(typed_names()) <= {*DEFAULT, *OPTIONAL}
    assert len(typed_names()) >= 12


class TwoLinears(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Linear(6, 3), torch.nn.Linear(6, 2)

    def forward(self, x: torch.Tensor) -> Any:
        return self.first(x).sin(), self.second(x).cos(), torch.cat(x.split(2, -1), 1) * 2


@pytest.mark.parametrize("dynamic", [False, True])
def test_an_exported_model_whose_parameters_require_gradients(dynamic: bool) -> None:
    """`torch.export` records values that require none."""
    model, given = TwoLinears(), torch.randn(64, 6)
    sizes = ({0: torch.export.Dim("rows")},) if dynamic else None
    gm: Any = torch.export.export(model, (given,), dynamic_shapes=sizes).module(check_guards=False)
    with (
        inductor_config.patch(is_predispatch=True),
        settings.use(settings.current().replace(on_error="raise")),
        stage_records.record() as records,
    ):
        after = stages.pre_grad_passes(gm, (given,))
    assert records[0].applications("fuse_parallel_linear_pass") == 1
    assert records[0].applications("remove_split_ops_pass") == 1
    other = torch.randn(48 if dynamic else 64, 6)
    found, expected = after(other), model(other)
    torch.testing.assert_close(found, expected)
    assert [one.requires_grad for one in found] == [one.requires_grad for one in expected]


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        ("no_such_pass", KeyError, "there is no pass 'no_such_pass' in 'no_such_pass'; there are "),
        ("remove_reshape", KeyError, "did you mean 'remove_reshape_pass'"),
        ("remove_noop_pass, remove_reshape_pass", KeyError, "no pass ' remove_reshape_pass'"),
        (["remove_reshape_pass"], TypeError, "commas between them, .*found \\['remove_reshape"),
        (3, TypeError, "expected names of passes with commas between them, .*found 3"),
    ],
)
@pytest.mark.parametrize("option", ["add_passes", "remove_passes"])
def test_names_that_there_are_not(
    option: str, names: Any, error: type[Exception], message: str
) -> None:
    """Nothing is changed then, nor asked where no such pass runs."""
    gm = exported(lambda x: x.reshape(2, 24).reshape(48) + 0, x)
    before = str(gm.graph)
    named: Any = {option: names}
    with (
        inductor_config.patch(is_predispatch=True),
        pytest.raises(error, match=f"{option}: .*{message}"),
    ):
        stages.pre_grad_passes(gm, (x,), **named)
    assert str(gm.graph) == before
    stages.pre_grad_passes(gm, (x,), **named)


@pytest.mark.parametrize("names", ["", ",", "remove_noop_pass,"])
def test_empty_names(names: str) -> None:
    run(lambda x: x.reshape(2, 24) + 1, (x,), names, names)
