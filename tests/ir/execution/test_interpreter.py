"""Running modules, lowered or parsed, against eager."""

import copy
import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.fx as fx
import torch.nn.functional as F
from torch.fx.experimental.proxy_tensor import make_fx
from xdsl.dialects.builtin import ModuleOp

from xductor.frontend import from_fx
from xductor.ir import parse_ir, print_ir, run
from xductor.ir.execution.interpreter import InterpreterError, seeded


def dynamo(
    function: Callable[..., Any], *args: Any, dynamic: bool | None = None
) -> tuple[ModuleOp, list[Any]]:
    """The pre-grad module of a function, and the inputs of its graph."""
    found: list[Any] = []

    def backend(gm: fx.GraphModule, inputs: Any) -> Any:
        found.append((from_fx(gm, "pre_grad"), list(inputs)))
        return gm.forward

    torch.compile(function, backend=backend, dynamic=dynamic, fullgraph=True)(*args)
    return found[0]


def assert_same(left: Any, right: Any) -> None:
    torch.testing.assert_close(left, right, rtol=0, atol=0, equal_nan=True, check_stride=True)


def agree(function: Callable[..., Any], *args: Any, symbolic: bool = False) -> None:
    """Eager, the lowered graph and its text give the same bits."""
    gm = make_fx(function, tracing_mode="symbolic" if symbolic else "fake")(*args)
    module = from_fx(gm)
    for candidate in (module, parse_ir(print_ir(module))):
        with seeded(3):
            found = run(candidate, *copy.deepcopy(args))
        with seeded(3), torch.no_grad():
            expected = function(*copy.deepcopy(args))
        assert_same(found, expected)


def test_a_block_of_attention() -> None:
    def block(x: torch.Tensor, w: torch.Tensor) -> Any:
        q, k, v = (x @ w).split(4, -1)
        scores = (q @ k.transpose(-1, -2)).softmax(-1)
        return (scores @ v).t(), torch.cat(torch.chunk(x, 2)), x.max(0)[1], None, 3

    agree(block, torch.randn(5, 6), torch.randn(6, 12))
    agree(block, torch.randn(5, 6), torch.randn(6, 12), symbolic=True)


def test_other_sizes_than_the_traced_ones() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x.view(-1)[: x.shape[0] + 1].expand(x.shape[1], -1).contiguous() * x.shape[0]

    module = from_fx(make_fx(function, tracing_mode="symbolic")(torch.randn(4, 5)))
    for sizes in ((4, 5), (3, 7), (8, 2)):
        x = torch.randn(*sizes)
        assert_same(run(module, x), function(x))
        assert_same(run(parse_ir(print_ir(module)), x), function(x))


def test_random_ops_draw_as_eager_does() -> None:
    agree(lambda x: torch.rand_like(x) + torch.randn_like(x), torch.ones(8))


def test_constants_of_every_kind() -> None:
    def function(x: torch.Tensor) -> Any:
        return (
            x * float("inf"),
            x.to(torch.bfloat16, memory_format=torch.channels_last),
            x.add(1, alpha=2) * -0.0,
            x[..., None, 1:, :],
            torch.full((2,), True),
            x.sum([1], keepdim=True),
        )

    agree(function, torch.randn(2, 3, 4, 4))


def test_inputs_are_mutated() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x.copy_(x + y)
        return y * 2

    module = from_fx(make_fx(function, tracing_mode="fake")(torch.ones(3), torch.ones(3)))
    x, y = torch.ones(3), torch.full((3,), 4.0)
    assert_same(run(module, x, y), y * 2)
    assert_same(x, torch.full((3,), 5.0))


def test_modes_around_and_inside_a_pre_grad_graph() -> None:
    weight = torch.randn(4, 4)

    def function(x: torch.Tensor) -> Any:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = x @ weight
        return F.linear(x, weight), y

    x = torch.randn(4, 4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        module, inputs = dynamo(function, x)
        expected = function(x)
    found = run(parse_ir(print_ir(module)), *inputs)
    assert [part.dtype for part in found] == [torch.bfloat16] * 2
    assert_same(tuple(found), tuple(expected))
    assert not torch.is_autocast_enabled("cpu")


def test_gradients_flow_through_a_pre_grad_graph() -> None:
    weight = torch.nn.Parameter(torch.randn(4, 4))
    module, inputs = dynamo(lambda x: (x @ weight).relu().sum(), torch.randn(4, 4))
    (out,) = run(module, *inputs)
    out.backward()
    assert weight.grad is not None


def test_methods_and_python_arguments() -> None:
    def function(x: torch.Tensor) -> Any:
        a, b = torch.split(x, [1, 3], dim=1)
        return x.size(), a.expand_as(b)[:, None, ::2], torch.stack([b, b]).unbind(0)[1]

    x = torch.randn(3, 4)
    module, inputs = dynamo(function, x)
    found = run(parse_ir(print_ir(module)), *inputs)
    _, *expected = function(x)
    assert_same(tuple(found[-2:]), tuple(expected))


class TestHigherOrderOps:
    def test_cond(self) -> None:
        def function(x: torch.Tensor) -> Any:
            return torch.cond(x.sum() > 0, lambda a: a.sin(), lambda a: a.cos(), (x,))

        module, inputs = dynamo(function, torch.ones(4))
        assert len(inputs) == 1
        parsed = parse_ir(print_ir(module))
        for x in (torch.ones(4), -torch.ones(4)):
            (found,) = run(parsed, x)
            assert_same(found, function(x))

    def test_while_loop(self) -> None:
        from torch._higher_order_ops import while_loop

        def function(x: torch.Tensor, n: torch.Tensor) -> Any:
            return while_loop(lambda n, x: n > 0, lambda n, x: (n - 1, x * 2), (n, x))

        module, inputs = dynamo(function, torch.ones(3), torch.tensor(3))
        assert len(inputs) == 2
        found = run(parse_ir(print_ir(module)), *inputs)
        assert_same(found[-1], torch.full((3,), 8.0))

    def test_map(self) -> None:
        from torch._higher_order_ops.map import map as map_op

        module, _ = dynamo(lambda x: map_op(lambda row: row.sin() + 1, x), torch.randn(3, 4))
        x = torch.randn(3, 4)
        with torch.no_grad():
            (found,) = run(module, x)
        assert_same(found, x.sin() + 1)

    def test_checkpoint(self) -> None:
        from torch.utils.checkpoint import checkpoint

        def function(x: torch.Tensor) -> Any:
            return checkpoint(lambda y: y.sin().relu(), x, use_reentrant=False) * 2

        x = torch.randn(4)
        module, inputs = dynamo(function, x)
        (found,) = run(parse_ir(print_ir(module)), *inputs)
        assert_same(found, function(x))


class TestAttributes:
    def module(self) -> tuple[ModuleOp, torch.Tensor]:
        constant = torch.arange(3.0)
        gm = make_fx(lambda x: x + constant)(torch.ones(3))
        for node in gm.graph.find_nodes(op="get_attr"):
            node.meta["val"] = constant
        return from_fx(gm), constant

    def test_a_lowered_graph_has_them(self) -> None:
        module, constant = self.module()
        assert_same(run(module, torch.ones(3)), constant + 1)

    def test_a_parsed_graph_is_given_them(self) -> None:
        module, constant = self.module()
        parsed = parse_ir(print_ir(module))
        with pytest.raises(InterpreterError, match="no value for attribute"):
            run(parsed, torch.ones(3))
        (path,) = [op.path for op in _ops(parsed) if op.name == "fx.get_attr"]
        assert_same(run(parsed, torch.ones(3), attributes={path: constant}), constant + 1)


class TestErrors:
    def test_wrong_number_of_inputs(self) -> None:
        module = from_fx(make_fx(lambda x: x + 1, tracing_mode="fake")(torch.ones(3)))
        with pytest.raises(InterpreterError, match=r"takes 1 inputs \(x_1\), 2 were given"):
            run(module, torch.ones(3), torch.ones(3))

    def test_a_failing_op_is_named(self) -> None:
        def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return x[y]

        index = torch.tensor([1])
        module = from_fx(make_fx(function, tracing_mode="fake")(torch.ones(3), index))
        with pytest.raises(IndexError) as caught:
            run(module, torch.ones(3), torch.tensor([7]))
        assert caught.value.__notes__ == [
            "while running aten.index.Tensor (node index) of @forward"
        ]

    @pytest.mark.parametrize(
        ("value", "found"),
        [
            (torch.ones(5, 8), "input %x is torch.float32 of size [5, 8], expected"),
            (torch.ones(4, 8).double(), "input %x is torch.float64 of size [4, 8], expected"),
            (torch.ones(8), "input %x is torch.float32 of size [8], expected"),
            (4.0, "input %x is 4.0, expected !fx.tensor<f32[4, 8], cpu>"),
        ],
    )
    def test_an_input_must_suit_its_argument(self, value: object, found: str) -> None:
        text = """fx.graph @f stage(joint) (%x : !fx.tensor<f32[4, 8], cpu>) {
          %a = aten.sin.default %x : !fx.tensor<f32[4, 8], cpu>
          fx.output (%a,)
        }"""
        with pytest.raises(InterpreterError, match=re.escape(found)):
            run(parse_ir(text), value)

    def test_a_symbolic_size_takes_any(self) -> None:
        text = """fx.graph @f symbols(s0 : int [2, 64]) (%x : !fx.tensor<f32[s0], cpu>) {
          %a = aten.sin.default %x : !fx.tensor<f32[s0], cpu>
          fx.output (%a,)
        }"""
        assert run(parse_ir(text), torch.zeros(7))[0].shape == (7,)


def _ops(module: ModuleOp) -> list[Any]:
    from xductor.ir import entry_graph

    return list(entry_graph(module).block.ops)
