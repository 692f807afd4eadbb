# ruff: noqa: E501 - lines of IR text stay whole
"""Each kind of graph a frontend meets lowers, verifies, and survives text; `gm` stays as it was."""

import operator
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.fx as fx
from torch._higher_order_ops.effects import new_token_tensor, with_effects
from torch._higher_order_ops.triton_kernel_wrap import (
    triton_kernel_wrapper_functional,
    triton_kernel_wrapper_mutation,
)
from xdsl.dialects.builtin import ModuleOp

from xductor.ir import (
    GraphOp,
    NoneType,
    ObjectType,
    OutputOp,
    SymbolRef,
    TensorType,
    TorchOp,
    entry_graph,
    parse_ir,
    print_ir,
)
from xductor.ir.dialect.arguments import Pack, leaves

aten = torch.ops.aten
Lower = Callable[..., tuple[ModuleOp, str]]


def ops(module: ModuleOp) -> list[TorchOp]:
    return [op for op in entry_graph(module).block.ops if isinstance(op, TorchOp)]


def op_named(module: ModuleOp, name: str) -> TorchOp:
    return next(op for op in ops(module) if op.name == name)


# ------------------------------------------------------------------------------------- tuples


def test_unused_slots_have_no_name(build: Any, lower: Lower) -> None:
    x = build.tensor("x", 6, 2)
    split = build.call(aten.split.Tensor, x, 2)
    middle = build.call(operator.getitem, split, 1)
    module, text = lower(build.module((middle,)))
    op = op_named(module, "aten.split.Tensor")
    assert op.node.names == ("", "getitem", "")
    assert "%split_tensor#0, %getitem, %split_tensor#2 = aten.split.Tensor %x, 2" in text
    assert "_operator.getitem" not in text


def test_two_getitems_of_one_slot(build: Any, lower: Lower) -> None:
    x = build.tensor("x", 4)
    split = build.call(aten.split.Tensor, x, 2)
    first, again = (build.call(operator.getitem, split, 0) for _ in range(2))
    total = build.call(aten.add.Tensor, first, again)
    module, _ = lower(build.module((total,)))
    op = op_named(module, "aten.split.Tensor")
    assert [node.name for node in (op.node.getitems or {})[0]] == ["getitem", "getitem_1"]
    add = op_named(module, "aten.add.Tensor")
    assert add.operands[0] is add.operands[1] is op.results[0]


def test_negative_index_and_slice_of_a_tuple(build_torch: Any, lower: Lower) -> None:
    x = build_torch.tensor("x", 6)
    split = build_torch.call(torch.split, x, 2)
    last = build_torch.call(operator.getitem, split, -1)
    pair = build_torch.call(operator.getitem, split, slice(0, 2))
    cat = build_torch.call(torch.cat, pair)
    module, text = lower(build_torch.module((last, cat)), "pre_grad")
    assert "pyfn.torch.cat pack(%split#0, %split#1)" in text
    assert op_named(module, "pyfn.torch.split").node.names == ("", "", "getitem")


def test_a_tuple_used_whole(build_torch: Any, lower: Lower) -> None:
    x = build_torch.tensor("x", 6)
    split = build_torch.call(torch.split, x, 2)
    cat = build_torch.call(torch.cat, split)
    module, text = lower(build_torch.module((cat, split)), "pre_grad")
    assert "pyfn.torch.cat pack(%split#0, %split#1, %split#2)" in text
    (positional, _) = op_named(module, "pyfn.torch.cat").args.data
    assert type(positional[0]) is Pack


def test_nested_tuples(build_torch: Any, lower: Lower) -> None:
    lstm = torch.nn.LSTM(2, 3)
    build_torch.root.add_module("lstm", lstm)
    x = build_torch.tensor("x", 5, 1, 2)
    out, h, c = build_torch.fake(5, 1, 3), build_torch.fake(1, 1, 3), build_torch.fake(1, 1, 3)
    node = build_torch.graph.call_module("lstm", (x,))
    node.meta["example_value"] = (out, (h, c))
    state = build_torch.call(operator.getitem, node, 1)
    cell = build_torch.call(operator.getitem, state, 1)
    module, text = lower(build_torch.module((cell, state)), "pre_grad")
    assert "as (*, (*, *))" in text
    assert op_named(module, "module.lstm").node.names == ("", "", "getitem_1")


def test_a_list_of_one_element(build: Any, lower: Lower) -> None:
    x = build.tensor("x", 2)
    split = build.call(aten.split.Tensor, x, 2)
    _, text = lower(build.module((split,)))
    assert "%split_tensor#0 = aten.split.Tensor" in text
    one = build.__class__()
    x = one.tensor("x", 2)
    only = one.call(operator.getitem, one.call(aten.split.Tensor, x, 2), 0)
    _, text = lower(one.module((only,)))
    assert (
        '%getitem = aten.split.Tensor %x, 2 : !fx.tensor<f32[2], cpu> {node = "split_tensor"}'
        in text
    )


def test_absent_elements_are_none(build: Any, lower: Lower) -> None:
    grad, x, w = (
        build.tensor("grad", 1, 2, 3, 3),
        build.tensor("x", 1, 1, 3, 3),
        build.tensor("w", 2, 1, 1, 1),
    )
    back = build.call(
        aten.convolution_backward.default,
        *(grad, x, w, [2], [1, 1], [0, 0], [1, 1], False, [0, 0], 1, [False, True, False]),
    )
    module, _ = lower(build.module((build.call(operator.getitem, back, 1),)))
    types = [
        type(result.type)
        for result in op_named(module, "aten.convolution_backward.default").results
    ]
    assert types == [NoneType, TensorType, NoneType]


# ---------------------------------------------------------------- sizes, asserts, effect tokens


def captured(fn: Callable[..., Any], *args: Any, **options: Any) -> list[fx.GraphModule]:
    """The graphs Dynamo makes of a function."""
    graphs: list[fx.GraphModule] = []

    def backend(gm: fx.GraphModule, _: Any) -> Callable[..., Any]:
        graphs.append(gm)
        return gm.forward

    torch.compile(fn, backend=backend, **options)(*args)
    return graphs


def test_sizes_and_checks_of_dynamo(lower: Lower) -> None:
    def fn(x: torch.Tensor, count: torch.Tensor) -> Any:
        n = (count + 1).item()
        torch._check(n >= 2)
        torch._check(n < 100)
        rows, columns = x.size()
        return (
            torch.zeros(n, columns),
            x.reshape(columns, rows),
            x.size(0) * 2,
            torch.sym_sqrt(rows),
        )

    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        (gm,) = captured(fn, torch.randn(4, 3), torch.tensor(5), dynamic=True)
    module, text = lower(gm, "pre_grad")
    assert "method.item" in text
    assert "unbacked" in text
    assert "pyfn.torch._check" in text or "_assert_scalar" in text
    table = entry_graph(module).symbols.data
    assert any(not info.backed for info in table.values())


def test_sym_size_and_assert_scalar(build: Any, lower: Lower) -> None:
    with build.mode:
        size = build.mode.shape_env.create_unbacked_symint()
    torch._check(size >= 2)
    build.input("n", size)
    x = build.tensor("x", size, 4)
    rows = build.call(aten.sym_size.int, x, 0, value=size)
    enough = build.call(operator.ge, rows, 2, value=size >= 2)
    build.call(aten._assert_scalar.default, enough, 'too few rows\n"quoted"', value=None)
    _, text = lower(build.module((build.call(aten.mul.Tensor, x, rows),)))
    assert "!fx.symint<u0>" in text
    assert "aten._assert_scalar.default %ge" in text


def test_effect_tokens_thread(build: Any, lower: Lower) -> None:
    token = build.input("token", new_token_tensor())
    x = build.tensor("x", 2)
    first = build.call(
        with_effects, token, aten.sin.default, x, value=(build.fake(0), build.fake(2))
    )
    token_out, value = (build.call(operator.getitem, first, i) for i in range(2))
    second = build.call(
        with_effects, token_out, aten._print.default, "done", value=(build.fake(0), None)
    )
    last = build.call(operator.getitem, second, 0)
    module, text = lower(build.module((last, value)))
    calls = [op for op in ops(module) if op.name == "higher_order.with_effects"]
    assert calls[1].operands[0] is calls[0].results[0]
    assert "fn<torch.ops.aten.sin.default>" in text


def test_script_objects(build: Any, lower: Lower) -> None:
    class Queue:
        """Stands for a torch.classes object, which needs a compiled library."""

    obj = Queue()
    build.root.queue = obj
    held = build.attribute("queue", obj)
    given = build.input("given", obj)
    x = build.tensor("x", 2)
    call = build.call(torch.ops.higher_order.call_torchbind, held, "push", x, value=None)
    module, text = lower(build.module((call, given)))
    assert isinstance(entry_graph(module).arguments[0].type, ObjectType)
    assert 'higher_order.call_torchbind %queue, "push", %x' in text
    assert "<locals>.Queue" in text


def test_backward_state(build_torch: Any, lower: Lower) -> None:
    from torch.fx.experimental._backward_state import BackwardState

    state = BackwardState()
    given = build_torch.input("bw_state", state)
    x = build_torch.tensor("x", 2)
    call = build_torch.call(torch.nn.functional.relu, x)
    module, _ = lower(build_torch.module((call, given)), "pre_grad")
    assert entry_graph(module).arguments[0].type == ObjectType(
        "torch.fx.experimental._backward_state.BackwardState"
    )


# -------------------------------------------------------------------------- attributes, outputs


def test_dotted_get_attr(build_torch: Any, lower: Lower) -> None:
    build_torch.root.add_module("block", torch.nn.Sequential(torch.nn.Linear(2, 2)))
    weight = build_torch.attribute("block.0.weight")
    x = build_torch.tensor("x", 3, 2)
    out = build_torch.call(torch.nn.functional.linear, x, weight, value=build_torch.fake(3, 2))
    module, text = lower(build_torch.module(out), "pre_grad")
    assert (
        'fx.get_attr "block.0.weight" : !fx.tensor<f32[2, 2], cpu, requires_grad, parameter>'
        in text
    )
    assert op_named(module, "fx.get_attr").path == "block.0.weight"  # type: ignore[attr-defined]


def test_a_constant_and_its_copy_are_two_values(build: Any, lower: Lower) -> None:
    from xdsl.transforms.common_subexpression_elimination import cse

    build.root.register_buffer("_tensor_constant0", torch.tensor([1.0, 2.0]))
    constant = build.attribute("_tensor_constant0", build.fake(2))
    copies = [build.call(aten.lift_fresh_copy.default, constant) for _ in range(2)]
    written = build.call(aten.add_.Tensor, copies[0], 1)
    module, text = lower(build.module((written, copies[1])))
    assert text.count("aten.lift_fresh_copy.default %_tensor_constant0") == 2
    cse(module)
    names = [op.name for op in ops(module)]
    assert names.count("aten.lift_fresh_copy.default") == 2, print_ir(module)


def test_outputs_of_every_form(build: Any, lower: Lower) -> None:
    with build.mode:
        size = build.mode.shape_env.create_unbacked_symint()
    n = build.input("n", size)
    x = build.tensor("x", 2)
    module, text = lower(
        build.module(([x, (x, None)], n, 3, True, 2.5, "s", {"key": x}, slice(0, n)))
    )
    assert '([%x, (%x, none)], %n, 3, true, 2.5, "s", {"key": %x}, slice(0, %n, none))' in text
    assert op_named(module, "fx.output").operands[0] is entry_graph(module).arguments[1]


@pytest.mark.parametrize("output", [None, 7, (), [], ((),)])
def test_outputs_without_values(build: Any, lower: Lower, output: Any) -> None:
    build.tensor("x", 2)
    module, _ = lower(build.module(output))
    last = ops(module)[-1]
    assert isinstance(last, OutputOp)
    assert not last.operands


def test_an_expression_that_stands_in_the_output(build: Any, lower: Lower) -> None:
    with build.mode:
        size = build.mode.shape_env.create_unbacked_symint()
    x = build.tensor("x", 2)
    build.input("n", size)
    _, text = lower(build.module((x, size + 1)))
    assert "fx.output (%x, sym<u0 + 1>)" in text


# ------------------------------------------------------------------------------ higher-order ops


def subgraph() -> fx.GraphModule:
    graph = fx.Graph()
    x = graph.placeholder("x")
    x.meta["val"] = torch.empty(2, device="meta")
    graph.output((x,))
    return fx.GraphModule(torch.nn.Module(), graph)


def test_keyword_arguments_of_higher_order_ops(build: Any, lower: Lower) -> None:
    child = subgraph()
    build.root.body_0 = child
    body, again = build.attribute("body_0"), build.attribute("body_0")
    x = build.tensor("x", 2)
    call = build.call(
        torch.ops.higher_order.invoke_subgraph, body, "name", x, value=(build.fake(2),)
    )
    hint = build.call(
        torch.ops.higher_order.hints_wrapper, again, (x,), {}, hints={"a b": 1, "loc": (True,)}, loc=1,
        value=(build.fake(2),),
    )  # fmt: skip
    out = [build.call(operator.getitem, part, 0) for part in (call, hint)]
    module, text = lower(build.module(tuple(out)))
    assert 'hints = {"a b": 1, "loc": (true,)}, loc = 1' in text
    graphs = [op.sym_name.data for op in module.ops if isinstance(op, GraphOp)]
    assert graphs == ["forward", "body_0"]
    refs = [leaf for op in ops(module) for leaf in leaves(op.args.data) if type(leaf) is SymbolRef]
    assert refs == [SymbolRef("body_0")] * 2
    declared, text = lower(fx.GraphModule(build.root, build.graph), subgraphs="declare")
    assert "fx.graph @body_0 stage(joint) () declared" in text
    assert len(list(declared.ops)) == 2


def test_first_argument_named_like_a_clause(build: Any, lower: Lower) -> None:
    x = build.tensor("x", 2)
    node = build.call(torch.ops.higher_order.strict_mode, loc=x, value=build.fake(2))
    _, text = lower(build.module((node,)))
    assert "higher_order.strict_mode loc = %x" in text


def test_entry_named_as_its_child(build: Any, lower: Lower) -> None:
    build.root.body = subgraph()
    x = build.tensor("x", 2)
    call = build.call(
        torch.ops.higher_order.invoke_subgraph,
        build.attribute("body"),
        "b",
        x,
        value=(build.fake(2),),
    )
    module, _ = lower(build.module((call,)), name="body")
    assert [op.sym_name.data for op in module.ops] == ["body", "body.1"]  # type: ignore[attr-defined]


def test_triton_side_table_entries(build: Any, lower: Lower) -> None:
    x, out = build.tensor("x", 8), build.tensor("out", 8)
    arguments = {
        "kernel_idx": 3,
        "constant_args_idx": 12,
        "grid": [(8, 1, 1), (4, 1, 1)],
        "tma_descriptor_metadata": {},
    }
    made = build.call(
        triton_kernel_wrapper_functional,
        **arguments, kwargs={"in_ptr": x, "out_ptr": out}, tensors_to_clone=["out_ptr"],
        value={"in_ptr": build.fake(8), "out_ptr": build.fake(8)},
    )  # fmt: skip
    picked = build.call(operator.getitem, made, "out_ptr", value=build.fake(8))
    build.call(
        triton_kernel_wrapper_mutation,
        **arguments,
        kwargs={"in_ptr": picked, "out_ptr": out},
        value=None,
    )
    module, text = lower(build.module((picked,)))
    assert 'kwargs = {"in_ptr": %x, "out_ptr": %out}' in text
    assert '!fx.object<"builtins.dict">' in text
    assert 'pyfn._operator.getitem %triton_kernel_wrapper_functional_proxy, "out_ptr"' in text or (
        'pyfn._operator.getitem %triton_kernel_wrapper_functional, "out_ptr"' in text
    )
    assert len(ops(module)) == 4


# -------------------------------------------------------------------------------------- names


def test_node_type_is_left_alone(build_torch: Any, lower: Lower) -> None:
    x = build_torch.tensor("x", 2)
    x.type = torch.Tensor
    call = build_torch.call(torch.relu, x)
    call.type = list[int]
    gm = build_torch.module(call)
    lower(gm, "pre_grad")
    assert [node.type for node in gm.graph.nodes] == [torch.Tensor, list[int], None]


ODD_NAMES = [
    "class", "lambda", "none", "true", "a.b", "a b", "a#0", "%x", "1", "é", "quote\"", "back\\slash", "new\nline", "",
]  # fmt: skip


def test_names_that_are_keywords_or_no_identifiers(build: Any, lower: Lower) -> None:
    x = build.tensor("x", 2)
    nodes = [build.call(aten.neg.default, x) for _ in ODD_NAMES]
    gm = build.module(tuple(nodes))
    for node, name in zip(nodes, ODD_NAMES, strict=True):
        node.name = name or "return"
    module, text = lower(gm)
    parsed = parse_ir(text)
    for source in (module, parsed):
        names = [op.node.names[0] for op in ops(source)[:-1]]
        assert names == [name or "return" for name in ODD_NAMES]


def test_an_output_with_a_name_of_its_own(build: Any, lower: Lower) -> None:
    x = build.tensor("output", 2)
    gm = build.module((x,))
    module, text = lower(gm)
    assert 'fx.output (%output,) {node = "output_1"}' in text
    assert ops(module)[-1].node.node == "output_1"


def test_mode_changes(lower: Lower) -> None:
    def fn(x: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16), torch.no_grad():
            y = x @ x
        return y + 1

    (gm,) = captured(fn, torch.randn(2, 2, requires_grad=True))
    module, text = lower(gm, "pre_grad")
    assert '!fx.object<"mode">' in text
    assert any(isinstance(op, TorchOp) and op.effects.mode for op in ops(module))


def test_sparse_and_nested_metadata(build_torch: Any, lower: Lower) -> None:
    sparse = torch.eye(2).to_sparse()
    with build_torch.mode:
        fake = build_torch.mode.from_tensor(sparse)
    x = build_torch.input("x", fake)
    module, text = lower(build_torch.module(x), "pre_grad")
    assert "layout sparse_coo" in text
    assert isinstance(entry_graph(module).arguments[0].type, TensorType)
