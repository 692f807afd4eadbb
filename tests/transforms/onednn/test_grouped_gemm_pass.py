"""`grouped_gemm_pass`: which packed linears become one call, and what its kernel computes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
import torch
from torch import nn
from torch._dynamo.utils import counters
from torch._inductor import config
from torch.fx.experimental.proxy_tensor import make_fx

import xductor
from tests.backend.pipelines.frozen_graphs import packing
from tests.specimens.onednn_specimens import linear
from tests.transforms.freezing.random_constant_graphs import Held
from xductor.backend.fx.export import to_fx
from xductor.frontend import from_fx
from xductor.ir import entry_graph, parse_ir, print_ir, same, verify
from xductor.transforms.onednn.grouped_gemm_pass import GroupedGemmPass

pytestmark = pytest.mark.skipif(not torch._C._has_mkldnn, reason="no oneDNN")

GROUPED = "xductor.grouped_linear.default"
NAN, INF = float("nan"), float("inf")


def grouped(
    program: Callable[..., Any],
    *constants: torch.Tensor,
    x: torch.Tensor | None = None,
    dynamic: bool = False,
) -> tuple[int, list[str]]:
    """How many groups became one call, and the ops after it; values are compared bit for bit."""
    given = torch.randn(6, 4) if x is None else x
    module = Held(program, list(constants))
    mode = "symbolic" if dynamic else "fake"
    gm = make_fx(module, tracing_mode=mode, _allow_non_fake_inputs=True)(given)
    lowered = from_fx(gm, "post_grad")
    before = print_ir(lowered)
    count = GroupedGemmPass().rewrite(lowered)
    verify(lowered, "types")
    assert same(parse_ir(print_ir(lowered)), lowered)
    assert (print_ir(lowered) == before) == (count == 0)
    for rows in (given, torch.cat([given, given]) if dynamic else given + 1):
        for found, wanted in zip(to_fx(lowered)(rows), module(rows), strict=True):
            torch.testing.assert_close(found, wanted, rtol=0, atol=0, equal_nan=True)
            assert found.stride() == wanted.stride()
    return count, [op.name for op in entry_graph(lowered).block.ops]


def weights(number: int, columns: int = 5) -> list[torch.Tensor]:
    return [torch.randn(columns, 4) for _ in range(number)]


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("sizes", [(6, 4), (1, 4), (2, 3, 4), (1, 1, 4)])
@pytest.mark.parametrize("number", [2, 4])
def test_linears_of_one_tensor(number: int, sizes: tuple[int, ...], dynamic: bool) -> None:
    def program(x: Any, bias: Any, *kept: Any) -> Any:
        biases = [bias if place % 2 else None for place in range(len(kept))]
        pairs = zip(kept, biases, strict=True)
        return tuple(linear(x, weight, one).relu() for weight, one in pairs)

    found = grouped(
        program, torch.randn(5), *weights(number), x=torch.randn(sizes), dynamic=dynamic
    )
    assert found[0] == found[1].count(GROUPED) == 1


def test_special_values() -> None:
    x = torch.tensor([NAN, INF, -INF, 0.0, -0.0, 1e38, -1e38, 1e-45] * 2).view(4, 4)
    assert grouped(lambda x, v, w: (linear(x, v), linear(x, w)), *weights(2), x=x)[0] == 1


def test_other_readers_of_the_tensor_do_not_matter() -> None:
    def program(x: Any, v: Any, w: Any, u: Any) -> Any:
        return linear(x, v), x * 2, linear(x, u), linear(x, w)

    given = (*weights(2), *weights(1, 3))
    count, names = grouped(program, *given)
    assert count == 1
    assert names.count("mkldnn._linear_pointwise.default") == 1


def test_two_sizes_are_two_groups() -> None:
    def program(x: Any, *kept: Any) -> Any:
        return tuple(linear(x, one) for one in kept)

    assert grouped(program, *weights(2), *weights(2, 3))[0] == 2


def test_a_bias_that_is_computed_between() -> None:
    """It goes where the bias is known, unless a result is wanted before."""

    def free(x: Any, v: Any, w: Any) -> Any:
        first = linear(x, v)
        bias = v.sum(1)
        return first, linear(x, w, bias)

    def wanted(x: Any, v: Any, w: Any) -> Any:
        first = linear(x, v)
        bias = first.sum(0)
        return first, linear(x, w, bias)

    assert grouped(free, *weights(2))[0] == 1
    assert grouped(wanted, *weights(2))[0] == 0


def tanh_of(x: Any, weight: Any) -> Any:
    return torch.ops.mkldnn._linear_pointwise(x, weight, None, "tanh", [], "")


@pytest.mark.parametrize(
    "program",
    [
        lambda x, v, w: (linear(x, v),),
        lambda x, v, w: (linear(x, v), linear(x, v, w[:, 0])),
        lambda x, v, w: (linear(x, v), linear(x.sin(), w)),
        lambda x, v, w: (linear(x, v), linear(x, w * x.sum())),
        lambda x, v, w: (linear(x, v), tanh_of(x, w)),
        lambda x, v, w: (linear(x, v), linear(linear(x, v)[:, :4], w)),
        lambda x, v, w: (linear(x, v), linear(x.double().float(), w)),
        lambda x, v, w: (linear(x, v), linear(x, w[:3])),
        lambda x, v, w: (linear(x, v), x @ w.t()),
    ],
)
def test_what_stays(program: Callable[..., Any]) -> None:
    assert grouped(program, *weights(2))[0] == 0


def test_random_graphs() -> None:
    fired = 0
    for seed in range(60):
        rng = Random(seed)
        torch.manual_seed(seed)
        constants = weights(4) + [torch.randn(5) for _ in range(2)]
        plan = [
            (rng.randrange(4), rng.choice((None, 4, 5, "made")), rng.randrange(3))
            for _ in range(rng.randint(2, 6))
        ]

        def program(x: Any, *kept: Any, plan: Any = plan) -> Any:
            tensors, made = [x, x.relu(), x], []
            for weight, bias, place in plan:
                added = made[-1][0] if bias == "made" and made else None
                added = kept[bias] if isinstance(bias, int) else added
                made.append(linear(tensors[place], kept[weight], added))
            return tuple(one.tanh() for one in made)

        fired += grouped(program, *constants)[0]
    assert fired > 30


class Parallel(nn.Module):
    """Linears of one tensor, perhaps turned first, which code generation reads as it lies."""

    def __init__(self, is_turned: bool = False) -> None:
        super().__init__()
        self.is_turned = is_turned
        self.layers = nn.ModuleList([nn.Linear(64, 32), nn.Linear(64, 32, bias=False)])

    def forward(self, x: torch.Tensor) -> Any:
        x = x.t() if self.is_turned else x
        return [layer(x) for layer in self.layers]


@pytest.fixture
def packs() -> Iterator[None]:
    with packing(True):
        yield
    torch._dynamo.reset()


def compiled(model: nn.Module, x: torch.Tensor, **flags: Any) -> Any:
    torch._dynamo.reset()
    counters.clear()
    asked = {"freezing": True, "max_autotune": True, "cpp.enable_grouped_gemm_template": True}
    asked |= {"max_autotune_gemm_backends": "CPP", "fx_graph_cache": False} | flags
    options: dict[str, Any] = {"xductor.on_error": "raise"}
    with torch.no_grad(), config.patch(asked):
        return torch.compile(model, backend="xductor", dynamic=True, options=options)(x)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("is_turned", [False, True])
def test_one_kernel_computes_them(packs: None, is_turned: bool) -> None:
    """Inductor's own call of it takes a turned tensor for one that lies row by row."""
    model = Parallel(is_turned).eval()
    x = torch.randn(64, 16) if is_turned else torch.randn(16, 64)
    with torch.no_grad():
        expected = model(x)
    for found, wanted in zip(compiled(model, x), expected, strict=True):
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)
    assert xductor.last_compile().count("grouped_gemm_pass") == 1
    assert counters["inductor"]["cpp_grouped_gemm_template"] == 1


@pytest.mark.filterwarnings("ignore")
def test_without_a_kernel_each_is_called(packs: None, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch._inductor.utils as inductor_utils

    monkeypatch.setattr(inductor_utils, "use_cpp_gemm_template", lambda *given: False)
    model, x = Parallel().eval(), torch.randn(16, 64)
    with torch.no_grad():
        expected = model(x)
    found = compiled(model, x, max_autotune_gemm_backends="CPP,ATEN")
    for one, wanted in zip(found, expected, strict=True):
        torch.testing.assert_close(one, wanted, rtol=1e-4, atol=1e-5)
    assert xductor.last_compile().count("grouped_gemm_pass") == 1
    assert counters["inductor"]["cpp_grouped_gemm_template"] == 0


@pytest.mark.filterwarnings("ignore")
def test_only_where_it_is_asked_for(packs: None) -> None:
    compiled(Parallel().eval(), torch.randn(16, 64), max_autotune=False)
    assert xductor.last_compile().count("grouped_gemm_pass") == 0
