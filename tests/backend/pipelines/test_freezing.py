"""What freezing runs: beside Inductor's, with what users put in the place of its parts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch._inductor.constant_folding as constant_folding
import torch._inductor.freezing as freezing
from torch._inductor import config
from torch._inductor.freezing_utils import is_frozen_param
from torch._inductor.fx_passes import freezing_patterns

import xductor
from tests.backend.pipelines.frozen_graphs import both, calls, packing
from tests.corpus.capture import passes_only

nn = torch.nn

needs_mkldnn = pytest.mark.skipif(not torch._C._has_mkldnn, reason="no oneDNN")


class Attention(nn.Module):
    """Three linears of one tensor, and heads."""

    def __init__(self, size: int = 16, bias: bool = True) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(size, size, bias=bias) for _ in range(3))
        self.out = nn.Linear(size, size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows, length, size = x.shape
        q, k, v = (one(x).view(rows, length, 4, -1).transpose(1, 2) for one in self.layers)
        scores = torch.softmax(q @ k.transpose(-1, -2), -1)
        return self.out((scores @ v).transpose(1, 2).reshape(rows, length, size))


class Positions(nn.Module):
    """Constants that are computed of others."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(8, 16)
        self.register_buffer("places", torch.arange(8).unsqueeze(0))
        self.norm = nn.LayerNorm(16)
        self.scale = nn.Parameter(torch.rand(16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        places: Any = self.places
        known = self.norm(self.embedding(places[:, :4])) * self.scale.abs().clamp(min=0.1)
        return x + known, self.scale.exp()


def convolutions() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(),
        nn.Conv2d(8, 8, 3, groups=2), nn.BatchNorm2d(8), nn.Hardswish(),
    )  # fmt: skip


MODELS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "convolutions": (convolutions, (2, 3, 8, 8)),
    "linears": (lambda: nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 4)), (4, 16)),
    "attention": (Attention, (2, 4, 16)),
    "constants": (Positions, (2, 4, 16)),
}


def built(name: str) -> tuple[nn.Module, torch.Tensor]:
    torch.manual_seed(0)
    make, sizes = MODELS[name]
    return make().eval(), torch.randn(sizes)


@pytest.fixture(autouse=True)
def packed(request: pytest.FixtureRequest) -> Iterator[bool]:
    """Whether weights are packed; they are not, unless a test asks for it."""
    wanted = getattr(request, "param", False)
    with warnings.catch_warnings(), packing(wanted):
        warnings.simplefilter("ignore")
        yield wanted


_PACKED = pytest.param(True, marks=needs_mkldnn)


@pytest.mark.parametrize("packed", [False, _PACKED], indirect=True)
@pytest.mark.parametrize("name", ["convolutions", "linears", "attention"])
def test_the_graph_is_that_of_inductor(name: str, packed: bool) -> None:
    theirs, ours = both(*built(name))
    ops = {"linears": "_linear", "attention": "_linear", "convolutions": "_convolution_pointwise"}
    assert packed == any(ops[name] in call for call in calls(ours))
    assert calls(ours) == calls(theirs)
    assert results(ours) == results(theirs)


def results(gm: Any) -> list[Any]:
    """Sizes and strides of what a graph computes, in order."""
    values = [node.meta.get("val") for node in gm.graph.nodes if node.op == "call_function"]
    return [
        (value.shape, value.stride()) if isinstance(value, torch.Tensor) else None
        for value in values
    ]


def test_constants_of_outputs_are_computed_in_each_run() -> None:
    theirs, ours = both(*built("constants"))
    assert calls(theirs)["aten.exp.default"] == 0
    assert calls(ours)["aten.exp.default"] == 1
    assert calls(ours) - calls(theirs) == {"aten.exp.default": 1}


def test_the_module_keeps_what_the_graph_reads_and_no_more() -> None:
    _, ours = both(*built("convolutions"))
    read = {node.target for node in ours.graph.find_nodes(op="get_attr")}
    assert {name for name, _ in ours.named_buffers(remove_duplicate=False)} == read
    assert all(is_frozen_param(getattr(ours, name)) for name in read)


def test_concatenated_linears() -> None:
    model, x = Attention(bias=False).eval(), torch.randn(2, 4, 16)
    flags = {"cpp.enable_concat_linear": True}
    theirs, ours = both(model, x, **flags)
    assert calls(theirs)["aten.mm.default"] == calls(ours)["aten.mm.default"] == 1
    assert calls(ours)["aten.clone.default"] == calls(theirs)["aten.clone.default"]
    theirs, ours = both(Attention().eval(), x, **flags)
    assert calls(theirs)["aten.addmm.default"] == calls(ours)["aten.addmm.default"] == 2
    _, ours = both(model, x)
    assert calls(ours)["aten.mm.default"] == 3


@pytest.mark.parametrize("packed", [_PACKED], indirect=True)
def test_concatenated_linears_are_packed(packed: bool) -> None:
    flags = {"cpp.enable_concat_linear": True}
    theirs, ours = both(Attention().eval(), torch.randn(2, 4, 16), **flags)
    linears = [
        {call: count for call, count in calls(one).items() if "_linear" in call}
        for one in (theirs, ours)
    ]
    assert linears[0] == linears[1] != {}


def compiled(model: nn.Module, *inputs: Any, **options: Any) -> Any:
    """What a frozen model gives after all passes, without code generation."""
    torch._dynamo.reset()
    flags = {"freezing": True, **options.pop("flags", {})}
    chosen = {"xductor.on_error": "raise", "xductor.verify": "types", **options}
    with torch.no_grad(), config.patch(**flags), passes_only():
        run = torch.compile(model, backend="xductor", options=chosen)
        return [run(*inputs) for _ in range(2)]


@pytest.mark.parametrize("name", MODELS)
def test_values_and_the_state_of_the_model(name: str) -> None:
    model, x = built(name)
    before = {
        key: (value, value.clone()) for key, value in model.state_dict(keep_vars=True).items()
    }
    with torch.no_grad():
        expected = model(x)
    for found in compiled(model, x):
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
    after = model.state_dict(keep_vars=True)
    assert list(after) == list(before)
    for key, (value, content) in before.items():
        assert after[key] is value
        assert torch.equal(value, content)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_16_bit_product_that_is_returned(dtype: torch.dtype) -> None:
    """Inductor asks what reads it for its dtype, and so of the output."""
    model, x = nn.Linear(16, 4).to(dtype).eval(), torch.randn(3, 16).to(dtype)
    with torch.no_grad():
        expected = model(x)
    for found in compiled(model, x):
        torch.testing.assert_close(found, expected)


def test_tied_weights_and_weights_that_are_views() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(10, 8)
            self.head = nn.Linear(8, 10, bias=False)
            self.head.weight = self.embedding.weight
            self.register_buffer("rows", self.embedding.weight.detach()[:8])

        def forward(self, x: torch.Tensor) -> Any:
            y = self.embedding(x)
            return self.head(y * 2) * 3, y @ self.rows.t() + 1, y @ (self.rows + 1)

    model, x = Tied().eval(), torch.arange(6)
    with torch.no_grad():
        expected = model(x)
    for found in compiled(model, x, flags={"enable_linear_binary_folding": True}):
        torch.testing.assert_close(found, expected)
    assert model.head.weight is model.embedding.weight
    assert model.rows.data_ptr() == model.embedding.weight.data_ptr()


def test_a_parameter_that_is_written_to() -> None:
    class Counting(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.zeros(4))
            self.weight = nn.Parameter(torch.rand(4, 4))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.count.add_(1)
            return x @ (self.weight * 2) + self.count * 2

    model, x = Counting().eval(), torch.rand(2, 4)
    with torch.no_grad():
        expected = [model(x), model(x)]
    model.count.zero_()
    torch.testing.assert_close(compiled(model, x), expected)
    assert model.count.tolist() == [2.0] * 4


def test_an_output_made_of_constants_may_be_written_to() -> None:
    model, x = built("constants")
    torch._dynamo.reset()
    with torch.no_grad(), config.patch(freezing=True), passes_only():
        run = torch.compile(model, backend="xductor")
        first = run(x)[1]
        kept = first.clone()
        first.zero_()
        torch.testing.assert_close(run(x)[1], kept)


def test_dynamic_sizes() -> None:
    model, x = built("linears")
    torch._dynamo.reset()
    with torch.no_grad(), config.patch(freezing=True), passes_only():
        run = torch.compile(model, backend="xductor", dynamic=True)
        for rows in (4, 7):
            x = torch.randn(rows, 16)
            torch.testing.assert_close(run(x), model(x))
    assert xductor.last_compile().count("constant_fold") == 2


def test_with_gradients_nothing_is_frozen() -> None:
    model, x = built("linears")
    torch._dynamo.reset()
    with config.patch(freezing=True), passes_only():
        torch.compile(model.train(), backend="xductor")(x).sum().backward()
    assert xductor.last_compile().count("constant_fold") == 0


def test_discarded_weights() -> None:
    model, x = built("linears")
    with torch.no_grad():
        expected = model(x)
    flags = {"freezing_discard_parameters": True}
    for found in compiled(model, x, flags=flags):
        torch.testing.assert_close(found, expected)
    with pytest.raises(RuntimeError, match="after Dynamo Freezing"):
        model(x)


# ------------------------------------------------------------ what users put in its place


def test_a_function_in_the_place_of_inductors_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[int] = []
    stock = freezing.constant_fold

    def constant_fold(gm: Any) -> None:
        called.append(len(gm.graph.nodes))
        stock(gm)

    monkeypatch.setattr(freezing, "constant_fold", constant_fold)
    model, x = built("linears")
    for found in compiled(model, x):
        torch.testing.assert_close(found, model(x))
    assert len(called) >= 3
    assert xductor.last_compile().count("constant_fold") == 0


def test_a_table_in_the_place_of_inductors_runs_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    class Table(type(freezing_patterns.pass_patterns[0])):  # type: ignore[misc]
        applied = 0

        def apply(self, graph: Any) -> int:
            type(self).applied += 1
            return super().apply(graph)

    first = freezing_patterns.pass_patterns[0]
    table = Table()
    table.patterns = first.patterns
    both(*built("linears"))  # so that the tables are known which Inductor made
    monkeypatch.setattr(
        freezing_patterns, "pass_patterns", [table, *freezing_patterns.pass_patterns[1:]]
    )
    compiled(Attention(bias=False).eval(), torch.randn(2, 4, 16),
             flags={"cpp.enable_concat_linear": True})  # fmt: skip
    assert Table.applied == 1
    assert xductor.last_compile().count("matmul_fuse_pattern") == 0


def test_an_entry_of_the_users_runs_with_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch._inductor.pattern_matcher import CallFunction, Ignored

    seen: list[str] = []
    both(*built("linears"))
    table = freezing_patterns.pass_patterns[0]
    relu = torch.ops.aten.relu.default
    monkeypatch.setitem(table.patterns, ("call_function", relu), [])

    @freezing_patterns.register_freezing_graph_pattern(CallFunction(relu, Ignored()))
    def see(match: Any, *args: Any, **kwargs: Any) -> None:
        seen.append(match.output_node().name)

    model = nn.Sequential(Attention(bias=False), nn.ReLU()).eval()
    compiled(model, torch.randn(2, 4, 16), flags={"cpp.enable_concat_linear": True})
    assert len(seen) == 1
    assert xductor.last_compile().count("matmul_fuse_pattern") == 1


def test_operators_that_users_keep_from_being_folded() -> None:
    class Kept(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(torch.randn(4, 4))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x @ torch.relu(self.w)

    constant_folding.add_dont_constant_fold(torch.ops.aten.relu.default)
    try:
        theirs, ours = both(Kept().eval(), torch.randn(4, 4))
    finally:
        constant_folding.clear_dont_constant_fold()
    assert calls(ours)["aten.relu.default"] == calls(theirs)["aten.relu.default"] == 1
    theirs, ours = both(Kept().eval(), torch.randn(4, 4))
    assert calls(ours)["aten.relu.default"] == calls(theirs)["aten.relu.default"] == 0


def test_what_eager_refuses_is_an_error_of_the_run() -> None:
    class Refused(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(torch.randn(4, 4))
            self.register_buffer("places", torch.tensor([0, 9]))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x @ torch.index_select(self.w, 1, self.places)

    torch._dynamo.reset()
    with torch.no_grad(), config.patch(freezing=True), passes_only():
        run = torch.compile(Refused().eval(), backend="xductor")
        with pytest.raises((IndexError, RuntimeError), match=r"out of (range|bounds)"):
            run(torch.randn(2, 4))
