"""Verification level `stage`: the promises of each stage, kept and broken."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.fx as fx
from torch.fx.experimental.proxy_tensor import make_fx
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from xductor.frontend import from_fx
from xductor.ir import GraphOp, entry_graph, parse_ir, print_ir, verify
from xductor.ir.storage.written import written_operands
from xductor.ir.verification.alias_summary import alias_summary, check_no_new_aliases
from xductor.ir.verification.stage_rules import check_stage, recorded_aliases

aten = torch.ops.aten


def traced(function: Callable[..., Any], *args: Any) -> fx.GraphModule:
    return make_fx(function, tracing_mode="fake")(*args)


def dynamo(function: Callable[..., Any], *args: Any) -> ModuleOp:
    """The pre-grad module of a function."""
    found: list[ModuleOp] = []

    def backend(gm: fx.GraphModule, inputs: Any) -> Any:
        found.append(from_fx(gm, "pre_grad"))
        return gm.forward

    torch.compile(function, backend=backend, fullgraph=True)(*args)
    return found[0]


def op_named(graph: GraphOp, node: str) -> Any:
    (op,) = [op for op in graph.block.ops if op.node.node == node]  # type: ignore[attr-defined]
    return op


class TestPreGrad:
    def module(self) -> ModuleOp:
        return dynamo(lambda x, y: (x.sin() + y, x * 2), torch.ones(3), torch.ones(3))

    def test_as_it_came(self) -> None:
        module = self.module()
        verify(module, "stage")
        verify(parse_ir(print_ir(module)), "stage")

    def test_placeholders_keep_names_and_order(self) -> None:
        graph = entry_graph(self.module())
        names = graph.argument_names
        graph.node.__dict__["data"] = (names[1], names[0])
        with pytest.raises(VerifyException, match="keeps its placeholders"):
            check_stage(graph)

    def test_the_number_of_outputs_stays(self) -> None:
        from xductor.ir.dialect.graph import raw_args

        graph = entry_graph(self.module())
        output = graph.output
        tree = output.tree
        output.args = raw_args((tree[:1],))
        output.operands = list(output.operands)[:1]
        with pytest.raises(VerifyException, match="the number of its outputs"):
            check_stage(graph)


class TestLowerable:
    @pytest.mark.parametrize(
        "op", ["pyfn.torch.sin %x", "pyfn.torch.nn.functional.relu %x", "method.sin %x"]
    )
    @pytest.mark.parametrize("stage", ["joint", "post_grad"])
    def test_python_level_calls_are_refused(self, op: str, stage: str) -> None:
        vector = "!fx.tensor<f32[3], cpu>"
        text = (
            f"builtin.module {{\n  fx.graph @forward stage({stage}) (%x : {vector}) {{\n"
            f"    %y = {op} : {vector}\n    fx.output %y\n  }}\n}}\n"
        )
        with pytest.raises(VerifyException, match="no Python-level calls"):
            check_stage(entry_graph(parse_ir(text)))

    def test_symbol_arithmetic_is_taken(self) -> None:
        gm = make_fx(lambda x: x.view(-1)[: x.shape[0] * 2 + 1] * 2, tracing_mode="symbolic")(
            torch.ones(4, 5)
        )
        module = from_fx(gm)
        assert "pyfn._operator" in print_ir(module)
        verify(module, "stage")


class TestFunctional:
    def graph(self, function: Callable[..., Any], stage: str = "joint") -> GraphOp:
        return entry_graph(from_fx(traced(function, torch.ones(4), torch.ones(4)), stage))

    def test_the_epilogue(self) -> None:
        def function(x: torch.Tensor, y: torch.Tensor) -> Any:
            z = x + y
            x.copy_(z)
            y.copy_(z * 2)
            return z

        graph = self.graph(function)
        assert [op.name for op in graph.block.ops].count("aten.copy_.default") == 2
        check_stage(graph)

    def test_a_write_to_an_intermediate(self) -> None:
        graph = self.graph(lambda x, y: x.clone().copy_(y))
        with pytest.raises(VerifyException, match="only inputs are written to"):
            check_stage(graph)

    def test_another_in_place_op(self) -> None:
        graph = self.graph(lambda x, y: x.add_(y))
        with pytest.raises(VerifyException, match="functional at this stage") as caught:
            check_stage(graph)
        assert "aten.add_.Tensor" in str(caught.value)

    def test_after_the_last_steps_of_post_grad(self) -> None:
        check_stage(self.graph(lambda x, y: x.clone().add_(y), "post_grad"), final=True)

    def test_a_read_after_the_write(self) -> None:
        def function(x: torch.Tensor, y: torch.Tensor) -> Any:
            x.copy_(y)
            return x.view(2, 2).sin()

        with pytest.raises(VerifyException, match=r"reads an input that aten\.copy_") as caught:
            check_stage(self.graph(function))
        assert "a use after the write" in str(caught.value)

    def test_what_a_call_writes(self) -> None:
        def function(x: torch.Tensor, y: torch.Tensor) -> Any:
            return torch.relu_(x), torch.nn.functional.relu(y), torch.add(x, y)

        graph = entry_graph(dynamo(function, torch.ones(4), torch.ones(4)))
        written = {
            op.name: [operand.index for operand in written_operands(op)]  # type: ignore[attr-defined, union-attr]
            for op in graph.block.ops
        }
        assert written["pyfn.torch.relu_"] == [0]
        assert written["pyfn.torch.nn.functional.relu"] == []
        assert written["pyfn.torch.add"] == []


class TestRandomOrder:
    def graph(self) -> GraphOp:
        gm = traced(lambda x: (torch.rand_like(x) + 1, torch.randn_like(x)), torch.ones(4))
        return entry_graph(from_fx(gm))

    def test_kept(self) -> None:
        check_stage(self.graph())

    def test_swapped(self) -> None:
        graph = self.graph()
        first, second = op_named(graph, "rand_like"), op_named(graph, "randn_like")
        second.detach()
        graph.block.insert_op_before(second, first)
        with pytest.raises(VerifyException, match="random ops have changed their order"):
            check_stage(graph)

    def test_other_ops_may_move(self) -> None:
        graph = self.graph()
        last = op_named(graph, "randn_like")
        moved = op_named(graph, "add")
        moved.detach()
        graph.block.insert_op_after(moved, last)
        check_stage(graph)


def views_and_copies(x: torch.Tensor) -> Any:
    view = x.view(2, 2)
    return x.clone(), view.t(), view.sin(), view


class TestAliases:
    def graph(self) -> GraphOp:
        return entry_graph(from_fx(traced(views_and_copies, torch.ones(4))))

    def test_the_summary(self) -> None:
        view, transposed, source = ("output", 3), ("output", 1), ("input", 0)
        assert alias_summary(self.graph()) == {
            (view, source),
            (transposed, source),
            (transposed, view),
        }

    def test_it_is_recorded_at_lowering(self) -> None:
        graph = self.graph()
        assert recorded_aliases(graph) == alias_summary(graph)
        assert recorded_aliases(entry_graph(parse_ir(print_ir(graph.parent_op())))) is None  # type: ignore[arg-type]

    def test_a_copy_that_a_pass_removed(self) -> None:
        graph = self.graph()
        clone = op_named(graph, "clone")
        clone.results[0].replace_all_uses_with(graph.arguments[0])
        clone.detach()
        clone.erase()
        with pytest.raises(VerifyException, match=r"output 0 shares storage with input %x_1"):
            check_stage(graph)

    def test_two_outputs_made_one(self) -> None:
        graph = entry_graph(from_fx(traced(lambda x: (x.sin(), x.sin()), torch.ones(4))))
        before = alias_summary(graph)
        assert not before
        first, second = op_named(graph, "sin"), op_named(graph, "sin_1")
        second.results[0].replace_all_uses_with(first.results[0])
        second.detach()
        second.erase()
        with pytest.raises(VerifyException, match="output 0 shares storage with output 1"):
            check_no_new_aliases(graph, before)

    def test_an_alias_may_go(self) -> None:
        graph = self.graph()
        before = alias_summary(graph) | {(("output", 2), ("input", 0))}
        check_no_new_aliases(graph, before)
