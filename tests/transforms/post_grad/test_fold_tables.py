"""`fold_tables`: what depends on no input is computed once, where it takes long."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch._dynamo.utils import counters
from torch.fx.experimental.proxy_tensor import make_fx

from tests.specimens.table_specimens import SIZE, TABLES, USES, random_program
from tests.transforms.conftest import Case
from xductor.backend.testing.captured_stages import capture
from xductor.frontend import from_fx
from xductor.ir import entry_graph, parse_ir, verify
from xductor.transforms.post_grad.fold_tables import FoldTables

NAME = FoldTables.name
PASS = FoldTables()
X = torch.randn(SIZE, SIZE)


def traced(trace: Any, f: Any, *inputs: Any, **more: Any) -> Any:
    return trace(f, *inputs, stage="post_grad", **more)


def applied(case: Any) -> int:
    """How many tables are held; the rest of the graph is as it was."""
    found = PASS.rewrite(case.module)
    verify(case.module, "types")
    assert len(entry_graph(case.module).new_constants) == found
    assert PASS.rewrite(case.module) == 0
    return found


@pytest.mark.parametrize("what", TABLES)
@pytest.mark.parametrize("how", ["added", "turned", "expanded", "twice", "compared"])
def test_fires(trace: Any, what: str, how: str) -> None:
    case = traced(trace, lambda x: USES[how](x, TABLES[what](SIZE)), X)
    assert applied(case) == 1
    case.check_values(X)


@pytest.mark.parametrize("how", ["returned", "a view returned", "written"])
def test_what_is_seen_or_written_is_made_anew(trace: Any, how: str) -> None:
    case = traced(trace, lambda x: USES[how](x, torch.eye(SIZE).exp()), X)
    before = case.ops
    assert applied(case) == 0
    assert case.ops == before
    case.check_values(X)


STAYS = {
    "few elements": lambda x: x[0, :8] + torch.arange(8.0).log(),
    "a range": lambda x: x.view(-1) + torch.arange(SIZE * SIZE) * 2,
    "a mask": lambda x: x.masked_fill(torch.ones(SIZE, SIZE, dtype=torch.bool).tril(), 0),
    "of an input": lambda x: x + (x * torch.arange(SIZE)).exp(),
    "draws": lambda x: x + torch.rand(SIZE, SIZE).exp(),
    "undefined memory": lambda x: x + torch.empty(SIZE, SIZE).exp(),
    "a constant of the program": lambda x: x[:1, :2] + torch.tensor([1.0, 2.0]).exp(),
}


@pytest.mark.parametrize("what", STAYS)
def test_stays(trace: Any, what: str) -> None:
    case = traced(trace, STAYS[what], X)
    before = case.ops
    assert applied(case) == 0
    assert case.ops == before


def test_symbolic_sizes_are_not_known_yet(trace: Any) -> None:
    case = traced(trace, lambda x: x + torch.arange(x.shape[0]).exp(), X, dynamic=True)
    assert applied(case) == 0


def test_it_is_only_as_large_as_without_its_views(trace: Any) -> None:
    def f(x: Any) -> Any:
        return x.expand(5, SIZE, SIZE) + torch.eye(SIZE).exp().expand(5, SIZE, SIZE)

    case = traced(trace, f, X)
    assert applied(case) == 1
    (tensor,) = entry_graph(case.module).new_constants.values()
    assert tensor.untyped_storage().nbytes() == SIZE * SIZE * 4


def test_what_is_made_larger_of_it_stays(trace: Any) -> None:
    """Two rows of sines are held, and not the table that their sums are."""

    def f(x: Any) -> Any:
        places = torch.arange(2048.0)
        return x + (places.sin()[:, None] + places.cos())

    x = torch.ones(2048, 2048)
    case = traced(trace, f, x)
    assert applied(case) == 2
    assert [len(one) for one in entry_graph(case.module).new_constants.values()] == [2048, 2048]
    case.check_values(x)


def test_what_is_made_smaller_of_it_is_held(trace: Any) -> None:
    case = traced(trace, lambda x: x * torch.arange(2048.0).exp().sum(), X)
    assert applied(case) == 1
    assert [one.numel() for one in entry_graph(case.module).new_constants.values()] == [1]
    case.check_values(X)


def test_a_path_of_many_steps_is_walked_once(trace: Any) -> None:
    def f(x: Any) -> Any:
        table = torch.arange(2048.0).exp() + torch.zeros(2, 1)
        for _ in range(60):
            table = table - table
        return x + table

    case = traced(trace, f, torch.ones(2, 2048))
    assert applied(case) == 1


@pytest.mark.parametrize(("rows", "held"), [(512, 1), (1024, 0)])
def test_memory(rows: int, held: int) -> None:
    """2 MiB, and 4 MiB; beside inputs of 300 MiB the larger one is held too."""
    table = f"!fx.tensor<f32[{rows}, 1024], cpu>"
    text = f"""
        fx.graph @g stage(post_grad) symbols() (%x : {table}) {{
          %a = aten.full.default [{rows}, 1024], 2.0, dtype = f32, layout = layout<strided>,
            device = device<cpu>, pin_memory = false : {table}
          %b = aten.exp.default %a : {table}
          %c = aten.add.Tensor %x, %b : {table}
          fx.output %c
        }}""".replace("\n            device", " device")
    assert PASS.rewrite(parse_ir(text)) == held
    beside = text.replace("(%x", "(%z : !fx.tensor<f32[76800, 1024], cpu>, %x")
    assert PASS.rewrite(parse_ir(beside)) == 1


def test_two_share_the_memory_that_there_is(trace: Any) -> None:
    def f(x: Any) -> Any:
        return x + torch.ones(512, 768).cumsum(0) - torch.ones(512, 768).cumsum(1)

    assert applied(traced(trace, f, torch.ones(512, 768))) == 1


def test_other_devices_are_left_alone(trace: Any) -> None:
    case = traced(trace, lambda x: x + torch.eye(SIZE).exp(), X)
    assert FoldTables(devices=("cuda",)).rewrite(case.module) == 0


def test_in_a_compile_of_inference_alone() -> None:
    def f(x: Any) -> Any:
        return (x + torch.eye(SIZE).exp()).sin()

    x = X.clone().requires_grad_()
    with torch.no_grad():
        calls = capture(f, x)
    assert calls.one("post_grad").record.applications(NAME) == 1
    assert torch.equal(calls.output, f(x))
    assert all(one.record.applications(NAME) == 0 for one in capture(f, x))


def test_not_in_a_body() -> None:
    """Generated code of a body reads no constants of its own."""

    def f(x: Any) -> Any:
        def body(i: Any, y: Any) -> Any:
            return i + 1, y * torch.eye(SIZE).exp()

        start = (x[0, 0] * 0).long()  # so that it is not unrolled
        return torch.while_loop(lambda i, y: i < 3, body, (start, x))[1]

    with torch.no_grad():
        calls = capture(f, X)
        assert all(one.record.applications(NAME) == 0 for one in calls)
        assert torch.equal(calls.output, f(X))


def test_from_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table is part of what Inductor's cache keeps: the second compile reads it there."""

    def f(x: Any) -> Any:
        return (x + torch.eye(SIZE).exp()).sin()

    with torch.no_grad(), monkeypatch.context() as patch:
        torch.testing.assert_close(torch.compile(f, backend="xductor")(X), f(X))
        patch.setattr(FoldTables, "rewrite", None)
        torch._dynamo.reset()
        counters.clear()
        torch.testing.assert_close(torch.compile(f, backend="xductor")(X), f(X))
        assert counters["inductor"]["fxgraph_cache_hit"] == 1


def test_random_programs() -> None:
    held = 0
    for seed in range(60):
        gm = make_fx(random_program(seed), tracing_mode="fake")(X)
        case = Case(gm, from_fx(gm, "post_grad"))
        held += PASS.rewrite(case.module)
        verify(case.module, "types")
        case.check_values(X)
    assert held > 60


def _distances(size: int) -> torch.Tensor:
    places = torch.arange(size, dtype=torch.float32)
    return torch.log((places[:, None] - places).abs() + 1)


_KERNELS: dict[str, Any] = {
    "attention": lambda x: torch.nn.functional.scaled_dot_product_attention(
        x[None, None], x[None, None], x[None, None], attn_mask=-_distances(64)
    ),
    "complex": lambda x: x[0] * torch.exp(1j * torch.arange(4096.0)).reshape(64, 64),
    "searchsorted": lambda x: torch.searchsorted(torch.arange(2048.0).log1p(), x.abs()),
    "isin": lambda x: torch.isin(x.abs().floor(), torch.arange(2048.0).log1p().floor()),
    "masked_scatter": lambda x: x.masked_scatter(_distances(64) > 2, x * 2),
    "cholesky": lambda x: x + torch.linalg.cholesky(torch.eye(64) * 9 + _distances(64) * 0.01),
    "solve": lambda x: torch.linalg.solve(torch.eye(64) * 99 + _distances(64), x),
    "embedding_bag": lambda x: (
        torch.nn.functional.embedding_bag(torch.arange(64).view(8, 8), _distances(64)) + x[:8]
    ),
    "product": lambda x: x @ _distances(64),
}


@pytest.mark.parametrize("what", _KERNELS)
def test_kernels_of_libraries_take_tables(what: str) -> None:
    x = torch.randn(64, 64)
    compiled = torch.compile(
        _KERNELS[what], backend="xductor", options={"xductor.on_error": "raise"}
    )
    with torch.no_grad():
        for _ in range(2):
            torch.testing.assert_close(compiled(x), _KERNELS[what](x), rtol=1e-4, atol=1e-4)


@torch.library.custom_op("xductor_tests::with_a_table", mutates_args=())
def _with_a_table(x: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    return x * table


@_with_a_table.register_fake
def _(x: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


def test_a_custom_operator_takes_a_table() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return _with_a_table(x, _distances(64))

    x = torch.randn(64, 64)
    compiled = torch.compile(program, backend="xductor", options={"xductor.on_error": "raise"})
    with torch.no_grad():
        torch.testing.assert_close(compiled(x), program(x))
