"""Unrolled loops: on IR and in compiles, and loops that stay."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch._higher_order_ops import while_loop
from torch._inductor import config

import xductor
from tests.specimens.control_flow_specimens import while_program
from xductor.backend.pass_validation.comparison import same_results_as_fx
from xductor.backend.records import stage_records
from xductor.backend.run_as_fx.without_codegen import without_codegen
from xductor.ir import entry_graph, parse_ir, print_ir, run, same, verify
from xductor.ir.execution.interpreter import seeded
from xductor.transforms import EXACT
from xductor.transforms.loops.unroll_while_loop import UnrollWhileLoop

NAME = "unroll_while_loop"


def _check_program(seed: int) -> None:
    program = while_program(seed)
    after = program.module.clone()
    fires = program.trips is not None and program.trips <= UnrollWhileLoop.trips
    assert UnrollWhileLoop().rewrite(after) == fires
    verify(after, "types")
    assert same(parse_ir(print_ir(after)), after)
    assert same_results_as_fx(program.module, after, EXACT)
    if fires:
        _check_storages(after)


def _check_storages(module: Any) -> None:
    """No result shares storage with an input, nor with another unless it is returned twice."""
    graph = entry_graph(module)
    types: list[Any] = [one.type for one in graph.arguments]
    inputs = [torch.randn(one.shape) for one in types]
    returned: dict[Any, torch.Tensor] = {}
    results = run(module, *inputs)
    for value, tensor in zip(graph.output.operands, results, strict=True):
        assert returned.setdefault(value, tensor) is tensor
    tensors = [one for one in (*inputs, *returned.values()) if one.numel()]
    assert len({one.untyped_storage().data_ptr() for one in tensors}) == len(tensors)


@pytest.mark.parametrize("first", [1000, 1020, 1040])
def test_random_programs(first: int) -> None:
    for seed in range(first, first + 20):
        _check_program(seed)


@pytest.mark.slow
def test_more_random_programs() -> None:
    for seed in range(2000, 2400):
        _check_program(seed)


def _zero() -> torch.Tensor:
    return torch.zeros((), dtype=torch.int64)


def _swapped(x: torch.Tensor, y: torch.Tensor) -> Any:
    def body(i: Any, a: Any, b: Any) -> Any:
        return i + 1, b.clone(), a * i

    return while_loop(lambda i, a, b: i < 5, body, (_zero(), x, x + y))


def _down(x: torch.Tensor, y: torch.Tensor) -> Any:
    return while_loop(lambda i, a: i > 0, lambda i, a: (i - 2, a + y * i), (torch.tensor(7), x))


def _limit_carried(x: torch.Tensor, y: torch.Tensor) -> Any:
    def body(i: Any, n: Any, a: Any) -> Any:
        return i + 1, n.clone(), a * i - y

    start = (_zero(), torch.tensor(3, dtype=torch.int32), x)
    return while_loop(lambda i, n, a: i < n, body, start)


def _flag(x: torch.Tensor, y: torch.Tensor) -> Any:
    """Two numbers that depend on each other, one of them a truth value."""

    def body(go: Any, i: Any, a: Any) -> Any:
        return torch.logical_and(go, i * i < 9), i + 1, a.sin() + y

    return while_loop(
        lambda go, i, a: torch.logical_not(~go), body, (torch.tensor(True), _zero(), x)
    )


def _never(x: torch.Tensor, y: torch.Tensor) -> Any:
    return while_loop(lambda i, a: i < 0, lambda i, a: (i + 1, a.exp()), (_zero(), x))


def _constants(x: torch.Tensor, y: torch.Tensor) -> Any:
    weights = torch.tensor([1.0, -2.0, 3.0])

    def body(i: Any, a: Any) -> Any:
        return i + 1, a + torch.tensor([1.0, 2.0, 3.0]) * weights

    return while_loop(lambda i, a: i < 3, body, (_zero(), x))


def _sizes(x: torch.Tensor, y: torch.Tensor) -> Any:
    def body(i: Any, a: Any) -> Any:
        return i + 1, (a.reshape(-1) * 2).view(a.shape) + a.shape[0]

    return while_loop(lambda i, a: i < 3, body, (_zero(), x[1:]))


def _numbers(x: torch.Tensor, y: torch.Tensor) -> Any:
    i, a = while_loop(lambda i, a: i < 5, lambda i, a: (i + 2, a + i), (0, x))
    return a * (i * 2 + 1), a - i


def _inner_loop(x: torch.Tensor, y: torch.Tensor) -> Any:
    def inner(a: torch.Tensor) -> torch.Tensor:
        return while_loop(lambda j, b: j < 2, lambda j, b: (j + 1, b.cos() - j), (_zero(), a))[1]

    return while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, inner(a) * 2), (_zero(), x))


def _two(x: torch.Tensor, y: torch.Tensor) -> Any:
    """The second loop starts from the number that the first one ends with."""

    def step(i: Any, a: Any) -> Any:
        return i + 1, a.sin() * y

    i, a = while_loop(lambda i, a: i < 2, step, (_zero(), x))
    return while_loop(lambda i, a: i < 5, step, (i, a))


_UNROLLED = [
    *(_swapped, _down, _limit_carried, _flag, _never, _constants, _sizes, _numbers),
    *(_inner_loop, _two),
]


def _inputs() -> tuple[torch.Tensor, torch.Tensor]:
    x = torch.randn(4, 3)
    x[0, 0], x[1, 1], x[2, 2] = float("nan"), float("inf"), -0.0
    return x, torch.randn(3)


def _compiled(function: Any, inputs: Any, dynamic: bool) -> tuple[Any, int, list[str]]:
    """The results, how many loops were unrolled, and what all graphs that are left call."""
    torch._dynamo.reset()
    calls: list[str] = []

    def hook(graph: torch.fx.Graph) -> None:
        calls.extend(str(node.target) for node in graph.nodes if node.op == "call_function")

    options = {"xductor.on_error": "raise", "xductor.verify": "types"}
    compiled = torch.compile(
        function, backend="xductor", dynamic=dynamic, options=options, fullgraph=True
    )
    with (
        torch.no_grad(),
        without_codegen(),
        stage_records.record() as records,
        config.patch(post_grad_custom_pre_pass=hook),
    ):
        results = compiled(*inputs)
    return results, sum(record.applications(NAME) for record in records), calls


def _check_equal(found: Any, expected: Any) -> None:
    for one, other in zip(found, expected, strict=True):
        assert torch.equal(one.nan_to_num(nan=7.5), other.nan_to_num(nan=7.5))
        assert torch.equal(one.isnan(), other.isnan())
        assert one.dtype == other.dtype


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("function", _UNROLLED)
def test_compiles_give_eager_bits(function: Any, dynamic: bool) -> None:
    inputs = _inputs()
    found, count, calls = _compiled(function, inputs, dynamic)
    _check_equal(found, function(*inputs))
    assert count >= 1
    assert "while_loop" not in calls


class _Layers(torch.nn.Module):
    """Loops that share a start, and a branch: nothing of them is left."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> Any:
        start = _zero()
        for _ in range(2):
            _, x = while_loop(
                lambda i, y: i < 5,
                lambda i, y: (i + 1, torch.tanh(self.a(y) + self.b(y))),
                (start, x),
            )
        return (torch.cond(x.sum() > 0, lambda y: y.sin(), lambda y: y.cos(), (x,)),)


@pytest.mark.parametrize("dynamic", [False, True])
def test_nothing_is_left_of_a_model(dynamic: bool) -> None:
    model, inputs = _Layers(), (torch.randn(4, 8),)
    found, count, calls = _compiled(model, inputs, dynamic)
    with torch.no_grad():
        _check_equal(found, model(*inputs))
    assert count == 2
    assert not {"while_loop", "cond"} & set(calls)


def _chosen(x: torch.Tensor, y: torch.Tensor) -> Any:
    """A branch that holds a product stays, and is called once a trip."""

    def body(i: Any, a: Any) -> Any:
        return i + 1, torch.cond(a.sum() > 0, lambda a: a @ a, lambda a: a.cos() @ a, (a,))

    return while_loop(lambda i, a: i < 3, body, (_zero(), x))


def _inner_loop_stays(x: torch.Tensor, y: torch.Tensor) -> Any:
    def inner(a: torch.Tensor) -> torch.Tensor:
        return while_loop(lambda b: b.sum() < 50, lambda b: (b.abs() + 1,), (a,))[0]

    return while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, inner(a) - 1), (_zero(), x))


def _inner_loop_counts_from_the_outer(x: torch.Tensor, y: torch.Tensor) -> Any:
    def inner(i: torch.Tensor, a: torch.Tensor) -> torch.Tensor:
        carried = (i.clone(), a)
        return while_loop(lambda j, a: j < 2, lambda j, a: (j + 1, a.sin()), carried)[1]

    return while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, inner(i, a)), (_zero(), x))


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize(
    ("function", "call", "times"),
    [
        (_chosen, "cond", 3),
        (_inner_loop_stays, "while_loop", 2),
        (_inner_loop_counts_from_the_outer, "while_loop", 3),
    ],
)
def test_graphs_that_the_body_runs(function: Any, call: str, times: int, dynamic: bool) -> None:
    inputs = (torch.randn(3, 3) + 1, torch.randn(3))
    found, count, calls = _compiled(function, inputs, dynamic)
    _check_equal(found, function(*inputs))
    assert count == 1
    assert calls.count(call) == times
    with torch.no_grad():  # code that is generated for one body that several calls run
        torch._dynamo.reset()
        found = torch.compile(function, backend="xductor", dynamic=dynamic)(*inputs)
    torch.testing.assert_close(found, function(*inputs))


@pytest.mark.parametrize(("numerics", "applied"), [("strict", 0), ("default", 1)])
def test_casts_that_generated_code_has_to_round_stay(numerics: str, applied: int) -> None:
    """Metadata of the casts says so under `strict`, and copies would not have it."""

    def rounded(x: torch.Tensor) -> Any:
        return while_loop(
            lambda i, x: i < 2, lambda i, x: (i + 1, x.half().sin().float()), (_zero(), x)
        )

    x = torch.randn(100)
    torch._dynamo.reset()
    options = {"xductor.on_error": "raise", "xductor.numerics": numerics}
    with torch.no_grad():
        _, found = torch.compile(rounded, backend="xductor", options=options)(x)
    assert xductor.last_compile().count("unroll_while_loop") == applied
    if numerics == "strict":
        assert torch.equal(found, rounded(x)[1])


def _noise(x: torch.Tensor, y: torch.Tensor) -> Any:
    def body(i: Any, a: Any) -> Any:
        return i + 1, a + torch.rand_like(a) * 10**i

    return while_loop(lambda i, a: i < 3, body, (_zero(), x))


def test_draws_as_eager_does() -> None:
    inputs = _inputs()
    with config.patch(fallback_random=True), seeded(3):
        found, count, calls = _compiled(_noise, inputs, False)
    with seeded(3):
        _check_equal(found, _noise(*inputs))
    assert count == 1
    assert calls.count("aten.rand.default") + calls.count("aten.rand_like.default") == 3


def test_each_trip_draws_anew() -> None:
    found, count, calls = _compiled(_noise, (torch.zeros(100, dtype=torch.float64), None), False)
    assert count == 1
    assert calls.count("prims.inductor_seeds.default") == 3
    drawn = found[1]
    digits = [(drawn / 100), (drawn % 100) / 10]  # the third draw, with little of the second
    assert 0.2 < digits[0].mean() < 0.9
    correlation = torch.corrcoef(torch.stack([digits[0], digits[1]]))[0, 1]
    assert abs(correlation) < 0.5


_TEXT = """builtin.module {{
fx.graph @forward stage(joint) symbols() ({start}%x : !fx.tensor<f32[3], cpu>) {{
  {first}
  %n, %r = higher_order.while_loop @goes_on, @body, (%i, %x), () : !fx.tensor<{number}[], cpu>, \
!fx.tensor<f32[3], cpu> as (*, *) {{node = "loop"}}
  fx.output (%r,)
}}
fx.graph @goes_on stage(joint) symbols() (%i : !fx.tensor<{number}[], cpu>, \
%x : !fx.tensor<f32[3], cpu>) {{
  {condition}
  fx.output %go
}}
fx.graph @body stage(joint) symbols() (%i : !fx.tensor<{number}[], cpu>, \
%x : !fx.tensor<f32[3], cpu>) {{
  {line}
  {step}
  fx.output (%next, %y)
}}
}}"""
_PARTS = {
    "start": "",
    "number": "i64",
    "first": "%i = aten.full.default [], 0, dtype = i64, device = device<cpu> "
    ": !fx.tensor<i64[], cpu>",
    "condition": "%go = aten.lt.Scalar %i, 3 : !fx.tensor<i1[], cpu>",
    "line": "%y = aten.sin.default %x : !fx.tensor<f32[3], cpu>",
    "step": "%next = aten.add.Tensor %i, 1 : !fx.tensor<i64[], cpu>",
}


def _reasons(text: str, **options: Any) -> list[str]:
    """Why the loop of a text stays, which has to stay."""
    module = parse_ir(text)
    verify(module, "types")
    before = print_ir(module)
    reasons: list[str] = []
    UnrollWhileLoop(**options).explained(module, lambda op, why: reasons.append(why))
    assert (print_ir(module) == before) == bool(reasons)
    return reasons


def test_the_text_is_unrolled() -> None:
    assert _reasons(_TEXT.format(**_PARTS)) == []


_FLOATS = {
    "number": "f32",
    "first": "%i = aten.full.default [], 0.0, dtype = f32, device = device<cpu> "
    ": !fx.tensor<f32[], cpu>",
    "step": "%next = aten.add.Tensor %i, 1 : !fx.tensor<f32[], cpu>",
}
_ELEMENT = (
    "%e = aten.select.int %x, 0, 0 : !fx.tensor<f32[], cpu>\n"
    "  %next = aten._to_copy.default %e, dtype = i64 : !fx.tensor<i64[], cpu>"
)


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"start": "%i : !fx.tensor<i64[], cpu>, ", "first": ""}, "its condition depends on more"),
        ({"step": _ELEMENT}, "what its condition reads depends on more"),
        (_FLOATS, "its condition depends on more"),
        (
            {"condition": "%go = aten.ne.Scalar %i, -1 : !fx.tensor<i1[], cpu>"},
            "it goes round more than 32 times",
        ),
        (
            {"condition": "%go = aten.lt.Scalar %i, 33 : !fx.tensor<i1[], cpu>"},
            "it goes round more than 32 times",
        ),
        (
            {"line": "%y = aten.sin_.default %x : !fx.tensor<f32[3], cpu>"},
            "does more than compute",
        ),
    ],
)
def test_stays(parts: dict[str, str], reason: str) -> None:
    assert [reason in why for why in _reasons(_TEXT.format(**{**_PARTS, **parts}))] == [True]


def test_limits() -> None:
    text = _TEXT.format(**_PARTS)
    assert _reasons(text, trips=3, ops=6) == []
    assert _reasons(text, trips=2) == ["it goes round more than 2 times"]
    assert _reasons(text, ops=5) == ["3 trips would take more than 5 ops"]


def test_explain_says_why() -> None:
    def often(x: torch.Tensor) -> Any:
        return while_loop(lambda i, a: i < 100, lambda i, a: (i + 1, a + 1), (_zero(), x))[1]

    said = str(xductor.explain(NAME, often, torch.randn(3)))
    assert "it goes round more than 32 times" in said
