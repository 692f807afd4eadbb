"""`realize_before_expand`: what is dear and small is in memory before it is expanded."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import torch

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


@pytest.mark.parametrize("what", SMALL_ONES)
def test_symbolic_sizes_that_were_traced_decide(trace: Any, what: str) -> None:
    """The graph is right at other sizes, too few to pay and none among them."""
    x, y = given()

    def f(x: Any, y: Any) -> Any:
        sizes = y.new_ones(y.shape)  # reads both, so that the graph has them as values
        return x * SMALL_ONES[what](y) + sizes

    case = traced(trace, f, x, y, dynamic=True)
    assert case.run(SMALL) == case.ops.count(PRIM) == 1
    verify(case.module, "types")
    for many, rows, columns in ((MANY, ROWS, COLUMNS), (3, 5, 7), (2, 1, 3), (0, 4, 2), (3, 0, 2)):
        case.check_values(torch.randn(many, rows, columns), torch.randn(rows, columns))


def test_symbolic_sizes_that_do_not_pay(trace: Any) -> None:
    x, y = given()
    case = traced(trace, lambda x, y: x * y.exp(), x[:4], y, dynamic=True)
    assert case.run(SMALL) == 0


def test_strides_that_the_graph_does_not_have(trace: Any) -> None:
    x, y = given()
    case = traced(trace, lambda x, y: x * y.exp(), x, y, dynamic=True)
    assert case.run(SMALL) == 0


def test_sizes_that_are_known_at_run_time_only() -> None:
    text = """
fx.graph @f stage(post_grad) symbols({symbol}) (
    %n : !fx.symint<s0>, %x : !fx.tensor<f32[1024, 16, s0], cpu>,
    %y : !fx.tensor<f32[16, s0], cpu>) {{
  %e = aten.exp.default %y : !fx.tensor<f32[16, s0], cpu>
  %m = aten.mul.Tensor %x, %e : !fx.tensor<f32[1024, 16, s0], cpu>
  fx.output (%m,)
}}
"""
    backed = text.format(symbol="s0 : int positive [2, int_oo] hint 8")
    assert SMALL.rewrite(parse_ir(backed)) == 1
    unbacked = text.replace("s0", "u0").format(symbol="u0 : int unbacked size_like [0, int_oo]")
    assert SMALL.rewrite(parse_ir(unbacked)) == 0


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
