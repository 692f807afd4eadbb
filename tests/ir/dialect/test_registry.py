# ruff: noqa: E501 - lines of IR text stay whole
"""Every overload PyTorch has a kernel for becomes an op class, and a call of it survives text."""

import collections
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch._ops import OpOverload
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block
from xdsl.utils.exceptions import ParseError, VerifyException

from xductor.ir import (
    ArgsAttr,
    GraphOp,
    ListArg,
    NodeMeta,
    OutputOp,
    Ref,
    SchemaOp,
    TensorType,
    TorchOp,
    aten,
    op_class,
    op_class_by_name,
    ops,
    parse_ir,
    print_ir,
    same,
    verify,
)
from xductor.ir.dialect import registry
from xductor.ir.dialect.arguments import Handle
from xductor.ir.dialect.graph import raw_args
from xductor.ir.dialect.registry import UnknownOp, dispatcher_overloads
from xductor.ir.dialect.results import StructureAttr
from xductor.ir.dialect.schema import Param, accessor_name

X = TensorType.get(torch.float32, (2, 3))

CONSTANTS: dict[str, Any] = {
    "int": 3,
    "float": -0.0,
    "bool": True,
    "scalar": complex(1.5, float("nan")),
    "str": 'a "quoted"\n\\ text é',
    "dtype": torch.bfloat16,
    "device": torch.device("cuda", 1),
    "layout": torch.sparse_csr,
    "memory_format": torch.channels_last,
    "object": Handle("torch.Generator", "0"),
}


@pytest.mark.parametrize("target", [torch.Tensor.set_, torch.Tensor.add, torch.relu, len])
def test_a_target_is_no_method_of_its_op(target: Any) -> None:
    """Methods of tensors are targets, too: `x.data = y` is a call of `torch.Tensor.set_`."""
    cls = op_class(target)
    assert cls is not None
    assert cls.target is target
    assert object.__new__(cls).target is target


def overloads(namespace: str) -> Iterator[OpOverload]:
    import torch._prims

    schemas = torch._C._jit_get_all_schemas()
    names = {schema.name for schema in schemas if schema.name.startswith(f"{namespace}::")}
    for name in sorted(names):
        packet = getattr(getattr(torch.ops, namespace), name.partition("::")[2])
        for overload in dispatcher_overloads(packet):
            yield getattr(packet, overload)


def item(param: Param, lists: int, block: Block, operands: list[Any]) -> Any:
    """An argument that fits: a new block argument for a tensor, a constant for the rest."""
    if lists:
        elements = [item(param, lists - 1, block, operands) for _ in range(2)]
        if param.optional_elements and lists == 1:
            elements.append(None)
        return ListArg(elements)
    if param.kind == "tensor":
        operands.append(block.insert_arg(X, len(block.args)))
        return Ref(len(operands) - 1)
    return CONSTANTS[param.kind]


def call_of(cls: type[SchemaOp], *, defaults: bool) -> ModuleOp:
    """A graph with one call: every argument given, or every default left in place."""
    block = Block()
    operands: list[Any] = []
    data: list[Any] = []
    for param, default in zip(cls.table.params, cls.table.defaults, strict=True):
        data.append(
            default if defaults and param.has_default else item(param, param.lists, block, operands)
        )
    returns = cls.table.returns
    types = [X] * (2 if returns is None else returns)
    names = tuple(f"r{index}" for index in range(len(types)))
    block.add_op(cls.make(ArgsAttr(tuple(data)), operands, types, NodeMeta(names, node="call")))
    op = block.last_op
    assert op is not None
    out = raw_args((tuple(Ref(index) for index in range(len(types))),))
    block.add_op(OutputOp.make(out, op.results, (), NodeMeta((), node="output")))
    return ModuleOp([GraphOp("forward", "joint", block)])


@pytest.mark.parametrize(("namespace", "at_least"), [("aten", 3000), ("prims", 120)])
def test_every_overload_with_a_kernel(namespace: str, at_least: int) -> None:
    """One text for each hundred calls: printing and parsing take most of the time."""
    failures: list[str] = []
    count = 0
    pending: list[tuple[str, GraphOp]] = []

    def flush() -> None:
        graphs = [graph for _, graph in pending]
        module = ModuleOp([])
        for index, graph in enumerate(graphs):
            parent = graph.parent
            if parent is not None:
                graph.detach()
            graph.properties["sym_name"] = type(graph.sym_name)(f"g{index}")
            module.body.block.add_op(graph)
        parsed = parse_ir(print_ir(module))
        verify(parsed, "structure")
        assert same(module, parsed), [name for name, _ in pending]
        pending.clear()

    for overload in overloads(namespace):
        count += 1
        name = registry.overload_name(overload)
        cls = op_class(overload)
        if cls is None or not issubclass(cls, SchemaOp) or op_class_by_name(name) is not cls:
            failures.append(name)
            continue
        for defaults in (False, True) if count % 8 == 0 else (False,):
            module = call_of(cls, defaults=defaults)
            (graph,) = module.ops
            assert isinstance(graph, GraphOp)
            pending.append((name, graph))
        if len(pending) >= 200:
            flush()
    flush()
    assert not failures
    assert count >= at_least


def test_accessors_read_the_arguments() -> None:
    x, y = Block(arg_types=[X, X]).args
    op = aten.add.Tensor.op_class.make(ArgsAttr((Ref(0), Ref(1), 2)), [x, y], [X])
    assert op.self_ is x
    assert (op.other, op.alpha) == (y, 2)
    assert op.argument("alpha") == 2
    with pytest.raises(
        AttributeError, match=r"aten.add.Tensor has no argument 'beta'; it has: self, other, alpha"
    ):
        op.argument("beta")
    cat = aten.cat.default.op_class.make(ArgsAttr((ListArg([Ref(0), Ref(1)]), 1)), [x, y], [X])
    assert cat.tensors == ListArg([x, y])


def test_accessors_never_hide_members_of_an_op() -> None:
    """An argument called like something an op has (`name`, `args`) is reached with an underscore."""
    taken: collections.Counter[str] = collections.Counter()
    for overload in [*overloads("aten"), *overloads("prims")]:
        for argument in overload._schema.arguments:
            name = accessor_name(argument.name)
            assert not hasattr(TorchOp, name), f"{overload}: {argument.name}"
            taken[argument.name] += name != argument.name
    assert taken["self"] > 1000


def test_overloads_that_only_torchscript_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_by_name", {})  # another test may have lowered such a call
    assert "default" in torch.ops.aten.add.overloads()
    assert "default" not in dispatcher_overloads(torch.ops.aten.add)
    with pytest.raises(
        UnknownOp, match=r"'aten.add' has no overload 'default'; it has: Tensor, Scalar"
    ):
        op_class_by_name("aten.add.default")


@pytest.fixture
def library() -> Iterator[str]:
    """A third party's library, with names full of underscores."""
    with torch.library._scoped_library("my_lib_2", "DEF") as lib:
        lib.define(
            "_fused__op_(Tensor self, *, float eps_=1e-5, str mode='a') -> (Tensor, Tensor[])"
        )
        lib.define("scale.by_int(Tensor x, SymInt[2] by, Tensor?[] rest) -> Tensor")
        lib.impl(
            "_fused__op_", lambda self, *, eps_, mode: (self, [self]), "CompositeExplicitAutograd"
        )
        yield "my_lib_2"


def test_a_third_partys_op(library: str) -> None:
    cls = op_class_by_name("my_lib_2._fused__op_.default")
    assert cls is op_class(torch.ops.my_lib_2._fused__op_.default)
    assert ops.my_lib_2._fused__op_.default.op_class is cls
    text = """
fx.graph @forward stage(joint) (%x : !fx.tensor<f32[2], cpu>) {
  %a, %b = my_lib_2._fused__op_.default %x, mode = "b" : !fx.tensor<f32[2], cpu>, !fx.tensor<f32[2], cpu> as (*, (*,))
  %c = my_lib_2.scale.by_int %x, [3, 4], [none, %a] : !fx.tensor<f32[2], cpu>
  fx.output (%b, %c)
}
"""
    module = parse_ir(text)
    verify(module, "structure")
    assert same(module, parse_ir(print_ir(module)))
    (graph,) = module.ops
    assert isinstance(graph, GraphOp)
    op = graph.block.first_op
    assert isinstance(op, SchemaOp)
    assert op.argument("eps_") == 1e-5
    assert op.argument("mode") == "b"
    assert op.structure == StructureAttr(("*", ("*",)))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nobody.fused.default", r"op 'nobody::fused' is not registered .* import the package"),
        ("aten.reluu.default", r"'aten::reluu' is not registered .* no op of the 'aten' library"),
        ("aten.relu.out_of", r"'aten.relu' has no overload 'out_of'; it has: default"),
        ("aten.relu", r"'aten.relu' is no op name; expected namespace.op.overload"),
        ("higher_order.loop", r"no higher-order op 'loop' is registered; import the module"),
        ("pyfn.somewhere.f", r"somewhere"),
    ],
)
def test_names_that_nobody_registered(name: str, message: str) -> None:
    with pytest.raises(UnknownOp, match=message):
        op_class_by_name(name)
    text = f"fx.graph @f () {{\n  %x = {name} : !fx.none\n  fx.output ()\n}}\n"
    with pytest.raises(ParseError, match=message):
        parse_ir(text)


def test_namespaces_name_what_is_missing() -> None:
    with pytest.raises(AttributeError, match="'aten' has no operator 'nothing'"):
        _ = aten.nothing.default
    assert ops.aten.mm.default.op_class is aten.mm.default.op_class


def test_one_class_for_a_callable_and_its_name() -> None:
    import operator

    for target in (
        torch.relu,
        operator.add,
        torch.nn.functional.linear,
        torch.ops.higher_order.cond,
    ):
        cls = op_class(target)
        assert cls is not None
        assert op_class_by_name(cls.name) is cls
        assert cls.target is target
    assert registry.method_class("view").name == "method.view"


SAMPLE = """
fx.graph @forward stage(joint) symbols(s0 : int positive [2, int_oo] hint 4) (%x : !fx.tensor<f32[s0, 4], cpu>, %n : !fx.symint<s0>) {
  %add = aten.add.Tensor %x, 1.0, alpha = 2 : !fx.tensor<f32[s0, 4], cpu>
  %a, %b = aten.split.Tensor %add, 2, 1 : !fx.tensor<f32[s0, 2][4, 1], cpu>, !fx.tensor<f32[s0, 2][4, 1], cpu, offset 2>
  %cat = aten.cat.default [%a, %b], 1 : !fx.tensor<f32[s0, 4], cpu>
  %full = aten.full.default [%n, 2], -0.0 : !fx.tensor<f32[s0, 2], cpu>
  %index = aten.index.Tensor %x, [none, %a] : !fx.tensor<f32[s0, 4], cpu>
  %max = pyfn.builtins.max %n, 2 : !fx.symint<max(2, s0)>
  fx.output (%cat, %full, %index, %max)
}
"""


def generic_verify(op: TorchOp) -> None:
    """xDSL's own verifier, from the op's declarative definition."""
    op.get_irdl_definition().verify(op)


def test_the_generic_verifier_agrees() -> None:
    module = parse_ir(SAMPLE)
    verify(module, "structure")
    graph = next(iter(module.ops))
    assert isinstance(graph, GraphOp)
    calls = [op for op in graph.block.ops if isinstance(op, TorchOp)]
    for op in calls:
        generic_verify(op)
    for op in calls[:4]:
        saved = dict(op.properties)
        del op.properties["args"]
        for check in (generic_verify, lambda broken: broken.verify()):
            with pytest.raises(VerifyException):
                check(op)
        op.properties.update(saved)
        op.properties["args"] = NodeMeta(())
        for check in (generic_verify, lambda broken: broken.verify()):
            with pytest.raises(VerifyException):
                check(op)
        op.properties.update(saved)
