"""What lowering refuses, it refuses by name, with the user's line, and leaves the graph alone."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.fx as fx

from xductor.frontend import LoweringError, from_fx
from xductor.frontend.fx_importer import GraphLowering
from xductor.frontend.recover import recovered_values
from xductor.ir import print_ir

aten = torch.ops.aten
Snapshot = Callable[[fx.GraphModule], list[Any]]
LINE = '  File "/home/someone/model.py", line 41, in forward\n    y = f(x)\n'


def refusal(
    gm: fx.GraphModule, untouched: Snapshot, stage: str = "joint", **options: Any
) -> LoweringError:
    before = untouched(gm)
    with pytest.raises(LoweringError) as caught:
        from_fx(gm, stage, **options)
    assert untouched(gm) == before
    return caught.value


def test_a_graph_without_metadata(untouched: Snapshot) -> None:
    gm = fx.symbolic_trace(lambda x: torch.relu(x) + 1)
    error = refusal(gm, untouched)
    assert str(error).startswith("node 'x' (placeholder x): no type is recorded")
    assert "example_inputs" in str(error)
    assert error.node is next(iter(gm.graph.nodes))


def test_a_call_without_metadata(build: Any, untouched: Snapshot) -> None:
    x = build.tensor("x", 2)
    node = build.call(aten.relu.default, x)
    del node.meta["val"]
    node.meta["stack_trace"] = LINE
    error = refusal(build.module((node,)), untouched)
    assert error.node is node
    assert "node 'relu_default'" in str(error)
    assert "user code: /home/someone/model.py:41" in str(error)


def test_what_nobody_foresaw_names_the_node_too(
    build: Any, untouched: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise IndexError("Dimension out of range")

    node = build.call(aten.relu.default, build.tensor("x", 2))
    node.meta["stack_trace"] = LINE
    monkeypatch.setattr(GraphLowering, "call_function", broken)
    error = refusal(build.module((node,)), untouched)
    assert error.node is node
    assert "(call_function relu.default): it cannot be lowered: IndexError: Dim" in str(error)
    assert "user code: /home/someone/model.py:41" in str(error)
    assert isinstance(error.__cause__, IndexError)


def test_a_dead_call_without_metadata_blocks_nothing(build: Any, lower: Any) -> None:
    x = build.tensor("x", 4)
    for target, arguments in (
        (aten.relu.default, ()),
        (aten.max.dim, (0,)),
        (aten.split.Tensor, (2,)),
    ):
        del build.call(target, x, *arguments).meta["val"]
    _, text = lower(build.module((x,)))
    assert "aten.relu.default %x : !fx.none" in text


def test_use_before_definition(build: Any, untouched: Snapshot) -> None:
    x = build.tensor("x", 2)
    first = build.call(aten.relu.default, x)
    second = build.call(aten.neg.default, first)
    second.meta["stack_trace"] = LINE
    gm = build.module((second,))
    first.prepend(second)
    error = refusal(gm, untouched)
    assert error.node is second
    assert "uses 'relu_default', which is not defined above it" in str(error)
    assert "model.py:41" in str(error)
    assert "lint" in str(error)


def test_use_of_an_erased_node(build: Any, untouched: Snapshot) -> None:
    x = build.tensor("x", 2)
    gone = build.call(aten.relu.default, x)
    user = build.call(torch.neg, [gone], value=build.fake(2))
    gone.users.clear()
    build.graph.erase_node(gone)
    error = refusal(build.module((user,)), untouched, "pre_grad")
    assert error.node is user
    assert "relu_default" in str(error)


def test_a_node_of_another_graph(build: Any, untouched: Snapshot) -> None:
    other = type(build)().tensor("elsewhere", 2)
    x = build.tensor("x", 2)
    node = build.call(aten.add.Tensor, x, x)
    gm = build.module((node,))
    node._args = (x, other)  # what graph.lint() would refuse
    error = refusal(gm, untouched)
    assert "uses 'elsewhere', which is not defined above it" in str(error)


def test_an_opcode_that_fx_does_not_have(build: Any, untouched: Snapshot) -> None:
    x = build.tensor("x", 2)
    node = build.call(aten.relu.default, x)
    gm = build.module((node,))
    node.op = "call_nothing"
    with pytest.raises(LoweringError, match=r"'call_nothing' is no opcode of FX") as caught:
        from_fx(gm)
    assert caught.value.node is node


def test_a_graph_without_output(build: Any) -> None:
    gm = build.module((build.tensor("x", 2),))
    gm.graph.erase_node(gm.graph.output_node())
    with pytest.raises(LoweringError, match="no output node"):
        from_fx(gm)


def test_an_attribute_the_module_does_not_have(build: Any, untouched: Snapshot) -> None:
    build.root.register_buffer("weight", torch.ones(2))
    missing = build.attribute("weight", build.fake(2))
    missing.meta["stack_trace"] = LINE
    gm = build.module((missing,))
    missing.target = "block.weight"
    error = refusal(gm, untouched)
    assert "the module has no attribute 'block.weight'" in str(error)
    assert "model.py:41" in str(error)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ((torch.empty(2), torch.empty(2)), "a tuple of 2"),
        (torch.empty(2), "one Tensor"),
        (None, "one NoneType"),
    ],
)
def test_stale_metadata_of_a_tuple(build: Any, untouched: Snapshot, value: Any, found: str) -> None:
    x = build.tensor("x", 2, 4)
    norm = build.call(aten.native_layer_norm.default, x, [4], None, None, 1e-5)
    norm.meta["stack_trace"] = LINE
    norm.meta["val"] = value
    error = refusal(build.module((norm,)), untouched)
    assert error.node is norm
    assert f"records {found}, aten.native_layer_norm.default returns 3 values" in str(error)
    assert "model.py:41" in str(error)


def test_a_tuple_where_one_value_is_returned(build: Any, untouched: Snapshot) -> None:
    x = build.tensor("x", 2)
    node = build.call(aten.relu.default, x, value=(build.fake(2),))
    assert "records a tuple of 1, aten.relu.default returns 1 values" in str(
        refusal(build.module((node,)), untouched)
    )
    other = type(build)()
    x = other.tensor("x", 2)
    split = other.call(aten.split.Tensor, x, 1, value=other.fake(1))
    assert "returns a list" in str(refusal(other.module((split,)), untouched))


def test_getitem_behind_the_end(build: Any, untouched: Snapshot) -> None:
    import operator

    x = build.tensor("x", 4)
    split = build.call(aten.split.Tensor, x, 2)
    item = build.call(operator.getitem, split, 2, value=build.fake(2))
    item.meta["stack_trace"] = LINE
    error = refusal(build.module((item,)), untouched)
    assert error.node is item
    assert "index 2 of a tuple of 2 values" in str(error)
    assert "stale" in str(error)


@pytest.mark.parametrize(
    ("target", "arguments", "keywords", "problem"),
    [
        (aten.mm.default, 1, {}, "aten.mm.default needs its argument 'mat2'"),
        (aten.mm.default, 3, {}, "3 positional arguments given, aten.mm.default takes 2"),
        (aten.add.Tensor, 3, {}, "3 positional arguments given, aten.add.Tensor takes 2"),
        (aten.mm.default, 2, {"beta": 1}, "has no argument ['beta']"),
        (aten.mm.default, 2, {"mat2": 1}, "has it twice"),
    ],
)
def test_arguments_that_do_not_fit(
    build: Any,
    untouched: Snapshot,
    target: Any,
    arguments: int,
    keywords: dict[str, Any],
    problem: str,
) -> None:
    x = build.tensor("x", 2, 2)
    node = build.call(target, *[x] * arguments, value=build.fake(2, 2), **keywords)
    node.meta["stack_trace"] = LINE
    error = refusal(build.module((node,)), untouched)
    assert error.node is node
    assert problem in str(error)
    assert "model.py:41" in str(error)


def test_example_inputs_that_do_not_fit(untouched: Snapshot) -> None:
    gm = fx.symbolic_trace(lambda x, y: x @ y)
    assert "1 example inputs for 2 placeholders" in str(
        refusal(gm, untouched, example_inputs=[torch.ones(2, 2)])
    )
    inputs = [torch.ones(2, 3), torch.ones(2, 3)]
    error = refusal(gm, untouched, example_inputs=inputs)
    assert error.node is not None
    assert error.node.name == "matmul"
    assert "cannot be run on the example inputs" in str(error)


def test_example_inputs_give_the_types(lower: Any) -> None:
    gm = fx.symbolic_trace(lambda x, y: torch.split(x @ y, 1)[0])
    _, text = lower(gm, "pre_grad", example_inputs=[torch.ones(2, 3), torch.ones(3, 2)])
    assert "!fx.tensor<f32[1, 2], cpu>" in text


def test_wrong_calls_of_from_fx(build: Any) -> None:
    with pytest.raises(
        ValueError, match="unknown stage 'final'; expected one of pre_grad, joint, post_grad"
    ):
        from_fx(build.module(()), "final")
    with pytest.raises(
        TypeError, match=r"takes an fx\.GraphModule or an ExportedProgram, not Linear"
    ):
        from_fx(torch.nn.Linear(1, 1))  # type: ignore[arg-type]


def test_a_call_for_an_effect_needs_no_run(build: Any) -> None:
    """Where all values are recorded that lowering reads, nothing is computed again."""
    x = build.tensor("x", 2)
    gm = build.module((build.call(aten.relu.default, x),))
    with gm.graph.inserting_before(next(iter(gm.graph.find_nodes(op="output")))):
        gm.graph.call_function(torch._C._log_api_usage_once, ("a.module",))
    assert recovered_values(gm, "joint", [torch.ones(2)]) == {}
    text = print_ir(from_fx(gm, "joint", example_inputs=[torch.ones(2)]))
    assert "torch._C._log_api_usage_once" in text


def test_only_what_is_missing_is_run(build: Any) -> None:
    """What is recorded may have been found with guards that running it again would add."""
    x = build.tensor("x", 2)
    middle = build.call(aten.relu.default, x)
    last = build.call(aten.neg.default, middle)
    gm = build.module((last,))
    del last.meta["val"]
    found = recovered_values(gm, "joint", [x.meta["val"]])
    assert found[middle] is middle.meta["val"]
    assert found[last].shape == (2,)
