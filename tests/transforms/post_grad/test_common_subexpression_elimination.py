"""`common_subexpression_elimination`: once what is computed twice, where nobody can tell."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

import xductor
from tests.specimens.equal_op_specimens import SEEDS, Program
from tests.transforms.conftest import Case
from xductor.backend.testing.captured_stages import capture
from xductor.frontend import from_fx
from xductor.ir import verify
from xductor.transforms.post_grad.common_subexpression_elimination import (
    CommonSubexpressionElimination,
)

aten, prims = torch.ops.aten, torch.ops.prims
NAME = CommonSubexpressionElimination.name
PASS = CommonSubexpressionElimination()


def traced(trace: Any, f: Any, *inputs: Any, **more: Any) -> Any:
    return trace(f, *inputs, stage="post_grad", **more)


def merged(trace: Any, f: Any, *inputs: Any, **more: Any) -> int:
    """How many ops are merged; what is seen of the results stays as it was."""
    case = traced(trace, f, *inputs, **more)
    found = case.run(PASS)
    case.check_values(*inputs)
    assert case.run(PASS) == 0
    return found


FIRES = {
    "a product": (lambda x: (x @ x.t()).sum() + (x @ x.t()).amax(), 2),
    "a chain": (lambda x: (x.exp() * 2 + 1).sin() - (x.exp() * 2 + 1).cos(), 3),
    "three": (lambda x: x.exp() + x.exp() * x.exp(), 2),
    "all results": (lambda x: x.sort(1)[0] + x.sort(1)[1], 1),
    "pieces": (lambda x: torch.cat(x.split(1)) + torch.cat(x.split(1)), 2),
    "of no input": (
        lambda x: x + torch.arange(4).log() - torch.arange(4, device="cpu").log() * 2,
        2,
    ),
    "views": (lambda x: x.t().reshape(-1).exp() + x.t().reshape(-1).sin(), 3),
    "copies": (lambda x: x.t().clone().exp() + x.t().clone().sin(), 2),
    "one is an output": (lambda x: (x.exp(), x.exp() + 1), 1),
    "the other is an output": (lambda x: (x.exp() + 1, x.exp()), 1),
    "of outputs": (lambda x: (x.exp(), x.exp(), x.exp().sum() + x.exp().sum()), 3),
    "conjugates": (
        lambda x: (
            torch.view_as_real(torch.view_as_complex(x.view(-1, 2)).conj() * 2)
            + torch.view_as_real(torch.view_as_complex(x.view(-1, 2)).conj() * 2)
        ),
        6,
    ),
    "indices": (lambda x: x[:, torch.arange(2)] * x[:, torch.arange(2)], 2),
    "views of an input, one of which is an output": (lambda x: (x.view(-1), x.view(-1)[1:]), 1),
}
STAYS = {
    "draws": lambda x: torch.bernoulli(x.nan_to_num(0).clamp(0, 1)) + torch.rand_like(x),
    "undefined memory": lambda x: x + torch.empty_like(x).zero_() - torch.empty_like(x).zero_(),
    "two outputs": lambda x: (x.exp(), x.exp()),
    "two views as outputs": lambda x: (x.t(), x.t()),
    "signed zeros": lambda x: (x + 0.0) / (x + -0.0),
    "a number and a float": lambda x: aten.add.Scalar(x, 1) - aten.add.Scalar(x, 1.0),
    "another dtype": lambda x: (
        prims.convert_element_type(x, torch.float64) + prims.convert_element_type(x, torch.float16)
    ),
    "a turned operand": lambda x: x.sub(2) * (2 - x),
    "an input that is written": lambda x: (x.exp(), x.mul_(2), x.exp()),
    "one that is written": lambda x: (y := x.exp(), y.mul_(2), y + x.exp())[2],
    "the other that is written": lambda x: (y := x.exp(), z := x.exp(), z.mul_(2), y + z)[3],
    "one whose view is written": lambda x: (
        y := x.exp(),
        z := x.exp(),
        z[0].mul_(2),
        y + z,
    )[3],
    "an output that is written": lambda x: (y := x.exp(), x.exp(), y.add_(1))[:2],
}


@pytest.mark.parametrize("what", FIRES)
def test_fires(trace: Any, special: Any, what: str) -> None:
    f, ops = FIRES[what]
    assert merged(trace, f, special(4, 4)) == ops


@pytest.mark.parametrize("what", STAYS)
def test_stays(trace: Any, special: Any, what: str) -> None:
    x = special(4, 4)
    torch.manual_seed(0)
    case = traced(trace, STAYS[what], x)
    before = case.ops
    assert case.run(PASS) == 0
    assert case.ops == before
    if what != "draws":
        case.check_values(x)


@pytest.mark.parametrize("draw", ["rand_like", "randn_like", "bernoulli"])
def test_two_draws_are_two(trace: Any, draw: str) -> None:
    f = getattr(torch, draw)
    case = traced(trace, lambda x: f(x) + f(x), torch.ones(4))
    assert case.run(PASS) == 0


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.int64, torch.bool, torch.complex64])
@pytest.mark.parametrize("shape", [(), (0, 3), (1, 1), (3, 4)])
def test_dtypes_and_sizes(trace: Any, dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    x = torch.ones(shape, dtype=dtype)
    assert merged(trace, lambda x: (x * x).sum() - (x * x).sum(), x) >= 1


def test_symbolic_sizes(trace: Any, special: Any) -> None:
    def f(x: Any, y: Any) -> Any:
        a = torch.arange(x.shape[0]).log() + x.reshape(x.shape[0] * x.shape[1]).sum()
        return a - torch.arange(x.shape[0]).log() * x.reshape(x.shape[0] * x.shape[1]).sum() + y

    x, y = special(3, 4), torch.ones(3)
    case = traced(trace, f, x, y, dynamic=True)
    assert PASS.may_fire(case.gm.graph)
    assert case.run(PASS) >= 4
    case.check_values(special(5, 2), torch.ones(5))


def test_sizes_that_are_read_twice(parse: Any) -> None:
    case = parse("""
        fx.graph @g stage(post_grad) symbols(s0 : int positive [2, 99] hint 5)
            (%x : !fx.tensor<f32[s0], cpu>) {
          %m = aten.sym_size.int %x, 0 : !fx.symint<s0>
          %n = aten.sym_size.int %x, 0 : !fx.symint<s0>
          %a = aten.full.default [%m], 1.0, dtype = f32 : !fx.tensor<f32[s0], cpu>
          %b = aten.full.default [%n], 1.0, dtype = f32 : !fx.tensor<f32[s0], cpu>
          %c = aten.mul.Tensor %a, %b : !fx.tensor<f32[s0], cpu>
          fx.output %c
        }""")
    assert case.run(PASS) == 1
    assert "%c = aten.mul.Tensor %a, %a" in case.text


def test_a_size_is_known_by_its_expression(trace: Any) -> None:
    def f(x: Any, y: Any) -> Any:
        return x + torch.arange(x.shape[0]) * (y + torch.arange(y.shape[0]))

    case = traced(trace, f, torch.ones(5), torch.ones(5), dynamic=True)
    assert PASS.may_fire(case.gm.graph)
    assert case.run(PASS) == case.ops.count("aten.arange.default") == 1


def test_sizes_that_depend_on_values(trace: Any) -> None:
    def f(x: Any) -> Any:
        return x.nonzero().sum() + x.nonzero().amax()

    x = torch.tensor([1.0, 0.0, 2.0])
    case = traced(trace, f, x, dynamic=True)
    assert case.run(PASS) == 1
    case.check_values(x)


def test_a_write_is_a_barrier(parse: Any) -> None:
    case = parse("""
        fx.graph @g stage(post_grad) symbols() (%x : !fx.tensor<f32[4], cpu>) {
          %a = aten.exp.default %x : !fx.tensor<f32[4], cpu>
          %w = aten.mul_.Tensor %x, 2 : !fx.tensor<f32[4], cpu>
          %b = aten.exp.default %x : !fx.tensor<f32[4], cpu>
          %c = aten.exp.default %x : !fx.tensor<f32[4], cpu>
          %d = aten.add.Tensor %a, %b : !fx.tensor<f32[4], cpu>
          %e = aten.add.Tensor %d, %c : !fx.tensor<f32[4], cpu>
          fx.output (%e)
        }""")
    assert case.run(PASS) == 1
    assert "%d = aten.add.Tensor %a, %b" in case.text
    assert "%e = aten.add.Tensor %d, %b" in case.text


def far_apart(rows: int) -> str:
    """A mask that is made anew behind a product, which is when the first one would be free."""
    mask = f"!fx.tensor<f32[{rows}, 1024], cpu>"
    return f"""
        fx.graph @g stage(post_grad) symbols()
            (%x : !fx.tensor<f32[{rows}, 1], cpu>, %y : {mask}) {{
          %a = aten.expand.default %x, [{rows}, 1024] : !fx.tensor<f32[{rows}, 1024][1, 0], cpu>
          %m = aten.exp.default %a : {mask}
          %p = aten.add.Tensor %m, %y : {mask}
          %b = aten.expand.default %x, [{rows}, 1024] : !fx.tensor<f32[{rows}, 1024][1, 0], cpu>
          %n = aten.exp.default %b : {mask}
          %q = aten.add.Tensor %p, %n : {mask}
          fx.output (%q)
        }}"""


@pytest.mark.parametrize(("rows", "ops"), [(512, 2), (1024, 1)])
def test_what_is_large_and_cheap_is_not_kept(parse: Any, rows: int, ops: int) -> None:
    """Of 2 MiB and of 4; the view in front of it takes nothing."""
    assert parse(far_apart(rows)).run(PASS) == ops


def test_what_is_large_and_dear_is_kept(parse: Any) -> None:
    text = far_apart(1024).replace("aten.exp.default", "aten.cumsum.default")
    case = parse(
        text.replace("cumsum.default %a", "cumsum.default %a, 0").replace(
            "cumsum.default %b", "cumsum.default %b, 0"
        )
    )
    assert case.run(PASS) == 2


def test_what_is_there_anyway_may_be_large(parse: Any) -> None:
    text = far_apart(1024).replace("%q = aten.add.Tensor %p, %n", "%q = aten.add.Tensor %m, %n")
    assert parse(text).run(PASS) == 2


def test_a_share_of_large_inputs_may_be_kept(parse: Any) -> None:
    """The inputs take 260 MiB, so that 4 MiB are a share of them that does not matter."""
    text = far_apart(1024).replace("(%x", "(%z : !fx.tensor<f32[65536, 1024], cpu>, %x")
    assert parse(text).run(PASS) == 2


def test_it_says_why_not(parse: Any) -> None:
    why = xductor.explain(CommonSubexpressionElimination, parse(far_apart(1024)).module)
    assert any("cheap to make" in one.reason for one in why.near)


def two_towers(x: Any, w: Any) -> Any:
    first, second = torch.relu(x @ w), torch.relu(x @ w)
    return first.sum(0) + second.amax(0)


def test_in_a_compile_of_inference_alone() -> None:
    x, w = torch.randn(4, 5), torch.randn(5, 6, requires_grad=True)
    with torch.no_grad():
        calls = capture(two_towers, x, w)
    stage = calls.one("post_grad")
    assert stage.record.applications(NAME) == 2
    assert stage.after_text.count("aten.mm.default") == 1
    torch.testing.assert_close(calls.output, two_towers(x, w))
    assert all(one.record.applications(NAME) == 0 for one in capture(two_towers, x, w))


@pytest.mark.parametrize("numerics", ["strict", "default", "fast"])
def test_numerics_do_not_matter(numerics: str) -> None:
    x, w = torch.randn(4, 5), torch.randn(5, 6)
    calls = capture(two_towers, x, w, options={"xductor.numerics": numerics})
    assert calls.one("post_grad").record.applications(NAME) == 2
    torch.testing.assert_close(calls.output, two_towers(x, w))


def test_a_loop_body() -> None:
    def f(x: Any) -> Any:
        def body(i: Any, y: Any) -> Any:
            return i + 1, (y @ y).sin() + (y @ y).cos()

        start = (x[0, 0] * 0).long()  # so that it is not unrolled
        return torch.while_loop(lambda i, y: i < 3, body, (start, x))[1]

    x = torch.eye(3)
    with torch.no_grad():
        calls = capture(f, x)
    assert sum(one.record.applications(NAME) for one in calls) == 1
    torch.testing.assert_close(calls.output, f(x))


def test_random_programs(special: Any) -> None:
    """Bit for bit, in layout and in who shares with whom, also where values are written."""
    fired = 0
    for seed in range(SEEDS):
        inputs = special(3, 3), special(9).roll(4).view(3, 3)
        gm = make_fx(Program(seed, writes=True), tracing_mode="fake")(*inputs)
        case = Case(gm, from_fx(gm, "post_grad"))
        applications = case.run(PASS)
        assert not applications or PASS.may_fire(gm.graph)
        fired += applications > 0
        verify(case.module, "types")
        case.check_values(*inputs)
    assert fired > SEEDS // 2
