"""`realize_before_expand`: what is dear and small is in memory before it is expanded."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import torch
from torch.torch_version import TorchVersion

import xductor
from tests.specimens.realized_specimens import (
    COLUMNS,
    MANY,
    ROWS,
    SMALL,
    SMALL_ONES,
    USES,
    random_program,
)
from xductor.ir import parse_ir, verify
from xductor.transforms.post_grad.realize_before_expand import RealizeBeforeExpand

since_2_13 = pytest.mark.skipif(
    TorchVersion(torch.__version__) < TorchVersion("2.13"), reason="strides cannot be symbolic"
)
PRIM = "prims.inductor_force_stride_order.default"


def given(seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(seed)
    return torch.randn(MANY, ROWS, COLUMNS), torch.randn(ROWS, COLUMNS)


def traced(trace: Any, function: Any, *inputs: Any, **more: Any) -> Any:
    return trace(function, *inputs, stage="post_grad", **more)


@pytest.mark.parametrize("what", SMALL_ONES)
@pytest.mark.parametrize("how", USES)
def test_fires(trace: Any, what: str, how: str) -> None:
    x, y = given()
    case = traced(trace, lambda x, y: USES[how](x, SMALL_ONES[what](y)), x, y)
    assert case.run(SMALL) == case.ops.count(PRIM) == 1
    verify(case.module, "types")
    case.check_values(x, y)
    assert case.run(SMALL) == 0


def test_the_last_small_tensor_is_realized(trace: Any) -> None:
    """After the cast, and before the views that expand it."""
    x, y = given()
    narrow = SMALL_ONES["cosines in 16 bits"]
    case = traced(trace, lambda x, y: x * narrow(y)[None].expand_as(x), x, y)
    assert case.run(SMALL) == 1
    assert case.ops[:4] == [
        "aten.cos.default",
        "prims.convert_element_type.default",
        PRIM,
        "aten.unsqueeze.default",
    ]


def test_what_is_made_of_it_needs_no_buffer(trace: Any) -> None:
    """Only the first is computed for nothing: what follows reads it from memory."""
    x, y = given()

    def f(x: Any, y: Any) -> Any:
        sines = y.sin()
        return x * sines, x * (sines + 1)

    case = traced(trace, f, x, y)
    assert case.run(SMALL) == 1
    case.check_values(x, y)


STAYS = {
    "cheap": lambda x, y: x * (y.abs() + 1),
    "as large": lambda x, y: x * x.exp(),
    "hardly larger": lambda x, y: x[:4] * y.exp(),
    "a number for each row": lambda x, y: x * y.sum(-1, keepdim=True).exp(),
    "one number": lambda x, y: x * y.sum().exp(),
    "read by a product": lambda x, y: torch.mm(y.exp(), x[0].t()),
    "reduced before": lambda x, y: x * y.exp().sum(0),
    "a square": lambda x, y: x * y**2,
}


@pytest.mark.parametrize("what", STAYS)
def test_stays(trace: Any, what: str) -> None:
    case = traced(trace, STAYS[what], *given())
    assert case.run(SMALL) == 0


def test_too_few_elements_to_pay(trace: Any) -> None:
    x, y = given()
    case = traced(trace, lambda x, y: x * y.exp(), x, y)
    assert case.run(dataclasses.replace(SMALL, elements=x.numel() + 1)) == 0
    assert case.run(dataclasses.replace(SMALL, elements=x.numel())) == 1


def test_not_on_a_cpu_by_itself(trace: Any) -> None:
    case = traced(trace, lambda x, y: x * y.exp(), *given())
    assert case.run(RealizeBeforeExpand(elements=1)) == 0


def test_memory_is_bounded(trace: Any) -> None:
    """Of many small tensors only as many as fit into a quarter of a large one."""

    def f(x: Any, y: Any) -> Any:
        for number in range(8):
            x = x * (y + number).exp()
        return x

    case = traced(trace, f, *given())
    assert case.run(SMALL) == MANY // 4
    case.check_values(*given())


to = torch.ops.prims.convert_element_type.default
SYMBOLIC: dict[str, Any] = {
    "rows": lambda x, y: x * y.exp(),
    "views": lambda x, y: x - y[None, None].log1p().unsqueeze(3)[0, :, :, 0],
    "a product of sizes": lambda x, y: x[None] * (y[None, None].sin() + y[None, None, :1]),
    "turned": lambda x, y: x.transpose(1, 2) + y.t().cos(),
    "in 16 bits": lambda x, y: x * to(y.exp(), torch.bfloat16),
    "an index": lambda x, y: x.gather(1, to(y.sin() > 0, torch.int64).expand(x.shape)),
    "of two": lambda x, y: (x * y.exp(), x * (y.exp() + y.sin())),
    "returned too": lambda x, y: (y.sin(), x * y.sin()),
}


@since_2_13
@pytest.mark.parametrize("what", SYMBOLIC)
def test_symbolic_sizes(trace: Any, what: str) -> None:
    case = traced(trace, _with_sizes(SYMBOLIC[what]), *given(), dynamic=True)
    guards = _guards(case)
    assert case.run(SMALL) == case.ops.count(PRIM) >= 1
    assert _guards(case) == guards
    verify(case.module, "types")
    assert case.run(SMALL) == 0
    for sizes in ((MANY, ROWS, COLUMNS), (2, 2, 2), (3, 7, 5), (2, 31, 3), (40, 2, 9)):
        x = torch.randn(sizes)
        y = torch.randn(sizes[1:])
        y.view(-1)[:3] = torch.tensor([float("nan"), float("inf"), -0.0])
        case.check_values(x, y)


def _with_sizes(function: Any) -> Any:
    """A function whose graph has the sizes as values from the start, as compiled graphs do."""
    view = torch.ops.aten.view.default
    return lambda x, y: function(view(x, x.shape), view(y, y.shape))


def _guards(case: Any) -> tuple[Any, ...]:
    env = next(
        one.node.shape_env
        for node in case.gm.graph.nodes
        for one in getattr(node.meta.get("val"), "shape", ())
        if isinstance(one, torch.SymInt)
    )
    return len(env.guards), dict(env.replacements), dict(env.var_to_range)


def test_symbolic_sizes_that_were_as_large(trace: Any) -> None:
    x, y = given()
    function = _with_sizes(lambda x, y: x * y.exp())
    assert traced(trace, function, x[:4], y, dynamic=True).run(SMALL) == 0


@pytest.mark.parametrize(
    ("symbols", "applied"),
    [
        ("s0 : int positive [2, int_oo] hint 64, s1 : int positive [2, int_oo] hint 8", 1),
        ("s0 : int positive [2, int_oo] hint 4, s1 : int positive [2, int_oo] hint 8", 0),
        ("s0 : int positive [2, int_oo] hint 64, s1 : int unbacked size_like [2, int_oo]", 0),
    ],
)
@since_2_13
def test_sizes_that_were_not_seen_stay(symbols: str, applied: int) -> None:
    graph = f"""
fx.graph @forward stage(post_grad) symbols({symbols}) (
    %n : !fx.symint<s1>, %x : !fx.tensor<f32[s0, s1, 4], cpu>, %y : !fx.tensor<f32[s1, 4], cpu>) {{
  %z = aten.exp.default %y : !fx.tensor<f32[s1, 4], cpu>
  %a = aten.mul.Tensor %x, %z : !fx.tensor<f32[s0, s1, 4], cpu>
  fx.output (%a)
}}
"""
    assert SMALL.rewrite(parse_ir(graph)) == applied


@since_2_13
@pytest.mark.parametrize("seed", range(30))
def test_random_programs_of_symbolic_sizes(trace: Any, seed: int) -> None:
    x, y = given(seed)
    case = traced(trace, _with_sizes(random_program(seed)), x, y, dynamic=True)
    case.run(SMALL)
    verify(case.module, "types")
    case.check_values(x, y)


@since_2_13
def test_compiled_with_symbolic_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """One graph for all sizes; the strides of what is realized are computed in it."""
    monkeypatch.setattr(RealizeBeforeExpand, "__init__", _small)
    torch._dynamo.reset()

    def function(x: Any, y: Any) -> Any:
        return x[None] * (y[None, None].sin() + y[None, None, :1]), x + y.exp()

    options: dict[str, Any] = {"xductor.on_error": "raise"}
    compiled = torch.compile(function, backend="xductor", dynamic=True, options=options)
    with torch._dynamo.config.patch(error_on_recompile=True):
        for sizes in ((16, 6, 8), (3, 2, 5), (9, 31, 7), (2, 2, 2)):
            x, y = torch.randn(sizes), torch.randn(sizes[1:])
            torch.testing.assert_close(compiled(x, y), function(x, y))
            assert xductor.last_compile().count("realize_before_expand") >= 2


def test_a_write_afterwards(trace: Any) -> None:
    """The buffer is the pass's own: what is written later is the program's."""
    x, y = given()

    def f(x: Any, y: Any) -> Any:
        small = y.exp()
        large = x * small
        y.copy_(small)
        return large

    case = traced(trace, f, x, y)
    assert case.run(SMALL) == 1
    case.check_values(x, y)


@pytest.mark.parametrize("seed", range(30))
def test_random_programs(trace: Any, seed: int) -> None:
    x, y = given(seed)
    case = traced(trace, random_program(seed), x, y)
    case.run(SMALL)
    verify(case.module, "types")
    case.check_values(x, y)


def rotated(queries: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Rotary embedding, forward and backward."""
    frequencies = positions[:, None] * torch.linspace(0, 1, COLUMNS)
    cosines, sines = frequencies.cos(), frequencies.sin()
    return queries * cosines + queries.flip(-1) * sines


def test_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inductor gives it a buffer, in the backward too."""
    monkeypatch.setattr(RealizeBeforeExpand, "__init__", _small)
    torch._dynamo.reset()
    queries = torch.randn(32, ROWS, COLUMNS, requires_grad=True)
    positions = torch.rand(ROWS)
    options = {"xductor.on_error": "raise"}
    compiled = torch.compile(rotated, backend="xductor", options=options)
    found = compiled(queries, positions)
    assert xductor.last_compile().count("realize_before_expand") >= 2
    torch.testing.assert_close(found, rotated(queries, positions))
    [gradient] = torch.autograd.grad(found.square().sum(), queries)
    [wanted] = torch.autograd.grad(rotated(queries, positions).square().sum(), queries)
    torch.testing.assert_close(gradient, wanted)


def _small(self: RealizeBeforeExpand) -> None:
    vars(self).update(devices=SMALL.devices, elements=SMALL.elements)
