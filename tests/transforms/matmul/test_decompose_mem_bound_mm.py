"""Products as sums of products: values, what stays, and what the user's thresholds say."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch
import torch._inductor.config as inductor_config
from torch._dynamo.utils import counters

from xductor.backend.fx.export import to_fx
from xductor.backend.options.realized_operands import REALIZED
from xductor.transforms import Rewrite
from xductor.transforms.matmul.decompose_mem_bound_mm import (
    DECOMPOSE_ADDMM,
    DecomposeBmm,
    DecomposeMm,
)
from xductor.transforms.rewriting.driver import watching
from xductor.transforms.rewriting.rewrite_pass import RewritePass
from xductor.transforms.validation.validate import validate
from xductor.transforms.validation.values import validating

aten = torch.ops.aten
DTYPES = (
    torch.float32, torch.float64, torch.bfloat16, torch.float16,
    torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8,
)  # fmt: skip
REWRITES = RewritePass.of([DecomposeMm, DecomposeBmm, *DECOMPOSE_ADDMM])


def _given(dtype: torch.dtype, *shapes: tuple[int, ...]) -> list[torch.Tensor]:
    return [(torch.randn(one) * 4).to(dtype) for one in shapes]


def _close(found: torch.Tensor, wanted: torch.Tensor) -> None:
    assert found.dtype == wanted.dtype
    assert found.stride() == wanted.stride() or not found.numel()
    slack = {torch.bfloat16: 2e-2, torch.float16: 2e-3}.get(wanted.dtype, 1e-5)
    torch.testing.assert_close(
        found.double(), wanted.double(), rtol=slack, atol=10 * slack, equal_nan=True
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("m_k_n", [(1, 33, 5), (1, 1, 1), (1, 0, 3), (0, 4, 3), (1, 300, 7)])
def test_a_row_times_a_matrix(trace: Any, dtype: torch.dtype, m_k_n: tuple[int, ...]) -> None:
    m, k, n = m_k_n
    given = _given(dtype, (m, k), (k, n))
    case = trace(torch.mm, *given)
    with validating():
        assert case.run(DecomposeMm) == 1
    assert "aten.mm.default" not in case.ops
    _close(to_fx(case.module)(*given), torch.mm(*given))


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_matrix_that_is_transposed(trace: Any, dtype: torch.dtype) -> None:
    given = _given(dtype, (1, 8), (5, 8))
    case = trace(lambda x, w: torch.mm(x, w.t()), *given)
    assert case.run(DecomposeMm) == 1
    _close(to_fx(case.module)(*given), given[0] @ given[1].t())


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_batch_of_one(trace: Any, dtype: torch.dtype) -> None:
    given = _given(dtype, (1, 4, 33), (1, 33, 5))
    case = trace(torch.bmm, *given)
    with validating():
        assert case.run(DecomposeBmm) == 1
    _close(to_fx(case.module)(*given), torch.bmm(*given))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sizes", [(), (1,), (5,), (1, 5)])
@pytest.mark.parametrize("factors", [{}, {"beta": 2}, {"alpha": 3}, {"beta": 3, "alpha": -2}])
def test_what_is_added_and_its_factors(
    trace: Any, dtype: torch.dtype, sizes: tuple[int, ...], factors: dict[str, Any]
) -> None:
    given = _given(dtype, sizes, (1, 6), (6, 5))
    case = trace(lambda c, a, b: torch.addmm(c, a, b, **factors), *given)
    with validating():
        assert REWRITES.rewrite(case.module) == 1
    _close(to_fx(case.module)(*given), torch.addmm(*given, **factors))


@pytest.mark.parametrize("beta", [0, 0.0, -0.0])
@pytest.mark.parametrize("alpha", [1, 2.5])
def test_what_counts_for_nothing_is_not_read(trace: Any, beta: float, alpha: float) -> None:
    given = [torch.full((5,), float("nan")), torch.randn(1, 6), torch.randn(6, 5)]
    case = trace(lambda c, a, b: torch.addmm(c, a, b, beta=beta, alpha=alpha), *given)
    applied = REWRITES.rewrite(case.module)
    assert applied == (0 if str(beta) == "-0.0" else 1)
    found = to_fx(case.module)(*given)
    assert not found.isnan().any()
    _close(found, torch.addmm(*given, beta=beta, alpha=alpha))


def test_what_is_not_finite(trace: Any, special: Any) -> None:
    for k in (1, 3, 10):
        given = [special(1, k), special(k, 7)]
        case = trace(torch.mm, *given)
        assert case.run(DecomposeMm) == 1
        found, wanted = to_fx(case.module)(*given), torch.mm(*given)
        assert torch.equal(found.isnan(), wanted.isnan())
        _close(found, wanted)


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (torch.mm, ((2, 3), (3, 4))),
        (torch.mm, ((1, 3), (3, 2049))),
        (torch.bmm, ((2, 3, 4), (2, 4, 5))),
        (lambda c, a, b: torch.addmm(c, a, b, alpha=0), ((5,), (1, 6), (6, 5))),
        (lambda c, a, b: torch.addmm(c, a, b, beta=1e-40), ((5,), (1, 6), (6, 5))),
        (torch.addmm, ((5,), (2, 6), (6, 5))),
    ],
)
def test_what_stays(trace: Any, function: Any, shapes: Any) -> None:
    assert REWRITES.rewrite(trace(function, *_given(torch.float32, *shapes)).module) == 0


def test_complex_numbers_stay(trace: Any) -> None:
    told: list[str] = []
    with watching(report=lambda one, op, error: told.append(str(error))):
        given = [torch.randn(1, 3, dtype=torch.complex64), torch.randn(3, 4, dtype=torch.complex64)]
        assert REWRITES.rewrite(trace(torch.mm, *given).module) == 0
    assert "no output of this dtype" in told[0]


def test_sizes_that_are_not_known(trace: Any) -> None:
    given = _given(torch.float32, (3, 4), (4, 5))
    case = trace(torch.mm, *given, dynamic=True)
    assert case.run(DecomposeMm) == 0
    assert case.run(DecomposeMm(skip_dynamic_shape_dim_check=True)) == 0  # two or more
    more = DecomposeMm(cpu_max_first_dimension_decomposition=3, skip_dynamic_shape_dim_check=True)
    assert case.run(more) == 1
    _close(to_fx(case.module)(*given), torch.mm(*given))
    assert trace(torch.mm, *given).run(DecomposeMm(skip_dynamic_shape_dim_check=True)) == 0


@pytest.mark.parametrize(("batch", "applied"), [(3, 1), (5, 0)])
def test_batches_of_symbolic_sizes(trace: Any, batch: int, applied: int) -> None:
    """Inductor takes the sizes that it sees, and guards them; here they need no guard."""
    given = _given(torch.float32, (batch, 4, 6), (batch, 6, 7))
    case = trace(torch.bmm, *given, dynamic=True)
    assert case.run(DecomposeBmm(cpu_max_first_dimension_decomposition=3)) == applied
    made = to_fx(case.module)
    for b, m, k, n in ((batch, 4, 6, 7), (2, 2, 2, 2), (9, 3, 5, 2)):
        other = _given(torch.float32, (b, m, k), (b, k, n))
        _close(made(*other), torch.bmm(*other))


def test_sizes_that_depend_on_data_stay(parse: Any) -> None:
    text = """
    fx.graph @forward stage(post_grad) symbols(u0 : int unbacked [0, 1]) (
        %a : !fx.tensor<f32[u0, 4], cpu>, %b : !fx.tensor<f32[4, 5], cpu>) {
      %m = aten.mm.default %a, %b : !fx.tensor<f32[u0, 5], cpu>
      fx.output (%m)
    }
    """
    told: list[str] = []
    with watching(report=lambda one, op, error: told.append(str(error))):
        assert parse(text).run(DecomposeMm(skip_dynamic_shape_dim_check=True)) == 0
    assert told == ["a size is known only when the program runs"]


@pytest.mark.parametrize("one", [DecomposeMm, DecomposeBmm, *DECOMPOSE_ADDMM])
def test_it_is_validated(one: type[Rewrite]) -> None:
    found = validate(one, instances=24, rounds=2)
    assert found.status == "validated", str(found)


def test_sixteen_bits_are_summed_up_in_float32(trace: Any) -> None:
    """No further from float64 than the product of the library."""
    for dtype in (torch.bfloat16, torch.float16):
        errors = [0.0, 0.0]
        for seed in range(8):
            torch.manual_seed(seed)
            given = _given(dtype, (1, 1000), (1000, 16))
            case = trace(torch.mm, *given)
            assert case.run(DecomposeMm) == 1
            exact = given[0].double() @ given[1].double()
            for place, got in enumerate((torch.mm(*given), to_fx(case.module)(*given))):
                errors[place] += float((got.double() - exact).abs().sum())
        assert errors[1] <= 1.01 * errors[0]


def _program(seed: int) -> tuple[Any, list[torch.Tensor]]:
    """Products in a row and beside each other, over views and pointwise ops."""
    chosen = random.Random(seed)
    torch.manual_seed(seed)
    dtype = chosen.choice(DTYPES)
    m, k, n = chosen.choice((0, 1, 1, 1)), chosen.choice((0, 1, 3, 9)), chosen.choice((1, 2, 5))
    factors: dict[str, Any] = {"beta": chosen.choice((0, 1, 2)), "alpha": chosen.choice((1, -1, 3))}
    turned, batched, again = (chosen.random() < 0.5 for _ in range(3))

    def run(c: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> Any:
        right = b.t() if turned else b
        outs = [torch.mm(a, right), torch.addmm(c, a + 1, right, **factors)]
        if batched:
            outs.append(torch.bmm((a * 2).unsqueeze(0), right.unsqueeze(0)))
        if again:
            outs.append(torch.mm(outs[1], torch.ones_like(right).t()) - 1)
        return tuple(outs)

    return run, _given(dtype, (n,), (m, k), (n, k) if turned else (k, n))


@pytest.mark.parametrize("fifty", range(4))
def test_random_programs(trace: Any, fifty: int) -> None:
    applied = 0
    for seed in range(50 * fifty, 50 * fifty + 50):
        run, given = _program(seed)
        case = trace(run, *given, stage="post_grad")
        applied += REWRITES.rewrite(case.module)
        for found, wanted in zip(to_fx(case.module)(*given), run(*given), strict=True):
            _close(found, wanted)
    assert applied > 100


def _compile(function: Any, *given: torch.Tensor, **options: Any) -> tuple[Any, Any]:
    torch._dynamo.reset()
    counters.clear()
    graphs: list[torch.fx.GraphModule] = []
    with (
        torch.no_grad(),
        inductor_config.patch(
            post_grad_fusion_options={"decompose_mm_pass": options},
            post_grad_custom_post_pass=lambda graph: graphs.append(graph.owning_module),
        ),
    ):
        compiled = torch.compile(function, backend="xductor", options={"xductor.on_error": "raise"})
        found = compiled(*given)
    _close(found, function(*given))
    return counters["inductor"], graphs[0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8, torch.uint8])
def test_compiled(dtype: torch.dtype) -> None:
    """The operands that are computed are stored first, as Inductor has it."""
    given = _given(dtype, (1, 70), (70, 40))
    counted, gm = _compile(lambda x, w: torch.mm(x * 2, w), *given)
    assert counted["decompose_mm"] == 1
    assert not gm.graph.find_nodes(op="call_function", target=aten.mm.default)
    (doubled,) = [
        node
        for node in gm.graph.find_nodes(op="call_function", target=aten.mul.Tensor)
        if 2 in node.args
    ]
    assert doubled.meta[REALIZED]


def test_thresholds_are_read_when_it_runs() -> None:
    given = _given(torch.float32, (3, 70), (70, 40))
    assert _compile(torch.mm, *given)[0]["decompose_mm"] == 0
    counted, _ = _compile(torch.mm, *given, cpu_max_first_dimension_decomposition=3)
    assert counted["decompose_mm"] == 1
