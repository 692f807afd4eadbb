"""`constant_fold`: what is computed at compile time, and what is left."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from tests.transforms.freezing.random_constant_graphs import Held, random_module
from xductor.backend.fx.export import RaisingError, to_fx
from xductor.frontend import from_fx
from xductor.ir import entry_graph, parse_ir, print_ir, run, same, verify
from xductor.transforms.freezing.constant_fold import ConstantFold

aten = torch.ops.aten
X = torch.linspace(-1, 1, 12).view(3, 4)
W = torch.linspace(0.5, 2, 24).view(4, 6)
B = torch.linspace(1, 2, 6)


def folded(
    program: Callable[..., Any], *constants: torch.Tensor, x: Any = X, **options: Any
) -> tuple[int, torch.fx.GraphModule, list[str]]:
    """How often the pass was applied, the graph after it, and the names of its ops."""
    module = Held(program, list(constants))
    gm = make_fx(module)(x)
    lowered = from_fx(gm, "post_grad")
    count = ConstantFold(**options).rewrite(lowered)
    verify(lowered, "types")
    assert count == 0 or ConstantFold.may_apply(gm.graph)
    text = print_ir(lowered, with_constants=True)
    assert same(parse_ir(text), lowered)
    after = to_fx(lowered)
    _same(after, module, x)
    _same(lambda one: run(parse_ir(text), one), module, x)
    names = [op.name for op in entry_graph(lowered).block.ops]
    return count, after, names[:-1]


def _same(found: Callable[..., Any], expected: Callable[..., Any], x: Any) -> None:
    left, right = found(x), expected(x)
    for one, other in zip(_tuple(left), _tuple(right), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0, equal_nan=True)
        assert one.stride() == other.stride()


def _tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


READ, MM = "fx.get_attr", "aten.mm.default"


@pytest.mark.parametrize(
    "program",
    [
        lambda x, w, b: x @ (w * 2),
        lambda x, w, b: x @ (w.t().contiguous() * 3).t(),
        lambda x, w, b: x @ (w + b),
        lambda x, w, b: x @ torch.cat([w, w[:, :1]], 1),
        lambda x, w, b: x @ w.split(2, 1)[1],
        lambda x, w, b: x @ w.sort(1)[0],
        lambda x, w, b: x @ (w * torch.arange(6)),
        lambda x, w, b: x @ w.bfloat16().float(),
        lambda x, w, b: x @ w[torch.tensor([0, 1, 1, 3])],
    ],
)
def test_what_is_computed_of_constants_is_held(program: Any) -> None:
    count, after, names = folded(program, W, B)
    assert count >= 1
    assert names == [READ, MM]
    assert len(list(after.buffers())) == 1


def test_each_value_that_is_read_is_held_and_no_other() -> None:
    def program(x: Any, w: Any, b: Any) -> Any:
        scaled = (w.abs() + 1) * 2
        return x @ scaled, x @ (scaled * b)

    count, _, names = folded(program, W, B)
    assert (count, names) == (2, [READ, MM, READ, MM])


def test_what_an_output_is_made_of_keeps_its_last_op() -> None:
    """The caller may write to what it got: it must not be the constant."""

    def program(x: Any, w: Any, b: Any) -> Any:
        return x + 1, (w * 2 + 1).t(), b.exp()

    _, after, names = folded(program, W, B)
    assert names == [
        "aten.add.Tensor", READ, "aten.add.Tensor", "aten.t.default", READ, "aten.exp.default"
    ]  # fmt: skip
    for _ in range(2):
        _, second, third = after(X)
        torch.testing.assert_close(second, (W * 2 + 1).t())
        torch.testing.assert_close(third, B.exp())
        second.zero_()
        third.zero_()


def test_constants_that_nobody_reads_go() -> None:
    gm = make_fx(Held(lambda x, w: x + w.sum(), [W]))(X)
    node = next(iter(gm.graph.find_nodes(op="call_function", target=aten.sum.default)))
    node.replace_all_uses_with(next(iter(gm.graph.find_nodes(op="placeholder"))))
    gm.graph.erase_node(node)
    assert ConstantFold.may_apply(gm.graph)
    lowered = from_fx(gm, "post_grad")
    assert ConstantFold().rewrite(lowered) == 1
    assert READ not in [op.name for op in entry_graph(lowered).block.ops]


@pytest.mark.parametrize(
    "program",
    [
        lambda x, w: x @ w,
        lambda x, w: x.sum() * w,
        lambda x, w: x @ (torch.rand_like(w) + w),
        lambda x, w: x @ torch.dropout(w, 0.5, True),
        lambda x, w: (x @ torch.zeros(4, 6)).sum() + w,
        lambda x, w: (x.sum() + torch.empty_like(w) * 0) * 0 + w,
        lambda x, w: x[:, :1] + (torch.arange(3) * 2).view(3, 1) + w.shape[0],
    ],
)
def test_what_is_left_alone(program: Any) -> None:
    gm = make_fx(Held(program, [W]))(X)
    lowered = from_fx(gm, "post_grad")
    before = print_ir(lowered)
    assert ConstantFold().rewrite(lowered) == 0
    assert print_ir(lowered) == before


def test_a_write_keeps_every_constant_of_its_storage() -> None:
    held = W.clone()

    class Written(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("w", held)
            self.register_buffer("first", held[:1])
            self.register_buffer("other", W.clone())

        def forward(self, x: Any, add: bool = True) -> Any:
            y = x @ (self.w * 2) + self.first * 3
            self.w.add_(1)
            return y, x @ (self.w * 2), x @ (self.other * 2)

    lowered = from_fx(make_fx(Written())(X), "post_grad")
    held.copy_(W)
    assert ConstantFold().rewrite(lowered) == 1  # of `other` alone
    again, expected = to_fx(lowered), Written()
    held.copy_(W)
    found = [one.clone() for one in (*again(X), *again(X))]
    held.copy_(W)
    for one, other in zip(found, (*expected(X), *expected(X)), strict=True):
        torch.testing.assert_close(one, other)


def test_what_eager_refuses_is_left_for_the_run() -> None:
    def program(x: Any, w: Any, places: Any) -> Any:
        return x @ (w * 2), x @ (torch.index_select(w, 0, places) * 3)

    gm = make_fx(Held(program, [W, torch.arange(4)]))(X)
    gm._tensor_constant1 = torch.tensor([0, 1, 2, 99])
    lowered = from_fx(gm, "post_grad")
    assert ConstantFold().rewrite(lowered) == 1
    assert "aten.index_select.default" in [op.name for op in entry_graph(lowered).block.ops]
    with pytest.raises((RuntimeError, IndexError)):
        to_fx(lowered)(X)


def test_budget() -> None:
    def program(x: Any, b: Any) -> Any:
        outer = b.view(6, 1) * b
        return x.sum() + outer.repeat(4, 4), x.sum() + b.expand(1000, 6)

    count, _, names = folded(program, B, budget=64)
    assert "aten.repeat.default" in names
    assert count == 2  # the outer product, and the view, which takes no memory
    assert "aten.repeat.default" not in folded(program, B)[2]


def test_names_that_are_not_folded() -> None:
    def program(x: Any, w: Any) -> Any:
        return x @ (w * 2).relu()

    _, _, names = folded(program, W, dont_constant_fold=("aten.relu.default",))
    assert names == [READ, "aten.relu.default", MM]


def test_dequantised_weights_stay_small() -> None:
    prims = torch.ops.prims
    small = torch.arange(-12, 12, dtype=torch.int8).view(4, 6)

    def permuted(x: Any, w: Any) -> Any:
        return x.bfloat16() @ prims.convert_element_type(aten.permute(w, [1, 0]), torch.bfloat16)

    def plain(x: Any, w: Any) -> Any:
        return x.bfloat16() @ prims.convert_element_type(w, torch.bfloat16)

    assert folded(plain, small)[0] == 0
    assert folded(permuted, small.t().contiguous())[0] == 0
    wide = folded(lambda x, w: x @ prims.convert_element_type(w, torch.float32), small)
    assert wide[2] == [READ, MM]


def test_per_channel_dequantisation_stays() -> None:
    from torch.ao.quantization.fx import _decomposed  # noqa: F401  registers the operators

    quantised = torch.ops.quantized_decomposed

    def program(x: Any, w: Any, scale: Any, zero: Any) -> Any:
        q = quantised.quantize_per_channel(w, scale, zero, 0, -128, 127, torch.int8)
        d = quantised.dequantize_per_channel(q, scale, zero, 0, -128, 127, torch.int8)
        return x @ d

    count, _, names = folded(program, W, torch.full((4,), 0.02), torch.zeros(4, dtype=torch.int64))
    assert count == 1
    assert names.count("quantized_decomposed.dequantize_per_channel.default") == 1
    assert "quantized_decomposed.quantize_per_channel.default" not in names


def test_a_bias_made_of_numbers_is_held_where_a_product_reads_it() -> None:
    def program(x: Any, w: Any) -> Any:
        return torch.addmm(torch.full((6,), 0.5) * 3, x, w), torch.full((6,), 0.5) * 3 + x.sum()

    count, _, names = folded(program, W)
    assert count == 1
    assert names.count("aten.full.default") == 1


def test_symbolic_sizes_are_no_constants() -> None:
    def program(x: Any, w: Any) -> Any:
        return x @ (w[:, : x.shape[0]] * 2), x @ (w * 2)

    gm = make_fx(Held(program, [W]), tracing_mode="symbolic", _allow_non_fake_inputs=True)(X)
    lowered = from_fx(gm, "post_grad")
    assert ConstantFold().rewrite(lowered) == 1
    again = to_fx(lowered)
    for x in (X, torch.randn(2, 4)):
        for one, other in zip(again(x), program(x, W), strict=True):
            torch.testing.assert_close(one, other)


def test_raising_into_the_graph_module() -> None:
    gm = make_fx(Held(lambda x, w: x @ (w * 2), [W]))(X)
    held = gm._tensor_constant0
    lowered = from_fx(gm, "post_grad")
    assert ConstantFold().rewrite(lowered) == 1
    to_fx(lowered, into=gm)
    torch.testing.assert_close(gm(X), X @ (W * 2))
    assert gm._tensor_constant0 is held
    assert [name for name, _ in gm.named_buffers()] == ["_tensor_constant0", "_frozen_param1"]

    gm = make_fx(Held(lambda x, w: x @ (w * 2), [W]))(X)
    lowered = from_fx(gm, "post_grad")
    assert ConstantFold().rewrite(lowered) == 1
    gm._frozen_param1 = torch.ones(())
    with pytest.raises(RaisingError, match='constant "_frozen_param1": the GraphModule has'):
        to_fx(lowered, into=gm)
    assert [node.op for node in gm.graph.nodes].count("get_attr") == 1


def test_constants_of_one_storage_stay_of_one() -> None:
    def program(x: Any, w: Any) -> Any:
        return x @ w, x @ w.t().contiguous().t(), x.t() @ w.t()[:3, :3].t()

    module = Held(program, [W[:, :4].clone()[:3].contiguous()])
    gm = make_fx(module)(torch.randn(3, 3))
    lowered = from_fx(gm, "post_grad")
    assert ConstantFold().rewrite(lowered) >= 1
    made = to_fx(lowered)
    storages = [one.untyped_storage().data_ptr() for one in made.buffers()]
    assert len(set(storages)) < len(storages)


def _shares(outputs: Any, module: torch.nn.Module) -> list[bool]:
    held = {one.untyped_storage().data_ptr() for one in module.buffers()}
    return [one.untyped_storage().data_ptr() in held for one in outputs if one.numel()]


def _steps(tensor: torch.Tensor) -> list[int]:
    """The strides that somebody sees; those of dims of size one may be any."""
    pairs = zip(tensor.shape, tensor.stride(), strict=True)
    return [step for size, step in pairs if size != 1]


def test_random_graphs() -> None:
    fired = 0
    for seed in range(300):
        module, x = random_module(Random(seed))
        fired += check_random_graph(module, x, f"seed {seed}")
    assert fired > 150


def check_random_graph(module: torch.nn.Module, x: torch.Tensor, what: str) -> bool:
    """Compare a graph with itself after the pass; whether that was applied."""
    gm = make_fx(module, tracing_mode="fake", _allow_non_fake_inputs=True)(x)
    state = {name: value.clone() for name, value in module.named_buffers()}
    lowered = from_fx(gm, "post_grad")
    count = ConstantFold().rewrite(lowered)
    assert count == 0 or ConstantFold.may_apply(gm.graph), what
    verify(lowered, "types")
    after = to_fx(lowered)
    for given in (x, x * 3):
        expected, found = gm(given), after(given)
        assert _shares(found, after) == _shares(expected, gm), what
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one, other, rtol=0, atol=0, equal_nan=True, msg=what)
            assert _steps(one) == _steps(other), what
    for name, value in module.named_buffers():
        assert torch.equal(value, state[name]), what
    assert ConstantFold().rewrite(lowered) == 0, what
    return count > 0
