# ruff: noqa: E501 - lines of IR text stay whole
"""Each rule of the level `structure` has a module that breaks it; the error names op and rule."""

from collections.abc import Callable

import pytest
import torch
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.utils.exceptions import VerifyException

import xductor
from xductor.ir import (
    ArgsAttr,
    GraphOp,
    ListArg,
    NodeMeta,
    Ref,
    SymbolRef,
    SymIntType,
    TensorType,
    TorchOp,
    aten,
    parse_ir,
    verify,
)
from xductor.ir.dialect.graph import raw_args
from xductor.ir.dialect.registry import method_class
from xductor.ir.dialect.types import NONE
from xductor.ir.symbolic.expressions import parse_expr

X = TensorType.get(torch.float32, (2,))
GOOD = """
fx.graph @forward stage(joint) symbols(u0 : int unbacked [0, int_oo]) (%x : !fx.tensor<f32[2], cpu>) {
  %sin = aten.sin.default %x : !fx.tensor<f32[2], cpu> loc("model.py":7)
  %add = aten.add.Tensor %sin, %x : !fx.tensor<f32[2], cpu> loc("model.py":8)
  %n = method.item %x : !fx.symint<u0> {unbacked_bindings = "u0 = "}
  fx.output (%add, %n)
}
"""


def module() -> tuple[ModuleOp, GraphOp, dict[str, TorchOp]]:
    made = parse_ir(GOOD)
    verify(made, "structure")
    (graph,) = made.ops
    assert isinstance(graph, GraphOp)
    ops = {op.node.node: op for op in graph.block.ops if isinstance(op, TorchOp)}
    return made, graph, ops


def refused(made: ModuleOp, *words: str) -> None:
    with pytest.raises(VerifyException) as caught:
        verify(made, "structure")
    for word in words:
        assert word in str(caught.value)


Break = Callable[[GraphOp, dict[str, TorchOp]], None]


def use_before_definition(graph: GraphOp, ops: dict[str, TorchOp]) -> None:
    ops["add"].detach()
    graph.block.insert_op_before(ops["add"], ops["sin"])


def value_of_another_graph(graph: GraphOp, ops: dict[str, TorchOp]) -> None:
    _, other, _ = module()
    ops["add"].operands[1] = other.arguments[0]


def no_arguments(graph: GraphOp, ops: dict[str, TorchOp]) -> None:
    del ops["add"].properties["args"]


def too_few_operands(graph: GraphOp, ops: dict[str, TorchOp]) -> None:
    ops["add"].operands = ops["add"].operands[:1]


def too_few_arguments(graph: GraphOp, ops: dict[str, TorchOp]) -> None:
    ops["add"].args = ArgsAttr((Ref(0), Ref(1)))


def malformed_raw_arguments(graph: GraphOp, ops: dict[str, TorchOp]) -> None:
    ops["n"].args = ArgsAttr((Ref(0),))


def operands_out_of_order(graph: GraphOp, ops: dict[str, TorchOp]) -> None:
    ops["add"].args = ArgsAttr((Ref(1), Ref(1), 1))


def none_where_a_value_is_needed(graph: GraphOp, ops: dict[str, TorchOp]) -> None:
    ops["add"].args = ArgsAttr((Ref(0), Ref(1), None))


def constant_of_another_kind(graph: GraphOp, ops: dict[str, TorchOp]) -> None:
    ops["add"].args = ArgsAttr((Ref(0), Ref(1), "two"))


def list_where_none_is_taken(graph: GraphOp, ops: dict[str, TorchOp]) -> None:
    ops["add"].args = ArgsAttr((Ref(0), ListArg([Ref(1)]), 1))


def operand_of_another_kind(graph: GraphOp, ops: dict[str, TorchOp]) -> None:
    absent = graph.block.insert_arg(NONE, 1)
    graph.attributes["node"] = NodeMeta(("x", "absent"))
    bad = aten.view.dtype.op_class.make(
        ArgsAttr((Ref(0), torch.int32)), [absent], [X], NodeMeta(("bad",), node="bad")
    )
    graph.block.insert_op_before(bad, ops["add"])


def operand_of_another_kind_with_known_arguments(graph: GraphOp, ops: dict[str, TorchOp]) -> None:
    absent = graph.block.insert_arg(NONE, 1)
    graph.attributes["node"] = NodeMeta(("x", "absent"))
    ops["add"].operands[1] = absent


def wrong_number_of_results(graph: GraphOp, ops: dict[str, TorchOp]) -> None:
    node = NodeMeta(("a", "b"), node="two")
    two = aten.sin.default.op_class.make(ArgsAttr((Ref(0),)), [graph.arguments[0]], [X, X], node)
    graph.block.insert_op_before(two, ops["add"])


def a_type_of_another_dialect(graph: GraphOp, ops: dict[str, TorchOp]) -> None:
    from xdsl.dialects.builtin import i32

    ops["sin"].results[0]._type = i32  # type: ignore[assignment]


def output_in_the_middle(graph: GraphOp, ops: dict[str, TorchOp]) -> None:
    ops["output"].detach()
    graph.block.insert_op_before(ops["output"], ops["n"])
    ops["output"].args, ops["output"].operands = raw_args(((Ref(0),),)), [ops["add"].results[0]]
    graph.block.add_op(ops["output"].clone())


def no_output(graph: GraphOp, ops: dict[str, TorchOp]) -> None:
    ops["output"].detach()


def an_op_of_another_dialect(graph: GraphOp, ops: dict[str, TorchOp]) -> None:
    from xdsl.dialects.test import TestOp

    graph.block.insert_op_before(TestOp(), ops["add"])


def unbound_symbol_in_a_type(graph: GraphOp, ops: dict[str, TorchOp]) -> None:
    ops["sin"].results[0]._type = TensorType.get(torch.float32, (parse_expr("s7"),))


def unbound_symbol_in_an_argument(graph: GraphOp, ops: dict[str, TorchOp]) -> None:
    ops["add"].args = ArgsAttr((Ref(0), Ref(1), parse_expr("s7 + 1")))


def unbound_symbol_in_a_placeholder(graph: GraphOp, ops: dict[str, TorchOp]) -> None:
    graph.arguments[0]._type = TensorType.get(torch.float32, (parse_expr("s7"),))


def unbacked_symbol_without_binder(graph: GraphOp, ops: dict[str, TorchOp]) -> None:
    ops["n"].attributes["node"] = NodeMeta(("n",), node="n")


def unbacked_symbol_before_its_binder(graph: GraphOp, ops: dict[str, TorchOp]) -> None:
    ops["sin"].results[0]._type = TensorType.get(torch.float32, (parse_expr("u0"),))


def two_binders_of_one_symbol(graph: GraphOp, ops: dict[str, TorchOp]) -> None:
    node = NodeMeta(("again",), node="again", textual={"unbacked_bindings": "u0 = "})
    again = method_class("item").make(
        raw_args((Ref(0),)), [graph.arguments[0]], [SymIntType(parse_expr("u0"))], node
    )
    graph.block.insert_op_before(again, ops["output"])


def a_name_twice(graph: GraphOp, ops: dict[str, TorchOp]) -> None:
    ops["add"].attributes["node"] = NodeMeta(("sin",), node="sin")


def a_name_of_a_placeholder(graph: GraphOp, ops: dict[str, TorchOp]) -> None:
    ops["add"].attributes["node"] = NodeMeta(("x",), node="x")


def names_that_are_too_many(graph: GraphOp, ops: dict[str, TorchOp]) -> None:
    ops["add"].attributes["node"] = NodeMeta(("add", "more"), node="add")


def placeholders_of_one_name(graph: GraphOp, ops: dict[str, TorchOp]) -> None:
    graph.block.insert_arg(X, 1)


def a_reference_to_no_graph(graph: GraphOp, ops: dict[str, TorchOp]) -> None:
    ops["n"].args = raw_args((Ref(0), SymbolRef("body")))


RULES: list[tuple[Break, tuple[str, ...]]] = [
    (
        use_before_definition,
        ("aten.add.Tensor (node add)", "operand 0 is defined after this op", "model.py:8"),
    ),
    (
        value_of_another_graph,
        ("aten.add.Tensor (node add)", "in another graph, or nowhere", "model.py:8"),
    ),
    (no_arguments, ("aten.add.Tensor (node add)", "no arguments attribute")),
    (
        too_few_operands,
        ("aten.add.Tensor (node add)", "the arguments refer to 2 operands, the op has 1"),
    ),
    (
        too_few_arguments,
        ("aten.add.Tensor (node add)", "number of arguments", "expected: 3", "found:    2"),
    ),
    (malformed_raw_arguments, ("method.item (node n)", "not positional and keyword")),
    (operands_out_of_order, ("aten.add.Tensor (node add)", "not numbered in order of appearance")),
    (
        none_where_a_value_is_needed,
        ("aten.add.Tensor (node add)", "argument 'alpha' is none", "scalar"),
    ),
    (
        constant_of_another_kind,
        ("aten.add.Tensor", "argument 'alpha' is of another kind", "'two' (str)"),
    ),
    (
        list_where_none_is_taken,
        ("aten.add.Tensor", "argument 'other' is a list", "expected: tensor"),
    ),
    (
        operand_of_another_kind_with_known_arguments,
        ("aten.add.Tensor (node add)", "operand 1 has a type", "!fx.tensor", "!fx.none"),
    ),
    (
        operand_of_another_kind,
        ("aten.view.dtype (node bad)", "operand 0 has a type", "!fx.tensor", "!fx.none"),
    ),
    (
        wrong_number_of_results,
        ("aten.sin.default (node two)", "number of results", "expected: 1", "found:    2"),
    ),
    (
        a_type_of_another_dialect,
        ("aten.sin.default (node sin)", "a type of another dialect", "i32"),
    ),
    (output_in_the_middle, ("fx.output", "must be the last op")),
    (no_output, ("@forward does not end in fx.output",)),
    (an_op_of_another_dialect, ("@forward holds test.op",)),
    (
        unbound_symbol_in_a_type,
        ("aten.sin.default", "symbols the graph does not have: ['s7']"),
    ),
    (unbound_symbol_in_an_argument, ("aten.add.Tensor", "an argument mentions symbols", "['s7']")),
    (unbound_symbol_in_a_placeholder, ("@forward has an argument of type", "['s7']")),
    (
        unbacked_symbol_without_binder,
        ("method.item (node n)", "['u0'] are used before an op binds them"),
    ),
    (unbacked_symbol_before_its_binder, ("aten.sin.default (node sin)", "['u0'] are used before")),
    (two_binders_of_one_symbol, ("method.item (node again)", "unbacked symbol u0 has two binders")),
    (a_name_twice, ("aten.add.Tensor (node sin)", "the name %sin is taken")),
    (a_name_of_a_placeholder, ("aten.add.Tensor (node x)", "the name %x is taken")),
    (
        names_that_are_too_many,
        ("aten.add.Tensor (node add)", "number of names", "expected: 1", "found:    2"),
    ),
    (placeholders_of_one_name, ("@forward has argument names that are not unique",)),
    (
        a_reference_to_no_graph,
        ("method.item (node n)", "@body is no graph of the module", "forward"),
    ),
]


@pytest.mark.parametrize(("damage", "words"), RULES, ids=[rule.__name__ for rule, _ in RULES])
def test_a_broken_rule_is_named(damage: Break, words: tuple[str, ...]) -> None:
    made, graph, ops = module()
    damage(graph, ops)
    refused(made, *words)


def test_two_graphs_of_one_name() -> None:
    made, graph, _ = module()
    made.body.block.add_op(graph.clone())
    refused(made, "two graphs of the module are called @forward")
    list(made.ops)[1].properties["sym_name"] = StringAttr("other")
    verify(made, "structure")


def test_a_list_argument_takes_no_lone_number() -> None:
    text = """fx.graph @forward (%x : !fx.tensor<f32[2], cpu>) {
      %p = aten.permute.default %x, 0 : !fx.tensor<f32[2], cpu>
      fx.output (%p,)
    }"""
    refused(
        parse_ir(text),
        "aten.permute.default (node p)",
        "argument 'dims' is no list",
        "a list of int",
    )
    verify(parse_ir(text.replace("%x, 0", "%x, [0]")), "structure")


def test_a_number_stands_for_a_list_of_fixed_size() -> None:
    made = parse_ir("""fx.graph @forward (%x : !fx.tensor<f32[1, 1, 4, 4], cpu>) {
      %p = aten.avg_pool2d.default %x, 2 : !fx.tensor<f32[1, 1, 2, 2], cpu>
      fx.output (%p,)
    }""")
    verify(made, "structure")
    (graph,) = made.ops
    assert isinstance(graph, GraphOp)
    op = graph.block.first_op
    assert isinstance(op, TorchOp)
    assert op.argument("kernel_size") == ListArg([2, 2])


def test_unknown_level() -> None:
    made, _, _ = module()
    with pytest.raises(ValueError, match="unknown verification level 'all'"):
        verify(made, "all")  # type: ignore[arg-type]


def test_none_stands_for_a_tensor_that_is_not_there() -> None:
    """PyTorch takes None for any `Tensor`, as cuDNN's attention backward is given in a graph."""
    q = "!fx.tensor<bf16[1, 2, 8, 16], cpu>"
    verify(
        parse_ir(f"""
fx.graph @forward stage(joint) (%q : {q}, %sum : !fx.tensor<f32[1, 2, 8, 1], cpu>, %seed : !fx.tensor<i64[], cpu>) {{
  %dq, %dk, %dv = aten._scaled_dot_product_cudnn_attention_backward.default %q, %q, %q, %q, %q, %sum, %seed, %seed, none, none, none, 8, 8, 0.0, false : {q}, {q}, {q}
  fx.output (%dq, %dk, %dv)
}}
"""),
        "structure",
    )


OUTSIDE = {
    "fx.get_attr": (
        '%a = fx.get_attr "w" : TYPE',
        '%a = "fx.get_attr"() ARGS<("w",), ()>}> : () -> (TYPE)',
    ),
    "fx.output": ("fx.output (1,)", '"fx.output"() ARGS<((1,),), ()>}> : () -> ()'),
    "fx.opaque_call": (
        '%a = fx.opaque_call opaque<callable, "1"> : TYPE',
        '%a = "fx.opaque_call"() ARGS<(opaque<callable, "1">,), ()>}> : () -> (TYPE)',
    ),
    "aten.ones.default": (
        "%a = aten.ones.default [4] : TYPE",
        '%a = "aten.ones.default"() ARGS<[4], none, none, none, none>}> : () -> (TYPE)',
    ),
    "pyfn.torch.ones": (
        "%a = pyfn.torch.ones 4 : TYPE",
        '%a = "pyfn.torch.ones"() ARGS<(4,), ()>}> : () -> (TYPE)',
    ),
}
A_GRAPH = "fx.graph @f stage(joint) (%x : TYPE) { fx.output (%x,) }"


@pytest.mark.parametrize("way", ["top", "behind", "nested", "alone"])
@pytest.mark.parametrize("form", [0, 1], ids=["custom", "generic"])
@pytest.mark.parametrize("name", OUTSIDE)
def test_an_op_outside_of_every_graph(name: str, form: int, way: str) -> None:
    op = OUTSIDE[name][form] + "\n"
    text = {
        "top": f"{op}{A_GRAPH}",
        "behind": f"{A_GRAPH}\n{op}",
        "nested": f"builtin.module {{\n{A_GRAPH}\nbuiltin.module {{\n{op}}}\n}}",
        "alone": f"builtin.module {{\n{op}}}",
    }[way]
    text = text.replace("ARGS", "<{args = #fx.args").replace("TYPE", "!fx.tensor<f32[4], cpu>")
    module = xductor.parse_ir(text)
    assert name in xductor.print_ir(module)
    with pytest.raises(VerifyException, match=rf"{name}.*: it stands in no graph; its place is in"):
        xductor.verify(module, level="structure")


def test_a_graph_that_is_not_at_the_top() -> None:
    text = f"builtin.module {{\nbuiltin.module {{\n{A_GRAPH}\n}}\n}}"
    module = xductor.parse_ir(text.replace("TYPE", "!fx.tensor<f32[4], cpu>"))
    with pytest.raises(VerifyException, match=r"fx.graph @f stands in builtin.module; its place"):
        xductor.verify(module, level="structure")
