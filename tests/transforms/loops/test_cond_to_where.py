"""Branches that are both computed: on IR, in compiles and in training, and branches that stay."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import xductor
from tests.specimens.control_flow_specimens import cond_program
from xductor.backend.pass_validation.comparison import same_results_as_fx
from xductor.backend.records import stage_records
from xductor.backend.run_as_fx.without_codegen import without_codegen
from xductor.ir import parse_ir, print_ir, run, same, verify
from xductor.transforms import EXACT
from xductor.transforms.loops.cond_to_where import CondToWhere

NAME = "cond_to_where"
_NAN, _INF = float("nan"), float("inf")


def _check_program(seed: int) -> None:
    before = cond_program(seed)
    after = before.clone()
    assert CondToWhere().rewrite(after) == 1
    verify(after, "types")
    assert same(parse_ir(print_ir(after)), after)
    assert same_results_as_fx(before, after, EXACT)


@pytest.mark.parametrize("first", [1000, 1020, 1040])
def test_random_programs(first: int) -> None:
    for seed in range(first, first + 20):
        _check_program(seed)


@pytest.mark.slow
def test_more_random_programs() -> None:
    for seed in range(2000, 2400):
        _check_program(seed)


def _compiled(function: Any, inputs: Any, dynamic: bool = False) -> tuple[Any, int]:
    """The results of a compile, and how many conds were replaced in forward and backward."""
    torch._dynamo.reset()
    options = {"xductor.on_error": "raise", "xductor.verify": "types"}
    compiled = torch.compile(
        function, backend="xductor", dynamic=dynamic, options=options, fullgraph=True
    )
    with without_codegen(), stage_records.record() as records:
        results = compiled(*inputs)
        if torch.is_grad_enabled():
            torch.autograd.backward([one.sum() for one in results])
    return results, sum(record.applications(NAME) for record in records)


def _simple(x: torch.Tensor, y: torch.Tensor) -> Any:
    return (torch.cond(x.sum() > 0, lambda x, y: (x * y).sin(), lambda x, y: x.cos() + y, (x, y)),)


def _several(x: torch.Tensor, y: torch.Tensor) -> Any:
    def yes(x: torch.Tensor, y: torch.Tensor) -> Any:
        return x.exp() + y, x * 2

    def no(x: torch.Tensor, y: torch.Tensor) -> Any:
        return x / y, y.expand(x.shape) + 1

    return torch.cond(y.mean() > 0.5, yes, no, (x, y))


def _untaken_is_nan(x: torch.Tensor, y: torch.Tensor) -> Any:
    """The branch that is not taken, and its gradients, are NaN and infinite."""
    return (
        torch.cond(
            x.sum() < 1e9, lambda x, y: x * y, lambda x, y: (x - x).sqrt() / (y - y).log(), (x, y)
        ),
    )


def _nested(x: torch.Tensor, y: torch.Tensor) -> Any:
    def yes(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.cond(y.sum() > 0, lambda x: x.sin(), lambda x: x.tanh(), (x,))

    return (torch.cond(x.sum() > 0, yes, lambda x, y: x.neg(), (x, y)),)


_PROGRAMS = [_simple, _several, _untaken_is_nan, _nested]


def _inputs(sign: int, *, grad: bool) -> list[torch.Tensor]:
    chance = torch.Generator().manual_seed(5)
    x = sign * torch.rand(4, 3, generator=chance)
    y = sign * torch.rand(3, generator=chance) + 0.25
    return [x.requires_grad_(grad), y.requires_grad_(grad)]


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("function", _PROGRAMS)
def test_compiles_give_eager_bits(function: Any, sign: int, dynamic: bool) -> None:
    inputs = _inputs(sign, grad=False)
    with torch.no_grad():
        found, count = _compiled(function, inputs, dynamic)
        expected = function(*inputs)
    assert count >= 1
    for one, other in zip(found, expected, strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("function", _PROGRAMS)
def test_trains(function: Any, sign: int) -> None:
    inputs, same_inputs = _inputs(sign, grad=True), _inputs(sign, grad=True)
    found, count = _compiled(function, inputs)
    expected = function(*same_inputs)
    torch.autograd.backward([one.sum() for one in expected])
    assert count >= 1
    for one, other in zip(found, expected, strict=True):
        assert torch.equal(one, other)
    for one, other in zip(inputs, same_inputs, strict=True):
        assert one.grad is not None
        assert other.grad is not None
        assert one.grad.isfinite().all()
        torch.testing.assert_close(one.grad, other.grad)


@pytest.mark.parametrize("values", [(_NAN, 1.0), (_INF, -0.0), (-_INF, 1e-45), (0.0, -0.0)])
def test_special_values(values: tuple[float, float]) -> None:
    module = parse_ir(_TEXT.format(**_PARTS))
    after = module.clone()
    assert CondToWhere().rewrite(after) == 1
    for truth in (True, False):
        given = torch.tensor(truth), torch.tensor([*values, 3.0])
        (before,), (found,) = run(module, *given), run(after, *given)
        bits = [one.nan_to_num(nan=9.0).view(torch.int32) for one in (before, found)]
        assert torch.equal(*bits)
        assert torch.equal(before.isnan(), found.isnan())


_TEXT = """builtin.module {{
fx.graph @forward stage(joint) symbols() (%p : {predicate}, %x : {type}) {{
  %r = higher_order.cond %p, @yes, @no, (%x,) : {type} as (*,) {{node = "cond"}}
  fx.output (%r,)
}}
fx.graph @yes stage(joint) symbols() (%x : {type}) {{
  {yes}
  fx.output (%a,)
}}
fx.graph @no stage(joint) symbols() (%x : {type}) {{
  {no}
  fx.output (%b,)
}}
}}"""
_VECTOR, _WHOLE = "!fx.tensor<f32[3], cpu>", "!fx.tensor<i64[3], cpu>"
_PARTS = {
    "predicate": "!fx.tensor<i1[], cpu>",
    "type": _VECTOR,
    "yes": f"%a = aten.log.default %x : {_VECTOR}",
    "no": f"%b = aten.neg.default %x : {_VECTOR}",
}
_WHOLE_PARTS = {"type": _WHOLE, "no": f"%b = aten.neg.default %x : {_WHOLE}"}
_LARGE = "!fx.tensor<f32[20000], cpu>"
_TRANSPOSED = "!fx.tensor<f32[2, 2][1, 2], cpu>"
_SQUARE = "!fx.tensor<f32[2, 2], cpu>"


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"predicate": "!fx.symbool<lt(3, 4)>"}, "comparison of sizes"),
        ({"predicate": "!fx.tensor<i1[], cuda:0>"}, "on another device"),
        ({"yes": f"%a = aten.rand_like.default %x : {_VECTOR}"}, "rand_like"),
        ({"yes": f"%a = aten.cumsum.default %x, 0 : {_VECTOR}"}, "is not pointwise"),
        (
            {
                "yes": "%g = aten._to_copy.default %x, device = device<cuda:0> "
                f": !fx.tensor<f32[3], cuda:0>\n  %a = aten.sin.default %x : {_VECTOR}"
            },
            "copies to another device",
        ),
        ({"yes": f"%a = aten.sin_.default %x : {_VECTOR}"}, "does more than compute"),
        ({"yes": f"%a = aten.mul.Tensor %x, -0.0 : {_VECTOR}"}, "holds -0.0"),
        (
            {**_WHOLE_PARTS, "yes": f"%a = aten.remainder.Tensor %x, %x : {_WHOLE}"},
            "may raise",
        ),
        (
            {**_WHOLE_PARTS, "yes": f"%a = aten.pow.Tensor_Tensor %x, %x : {_WHOLE}"},
            "may raise",
        ),
        (
            {
                "type": _LARGE,
                "yes": f"%a = aten.log.default %x : {_LARGE}",
                "no": f"%b = aten.neg.default %x : {_LARGE}",
            },
            "more than 65536",
        ),
        (
            {
                "type": _SQUARE,
                "yes": f"%a = aten.permute.default %x, [1, 0] : {_TRANSPOSED}",
                "no": f"%b = aten.permute.default %x, [1, 0] : {_TRANSPOSED}",
            },
            "and a where",
        ),
    ],
)
def test_stays(parts: dict[str, str], reason: str) -> None:
    module = parse_ir(_TEXT.format(**{**_PARTS, **parts}))
    before = print_ir(module)
    reasons: list[str] = []
    CondToWhere().explained(module, lambda op, why: reasons.append(why))
    assert print_ir(module) == before
    assert [reason in why for why in reasons] == [True]


def test_limits() -> None:
    text = _TEXT.format(**_PARTS)
    for options, fires in (
        ({"ops": 2}, True),
        ({"ops": 1}, False),
        ({"cpu_elements": 27}, True),  # a logarithm counts eightfold
        ({"cpu_elements": 26}, False),
    ):
        assert CondToWhere(**options).rewrite(parse_ir(text)) == fires
    on_gpu = text.replace("cpu>", "cuda:0>")
    for elements, fires in ((6, True), (5, False)):  # a GPU computes while it waits for memory
        assert CondToWhere(elements=elements).rewrite(parse_ir(on_gpu)) == fires


def test_explain_says_why() -> None:
    def product(x: torch.Tensor) -> Any:
        return torch.cond(x.sum() > 0, lambda x: x @ x, lambda x: x.sin(), (x,))

    said = str(xductor.explain(NAME, product, torch.randn(3, 3)))
    assert "aten.mm.default in @true_graph_0 is not pointwise" in said
