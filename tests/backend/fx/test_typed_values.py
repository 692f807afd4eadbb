"""A value made from the type of a call's result is what running the call would give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.fx as fx
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

import xductor
from xductor.backend.fx import typed_values, value_metadata
from xductor.backend.fx.call_arguments import RaisingError, ValueNodes
from xductor.backend.fx.export import to_fx
from xductor.backend.fx.typed_values import MISSING, value_of_type
from xductor.backend.fx.value_metadata import run_on_recorded
from xductor.ir import ArgsAttr, ListArg, Ref, TensorType, TorchOp, entry_graph, op_class_by_name
from xductor.ir.inference.value_types import leaves_of

aten = torch.ops.aten

Program = Callable[[torch.Tensor, torch.Tensor], Any]

SHARED: dict[str, Program] = {
    "view": lambda x, y: aten.view.default(x, [-1]),
    "permute": lambda x, y: aten.permute.default(x, [1, 0]),
    "select": lambda x, y: aten.select.int(x, 0, 1),
    "slice of a slice": lambda x, y: x[1:, 1:][1:, :2],
    "expand": lambda x, y: aten.expand.default(x[:1], [5, -1]),
    "diagonal": lambda x, y: torch.diagonal(x),
    "alias": lambda x, y: aten.alias.default(x),
    "as_strided": lambda x, y: aten.as_strided.default(x, [2, 2], [1, 2], 3),
    "another dtype": lambda x, y: aten.view.dtype(x, torch.int32),
    "a view of what is computed": lambda x, y: (x @ y).unsqueeze(0),
    "a write": lambda x, y: x.clone().copy_(y),
}
OWN: dict[str, Program] = {
    "add": lambda x, y: x + y,
    "mm": lambda x, y: x @ y,
    "clone of a permuted": lambda x, y: x.permute(1, 0).clone(),
    "cat": lambda x, y: torch.cat([x, y]),
    "sum": lambda x, y: x.sum(),
    "comparison": lambda x, y: x < y,
    "ones": lambda x, y: torch.ones_like(x, dtype=torch.float64),
}
RUN: dict[str, Program] = {
    "several results": lambda x, y: torch.split(x, 2)[0],
    "conjugate bits": lambda x, y: torch.complex(x, y).conj(),
    "sizes": lambda x, y: torch.nonzero(x),
    "a write that changes the view": lambda x, y: x.clone().t_(),
}


def _ops(program: Program, dynamic: bool) -> list[tuple[Any, fx.Node, ValueNodes, Any]]:
    """The calls of a traced program with their nodes, and what reads the types of its values."""
    mode = "symbolic" if dynamic else "fake"
    gm = make_fx(program, tracing_mode=mode)(torch.randn(4, 4), torch.randn(4, 4))
    source = entry_graph(xductor.from_fx(gm, "post_grad"))
    nodes = ValueNodes(gm.graph, source, lambda name: None)  # type: ignore[arg-type, return-value]
    for argument, node in zip(source.arguments, gm.graph.find_nodes(op="placeholder"), strict=True):
        nodes.of_value[argument] = node
        nodes.arguments.append(node)
    found = []
    for op in source.block.ops:
        node = op.node.origin  # type: ignore[attr-defined]
        if op.results:
            nodes.define(op, node)  # type: ignore[arg-type]
            found.append((op, node, nodes, source.live.types))
    return found


def _storage(value: Any) -> int | None:
    return value.untyped_storage()._cdata if isinstance(value, torch.Tensor) else None


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", {**SHARED, **OWN})
def test_as_running_the_call(name: str, dynamic: bool) -> None:
    made = []
    for op, node, nodes, reader in _ops({**SHARED, **OWN}[name], dynamic):
        if not isinstance(node.target, torch._ops.OpOverload):
            continue
        value = value_of_type(op, nodes, reader)
        if value is MISSING:
            continue
        made.append(op)
        ran = run_on_recorded(node, "val", reader.fake_mode)
        assert type(value) is FakeTensor
        assert value.fake_mode is reader.fake_mode
        assert reader.type_of(value) == reader.type_of(ran) == op.results[0].type
        assert value.requires_grad is ran.requires_grad
        if not dynamic:
            sizes = [one.untyped_storage().nbytes() for one in (value, ran)]
            assert sizes[0] == sizes[1]
        for used in node.all_input_nodes:
            storage = _storage(used.meta["val"])
            assert (_storage(value) == storage) is (_storage(ran) == storage)
    last = _ops({**SHARED, **OWN}[name], dynamic)[-1][0]
    assert [op.name for op in made][-1] == last.name  # it is the last call that is meant
    made_last = made[-1]
    shares = typed_values.result_aliases(made_last)[0] is not None
    assert shares is (name in SHARED)


@pytest.mark.parametrize("name", RUN)
def test_what_types_do_not_say_is_run(name: str) -> None:
    values = [
        value_of_type(op, nodes, reader)
        for op, node, nodes, reader in _ops(RUN[name], False)
        if isinstance(node.target, torch._ops.OpOverload)
    ]
    assert any(value is MISSING for value in values)


def test_what_only_may_be_a_view_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    ((op, _, nodes, reader),) = _ops(SHARED["view"], False)
    assert value_of_type(op, nodes, reader) is not MISSING
    monkeypatch.setattr(typed_values, "result_aliases", lambda op: ((0, False),))
    assert value_of_type(op, nodes, reader) is MISSING


#: Whether the last view is contiguous depends on sizes of which nothing is known.
UNGUARDED: dict[str, Program] = {
    "expanded": lambda x, y: x.view(-1).expand(3, -1) + 1,
    "columns": lambda x, y: aten.slice.Tensor(x, 1, 0, 3),
    "a part of a part": lambda x, y: aten.slice.Tensor(aten.slice.Tensor(x, 1, 0, 3), 1, 0, 2),
    "strided": lambda x, y: aten.as_strided.default(x, [3, 2], [x.size(1), 1], 0),
}


@pytest.mark.parametrize("name", UNGUARDED)
def test_a_guard_is_never_added(name: str) -> None:
    made = 0
    for op, node, nodes, reader in _ops(UNGUARDED[name], True):
        env = reader.shape_env
        before = len(env.guards), dict(env.replacements), dict(env.var_to_range)
        value = value_of_type(op, nodes, reader)
        assert (len(env.guards), env.replacements, env.var_to_range) == before
        if value is not MISSING:
            made += 1
            assert reader.type_of(value) == op.results[0].type
            shares = typed_values.result_aliases(op)[0] is not None
            assert (_storage(value) == _storage(node.meta["val"])) is shares
    assert made


def test_what_is_known_as_a_constant_is_run() -> None:
    with FakeTensorMode() as mode:
        known = torch.tensor(3)
        assert known.constant is not None  # type: ignore[attr-defined]
    gm = make_fx(lambda x: x.clone(), tracing_mode="fake")(torch.tensor(3))
    x, clone, _ = gm.graph.nodes
    x.meta["val"], clone.meta["val"] = known, known
    source = entry_graph(xductor.from_fx(gm, "post_grad"))
    nodes = ValueNodes(gm.graph, source, lambda name: None)  # type: ignore[arg-type, return-value]
    nodes.of_value[source.arguments[0]] = x
    op: Any = source.block.first_op
    assert source.live.types.fake_mode is mode
    assert value_of_type(op, nodes, source.live.types) is MISSING


def _with_new_view(wrong: bool = False) -> tuple[fx.GraphModule, Any]:
    """A graph, and its module with one call more: a view, said to have a type."""
    gm = make_fx(lambda x: x.neg(), tracing_mode="fake")(torch.ones(2, 3))
    module = xductor.from_fx(gm, "post_grad")
    graph = entry_graph(module)
    neg: Any = graph.block.first_op
    shape = (6,) if not wrong else (5,)
    type_ = TensorType.get(torch.float32, shape, (1,), torch.device("cpu"))
    cls: Any = op_class_by_name("aten.view.default")
    node = neg.node.inherited(("viewed",), "")
    view = cls.make(ArgsAttr((Ref(0), ListArg((6,)))), [neg.results[0]], [type_], node)
    graph.block.insert_op_after(view, neg)
    graph.output.operands[0] = view.results[0]
    return gm, module


def _viewed(gm: fx.GraphModule) -> fx.Node:
    (found,) = gm.graph.find_nodes(op="call_function", target=aten.view.default)
    return found


@pytest.mark.parametrize("values", ["run", "types", "checked"])
def test_a_new_view_shares_the_storage(values: Any) -> None:
    gm, module = _with_new_view()
    to_fx(module, into=gm, values=values)
    view = _viewed(gm)
    (neg,) = view.all_input_nodes
    assert _storage(view.meta["val"]) == _storage(neg.meta["val"])
    assert view.meta["val"].shape == (6,)
    assert view.meta["tensor_meta"].shape == (6,)


@pytest.mark.parametrize("values", ["run", "checked"])
def test_a_type_that_is_wrong(values: Any) -> None:
    gm, module = _with_new_view(wrong=True)
    with pytest.raises(RaisingError, match=r"the rewrite said !fx.tensor<f32\[5\]"):
        to_fx(module, into=gm, values=values)


def test_alias_facts_that_are_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    gm, module = _with_new_view()
    before = gm.code
    monkeypatch.setattr(typed_values, "result_aliases", lambda op: (None,))
    with pytest.raises(RaisingError, match=r"shares its storage with 'neg', the alias facts say"):
        to_fx(module, into=gm, values="checked")
    assert gm.code == before


BEFORE_AUTOGRAD: dict[str, Program] = {
    "a function": lambda x, y: torch.add(x, y),
    "a method that views": lambda x, y: x.transpose(0, 1),
    "a view of what is computed": lambda x, y: (x @ y).unsqueeze(0),
    "attention": lambda x, y: torch.nn.functional.scaled_dot_product_attention(x, x, y),
    "no gradient": lambda x, y: x < y,
    "detached": lambda x, y: x.detach(),
    "several results": lambda x, y: x.split(2)[0],
    "pieces of sizes": lambda x, y: torch.split(x, [1, 3], dim=1)[1],
    "pieces of a number": lambda x, y: x.chunk(3, dim=-1)[0],
    "rows": lambda x, y: torch.unbind(x.detach(), 1)[2],
    "results of two storages": lambda x, y: torch.frexp(x.detach())[0],
    "a size": lambda x, y: x.reshape(y.size(0), -1),
    "a write": lambda x, y: x.clone().add_(y),
}


def _before_autograd(program: Program, grad: bool, dynamic: bool) -> tuple[fx.GraphModule, Any]:
    """Dynamo's graph of a program, and its module with every call put there anew."""
    seen: list[tuple[fx.GraphModule, Any]] = []

    def backend(gm: fx.GraphModule, inputs: Any) -> Any:
        module = xductor.from_fx(gm, "pre_grad", example_inputs=inputs)
        block = entry_graph(module).block
        for op in list(block.ops):
            if (
                isinstance(op, TorchOp)
                and op.results
                and op.fx_op in ("call_function", "call_method")
            ):
                new = op.make(
                    op.args, op._operands, [one.type for one in op.results],
                    op.node.inherited(("",) * len(op.results)),
                    structure=op.structure, aliases=op.aliases,
                )  # fmt: skip
                block.insert_op_before(new, op)
                op.results[0].replace_all_uses_with(new.results[0])
                for old, one in zip(op.results[1:], new.results[1:], strict=True):
                    old.replace_all_uses_with(one)
                block.erase_op(op)
        seen.append((gm, module))
        return gm.forward

    torch._dynamo.reset()
    inputs = [torch.randn(4, 4, requires_grad=grad) for _ in range(2)]
    torch.compile(program, backend=backend, dynamic=dynamic, fullgraph=True)(*inputs)
    return seen[0]


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("grad", [False, True], ids=["inference", "training"])
@pytest.mark.parametrize("name", BEFORE_AUTOGRAD)
def test_as_running_the_call_before_autograd(name: str, grad: bool, dynamic: bool) -> None:
    found = {}
    for values in ("run", "types", "checked"):
        gm, module = _before_autograd(BEFORE_AUTOGRAD[name], grad, dynamic)
        reader = entry_graph(module).live.types
        to_fx(module, into=gm, values=values)
        calls = [node for node in gm.graph.nodes if node.op.startswith("call")]
        assert all("example_value" in node.meta for node in calls)
        recorded = [node.meta["example_value"] for node in calls]
        found[values] = [
            (
                type(value),
                reader.type_of(part),
                [_storage(used.meta["example_value"]) == _storage(part)
                 for used in node.all_input_nodes],
                isinstance(part, torch.Tensor) and part.is_leaf,
            )
            for node, value in zip(calls, recorded, strict=True)
            for part in leaves_of(value)
        ]  # fmt: skip
    assert found["run"] == found["types"] == found["checked"]


@pytest.mark.parametrize("name", ["attention", "several results", "pieces of sizes", "rows"])
def test_calls_before_autograd_that_were_inferred_are_not_run(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    ran: list[str] = []
    run = value_metadata.run_on_recorded
    monkeypatch.setattr(
        value_metadata,
        "run_on_recorded",
        lambda node, key, mode: ran.append(node.name) or run(node, key, mode),
    )
    gm, module = _before_autograd(BEFORE_AUTOGRAD[name], True, False)
    to_fx(module, into=gm, values="types")
    assert ran == []


def test_a_type_before_autograd_that_is_wrong() -> None:
    gm, module = _before_autograd(BEFORE_AUTOGRAD["a function"], False, False)
    op: Any = entry_graph(module).block.first_op
    wrong = TensorType(op.results[0].type.data._replace(dtype=torch.float16))
    op.results[0]._type = wrong
    with pytest.raises(RaisingError, match=r"the rewrite said !fx.tensor<f16"):
        to_fx(module, into=gm, values="types")


@pytest.mark.parametrize("empty", [True, False], ids=["empty", "one row"])
def test_where_a_tensor_without_elements_begins_does_not_matter(empty: bool) -> None:
    """`FakeTensor` may give an empty view of an empty view the offset of an earlier one."""

    def program(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.relu(x)[: 0 if empty else 1].reshape(-1)

    gm, module = _before_autograd(program, False, False)
    (reshape,) = (op for op in entry_graph(module).block.ops if op.name.endswith("reshape"))
    result: Any = reshape.results[0]
    result._type = TensorType(result.type.data._replace(offset=4))
    if empty:
        to_fx(module, into=gm, values="types")
        return
    with pytest.raises(RaisingError, match="offset 4"):
        to_fx(module, into=gm, values="types")
