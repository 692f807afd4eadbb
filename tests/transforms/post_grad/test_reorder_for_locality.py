"""`reorder_for_locality`: which ops move, how far, and that the order is Inductor's."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._inductor.fx_passes import post_grad
from torch.fx.experimental.proxy_tensor import make_fx

from xductor.transforms.post_grad.reorder_for_locality import ReorderForLocality

aten = torch.ops.aten


def _random_program(seed: int) -> Callable[..., Any]:
    """A functional program whose values are used here and there."""

    def run(x: Any, y: Any) -> Any:
        chance = random.Random(seed)
        values = [x, y]
        for _ in range(chance.randint(5, 20)):
            a, b = chance.choice(values), chance.choice(values)
            step = chance.randrange(5)
            if step == 0:
                values.append(a.neg())
            elif step == 1:
                values.extend(torch.split(torch.cat([a, b]), [3, 3]))
            elif step == 2:
                values.append(torch.where(a > b, a, b))
            else:
                values.append(a + b)
        return chance.sample(values[2:], 3)

    return run


@pytest.mark.parametrize("seed", range(40))
def test_the_order_is_inductors(seed: int, trace: Any, special: Any) -> None:
    x, y = special(3, 3), special(3, 3) + 1
    function = _random_program(seed)
    case = trace(function, x, y, stage="post_grad")
    promised = ReorderForLocality.may_apply(case.gm.graph)
    changed = case.run(ReorderForLocality())
    assert promised or not changed
    stock = make_fx(function, tracing_mode="fake")(x, y)
    post_grad.reorder_for_locality(stock.graph)
    expected = [
        str(node.target)
        for node in stock.graph.nodes
        if node.op == "call_function" and "getitem" not in str(node.target)
    ]
    assert case.ops == expected
    case.check_values(x, y)
    assert case.run(ReorderForLocality()) in (0, 1)


def test_programs_are_reordered(trace: Any, special: Any) -> None:
    x = special(3, 3)
    changed = [
        trace(_random_program(seed), x, x, stage="post_grad").run(ReorderForLocality())
        for seed in range(20)
    ]
    assert sum(changed) > 10


def test_a_value_moves_to_its_first_use(trace: Any, special: Any) -> None:
    def f(x: Any) -> Any:
        a = x.exp()
        b = x.neg().abs()
        return (b + 1) * a

    case = trace(f, special(3, 4), stage="post_grad")
    assert case.run(ReorderForLocality()) == 1
    assert case.ops == [
        "aten.neg.default", "aten.abs.default", "aten.add.Tensor", "aten.exp.default",
        "aten.mul.Tensor",
    ]  # fmt: skip
    case.check_values(special(3, 4))
    assert case.run(ReorderForLocality()) == 0


def test_a_local_order_is_not_touched(trace: Any, special: Any) -> None:
    case = trace(lambda x: (x.neg() + x.exp()).abs(), special(3, 4), stage="post_grad")
    assert not ReorderForLocality.may_apply(case.gm.graph)
    assert case.run(ReorderForLocality()) == 0


def test_random_draws_keep_their_order(trace: Any, special: Any) -> None:
    def f(x: Any) -> Any:
        a, b, c = (aten.rand_like(x) for _ in range(3))
        return c * 2, b + x, a - 1

    case = trace(f, special(3, 4), stage="post_grad")
    before = [name for name in case.ops if "rand" in name]
    case.run(ReorderForLocality())
    assert case.ops[:3] == before


def test_no_read_moves_past_a_write(trace: Any, special: Any) -> None:
    def f(x: Any, y: Any) -> Any:
        early = x.exp()
        y = aten.add_(y, 1)
        z = aten.add_(x, y)
        return early * z

    x, y = special(3, 4), special(3, 4)
    case = trace(f, x, y, stage="post_grad")
    case.run(ReorderForLocality())
    assert case.ops[0] == "aten.exp.default"
    case.check_values(x, y)


def test_a_write_does_not_move(trace: Any, special: Any) -> None:
    def f(x: Any, y: Any) -> Any:
        z = aten.add_(x, 1)
        other = y.exp().neg()
        return z * other

    case = trace(f, special(3, 4), special(3, 4), stage="post_grad")
    case.run(ReorderForLocality())
    assert case.ops[0] == "aten.add_.Tensor"
    case.check_values(special(3, 4), special(3, 4))


def test_the_epilogue_stays(trace: Any, special: Any) -> None:
    def f(x: Any, y: Any) -> Any:
        a, b = x.exp(), y.neg()
        aten.copy_(x, b)
        return a

    case = trace(f, special(3, 4), special(3, 4), stage="post_grad")
    case.run(ReorderForLocality())
    assert case.ops == ["aten.exp.default", "aten.neg.default", "aten.copy_.default"]
    case.check_values(special(3, 4), special(3, 4))


def test_a_binder_of_an_unbacked_symbol_stays(parse: Any) -> None:
    case = parse("""
        fx.graph @g stage(post_grad) symbols(u0 : int unbacked size_like [0, int_oo])
            (%x : !fx.tensor<f32[4], cpu>) {
          %n = aten.nonzero.default %x : !fx.tensor<i64[u0, 1][1, u0], cpu>
            {unbacked_bindings = "u0 = .size()[0]"}
          %ones = aten.full.default [sym<u0>], 1.0 : !fx.tensor<f32[u0], cpu>
          %m = aten.neg.default %ones : !fx.tensor<f32[u0], cpu>
          %k = aten.neg.default %n : !fx.tensor<i64[u0, 1][1, u0], cpu>
          fx.output (%m, %k)
        }""")
    assert case.run(ReorderForLocality()) == 0


def test_collectives_and_their_waits(parse: Any) -> None:
    """A wait moves to where its result is needed; the collective stays where it was started."""
    case = parse("""
        fx.graph @g stage(post_grad) symbols() (%x : !fx.tensor<f32[4], cpu>) {
          %a = _c10d_functional.all_reduce.default %x, "sum", "0" : !fx.tensor<f32[4], cpu>
          %w = _c10d_functional.wait_tensor.default %a : !fx.tensor<f32[4], cpu>
          %n = aten.neg.default %x : !fx.tensor<f32[4], cpu>
          %e = aten.exp.default %n : !fx.tensor<f32[4], cpu>
          %s = aten.add.Tensor %e, %w : !fx.tensor<f32[4], cpu>
          fx.output (%s,)
        }""")
    assert case.run(ReorderForLocality()) == 1
    assert case.ops == [
        "_c10d_functional.all_reduce.default", "aten.neg.default", "aten.exp.default",
        "_c10d_functional.wait_tensor.default", "aten.add.Tensor",
    ]  # fmt: skip


def test_symbolic_shapes(trace: Any, special: Any) -> None:
    def f(x: Any) -> Any:
        a = torch.ones(x.shape[0], 4)
        return (x.neg().exp() + 1) * a

    case = trace(f, special(3, 4), dynamic=True, stage="post_grad")
    assert case.run(ReorderForLocality()) == 1
    case.check_values(special(5, 4))
