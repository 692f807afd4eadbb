# ruff: noqa: E501 - lines of IR text stay whole
"""Text is complete and stable: parse(print(m)) is m, and errors say where and what was expected."""

import math
import struct
from io import StringIO
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError

from xductor.ir import (
    ArgsAttr,
    GraphOp,
    ListArg,
    NodeMeta,
    ObjectType,
    OutputOp,
    Ref,
    SymbolRef,
    SymbolTable,
    SymBoolType,
    SymFloatType,
    SymIntType,
    TensorType,
    TorchOp,
    aten,
    op_class,
    parse_ir,
    print_ir,
    same,
    verify,
)
from xductor.ir.dialect.arguments import DictArg, FunctionArg, Handle, Pack, SizeArg, SliceArg
from xductor.ir.dialect.graph import raw_args
from xductor.ir.dialect.registry import method_class
from xductor.ir.dialect.results import AliasAttr, StructureAttr
from xductor.ir.dialect.symbol_attr import Ambient
from xductor.ir.dialect.types import NONE
from xductor.ir.symbolic.expressions import parse_expr
from xductor.ir.symbolic.symbols import SymbolInfo
from xductor.ir.text.printing import definitions, printing_locations

SAMPLE = """builtin.module {
  fx.graph @forward stage(pre_grad) symbols(s0 : int positive [2, int_oo] hint 4 source "L['x'].size()[0]") ambient(autocast cpu bf16, grad false) (%x : !fx.tensor<f32[s0, 4], cpu, requires_grad>, %n : !fx.symint<s0>) {
    %add = aten.add.Tensor %x, 1.0, alpha = 2 : !fx.tensor<f32[s0, 4], cpu> {tag = "is_forward", recompute = "MUST_SAVE"} loc("a \\"b\\".py":3)
    %a, %split#1 = aten.split.Tensor %add, 2, 1 : !fx.tensor<f32[s0, 2][4, 1], cpu>, !fx.tensor<f32[s0, 2][4, 1], cpu, offset 2> {node = "split"}
    %t = method.t %a : !fx.tensor<f32[2, s0][1, 4], cpu> aliases(0)
    %cat = pyfn.torch.cat pack(%a, %split#1), dim = 1 : !fx.tensor<f32[s0, 4], cpu> loc("m.py":9)
    %weird = "module.a-b" %cat : !fx.tensor<f32[s0, 4], cpu>
    aten._assert_async.msg %cat, "no" {node = "check"}
    fx.output (%cat, %t, [none, 3], %weird)
  }
  fx.graph @"body 1" stage(pre_grad) () declared
}
"""


def generic(module: ModuleOp) -> str:
    stream = StringIO()
    Printer(stream=stream, print_generic_format=True).print_op(module)
    return stream.getvalue()


def test_text_is_a_fixed_point() -> None:
    module = parse_ir(SAMPLE)
    verify(module, "structure")
    assert print_ir(module) == SAMPLE
    assert same(module, parse_ir(SAMPLE))


@pytest.mark.parametrize("name", ["body 1", "caf\u00e9", "\u4f60 \u597d", 'a"b\\c', "a\nb\tc"])
def test_any_name_of_a_graph_is_read_again(name: str) -> None:
    block = Block()
    block.add_op(OutputOp.make(raw_args(((),)), (), (), NodeMeta((), node="output")))
    module = ModuleOp([GraphOp(name, "joint", block)])
    texts = [print_ir(module)]
    if name.isascii():  # xDSL's generic format reads what it writes of others as bytes
        texts.append(generic(module))
    for text in texts:
        (graph,) = parse_ir(text).ops
        assert isinstance(graph, GraphOp)
        assert graph.sym_name.data == name


def test_a_clone_is_the_same() -> None:
    module = parse_ir(SAMPLE)
    clone = module.clone()
    assert clone is not module
    assert same(clone, module)
    assert print_ir(clone) == SAMPLE


def test_the_generic_format_carries_all_of_it() -> None:
    module = parse_ir(SAMPLE)
    text = generic(module)
    assert '"aten.add.Tensor"(%' in text
    parsed = parse_ir(text)
    assert same(parsed, module)
    assert print_ir(parsed) == SAMPLE


def test_a_generic_op_among_others() -> None:
    body = """fx.graph @f stage(joint) (%a : !fx.tensor<f32[2], cpu>, %b : !fx.tensor<f32[2], cpu>) {{
      {0}
      fx.output (%c,)
    }}"""
    ours = parse_ir(body.format("%c = aten.add.Tensor %a, %b, alpha = 2 : !fx.tensor<f32[2], cpu>"))
    theirs = parse_ir(
        body.format(
            '%c = "aten.add.Tensor"(%a, %b) <{args = #fx.args<%0, %1, 2>}> '
            ": (!fx.tensor<f32[2], cpu>, !fx.tensor<f32[2], cpu>) -> !fx.tensor<f32[2], cpu>"
        )
    )
    assert same(ours, theirs)


DIFFERENCES = [
    ("alpha = 2", "alpha = 2.0"), ("1.0, alpha", "true, alpha"), ("%add = ", "%sum = "), ("4], cpu, requires_grad>, %n", "4], cuda:0, requires_grad>, %n"),
    ("hint 4", "hint 5"), ("grad false", "grad true"), ("is_forward", "is_backward"), ("m.py", "n.py"),
    ("aliases(0)", "aliases(may 0)"), ("pack(%a, %split#1)", "(%a, %split#1)"), ('"split"', '"split_2"'),
    ("@forward", "@backward"), ("stage(pre_grad) symbols", "stage(joint) symbols"), ("%a, %split#1 = ", "%a, %b = "),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new"), DIFFERENCES, ids=[old for old, _ in DIFFERENCES])
def test_modules_that_are_not_the_same(old: str, new: str) -> None:
    assert SAMPLE.count(old) >= 1
    changed = SAMPLE.replace(old, new)
    if old in ("%add = ", "%a, %split#1 = "):
        name, renamed = ("%add,", "%sum,") if old == "%add = " else ("%split#1)", "%b)")
        changed = changed.replace(name, renamed)
    other = parse_ir(changed)
    assert not same(parse_ir(SAMPLE), other)
    assert print_ir(other) != SAMPLE


def test_ops_built_without_names_get_stable_ones() -> None:
    x = TensorType.get(torch.float32, (2,))
    block = Block(arg_types=[x])
    value: SSAValue = block.args[0]
    for _ in range(2):
        op = aten.neg.default.op_class.make(ArgsAttr((Ref(0),)), [value], [x])
        block.add_op(op)
        value = op.results[0]
    split = aten.split.Tensor.op_class.make(ArgsAttr((Ref(0), 1, 0)), [value], [x, x])
    block.add_op(split)
    block.add_op(
        OutputOp.make(raw_args(((Ref(0), Ref(1)),)), split.results, (), NodeMeta((), node="output"))
    )
    module = ModuleOp([GraphOp("f", "joint", block, arguments=["neg"])])
    text = print_ir(module)
    for words in (
        "%neg_1 = aten.neg.default %neg",
        "%neg_2 = aten.neg.default %neg_1",
        "%split#0, %split#1 = ",
    ):
        assert words in text
    parsed = parse_ir(text)
    assert same(parsed, module)
    assert print_ir(parsed) == text


def test_comments_and_line_breaks() -> None:
    module = parse_ir("""// A comment, then a graph without builtin.module.
    fx.graph @f // the name
      stage(joint) ( // arguments
        %x : !fx.tensor<f32[2], cpu>, // the last may have a comma
      ) {
      // A comment of its own
      %y = aten.add.Tensor %x,
        // between arguments
        1.0,
        alpha = 3
        : !fx.tensor<f32[2], cpu> // at the end
      %z = method.size
      : !fx.symint<2>
      fx.output (%y, "// no comment", %z)
    }""")
    text = print_ir(module)
    assert "%y = aten.add.Tensor %x, 1.0, alpha = 3 : !fx.tensor<f32[2], cpu>\n" in text
    assert 'fx.output (%y, "// no comment", %z)' in text


TYPES: list[Any] = [
    TensorType.get(torch.complex64, (2, parse_expr("s0 + 1")), device="cuda:1", flags=("conj", "neg")),
    TensorType.get(torch.float8_e4m3fn, (), device="meta", offset=parse_expr("2*s0")),
    TensorType.get(torch.float32, (0, 3, 1)),
    TensorType.get(torch.float32, (parse_expr("floordiv(s0, 2)"), 1), (1, parse_expr("max(1, s0)"))),
    TensorType.get(torch.bool, (2,), (), layout="sparse_coo", subclass="x.y.<locals>.Z"),
    TensorType.get(torch.uint4, (2,)),
    SymIntType(-3), SymIntType(parse_expr("pymod(s0, 3)")), SymFloatType(parse_expr("to_float(s0)")),
    SymBoolType(parse_expr("lt(s0, 4)")), NONE, ObjectType("a.<locals>.B"), ObjectType('quo"te<'),
]  # fmt: skip


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_types_round_trip(type_: Any) -> None:
    table = SymbolTable([SymbolInfo("s0", assumptions=("positive",))])
    block = Block(arg_types=[type_])
    block.add_op(OutputOp.make(raw_args(((Ref(0),),)), block.args, (), NodeMeta((), node="output")))
    module = ModuleOp([GraphOp("f", "joint", block, table, arguments=["x"])])
    for text in (print_ir(module), generic(module)):
        parsed = parse_ir(text)
        (graph,) = parsed.ops
        assert isinstance(graph, GraphOp)
        assert graph.arguments[0].type is type_
        assert same(parsed, module)


HEAD = "fx.graph @f stage(joint) (%x : !fx.tensor<f32[2], cpu>) {\n"
ERRORS = [
    ("%y = aten.relu.default %z : !fx.none", "%z", "value %z is used before its definition"),
    (
        "%y = nolib.op.default %x : !fx.none",
        "nolib",
        "import the package that registers the 'nolib' library",
    ),
    (
        '%y = "nolib.op.default"(%x) : (!fx.none) -> !fx.none',
        '"nolib',
        "'nolib::op' is not registered",
    ),
    ("%x = aten.relu.default %x : !fx.none", "%x", "the name %x is taken"),
    ("%y = aten.relu.default %x : !fx.tensor<f99[2], cpu>", "f99", "'f99' is no element type"),
    ("%y = aten.relu.default %x : !fx.tensor<f32[2]>", "f32", "expected a device after the sizes"),
    (
        "%y = aten.relu.default %x : !fx.tensor<f32[2 +], cpu>",
        "f32",
        "unexpected end at column 4 in '2 +'",
    ),
    (
        "%y = aten.relu.default %x : tensor<2xf32>",
        "tensor",
        "expected a type (!fx.tensor<...>), found 'tensor",
    ),
    ("%y = aten.relu.default %x : !fx.matrix<2>", "2>", "!fx.matrix is no type of this dialect"),
    ("%y = aten.relu.default %x", "%y", "1 results are named but 0 types given"),
    ("%y = aten.relu.default : !fx.none", "%y", "aten.relu.default needs its argument 'self'"),
    ("%y = aten.relu.default %x, 1 : !fx.none", "%y", "takes 1 positional arguments, 2 given"),
    (
        "%y = aten.relu.default %x, beta = 1 : !fx.none",
        "%y",
        "has no argument 'beta'; it has: self",
    ),
    (
        "%y = aten.relu.default %x, self = %x : !fx.none",
        "%y",
        "argument 'self' of aten.relu.default is given twice",
    ),
    ("%y = aten.sum.dim_IntList %x, [0, 1 : !fx.none", ": !fx", "expected ']', found ': !fx.none'"),
    (
        "%y = aten.relu.default %x : !fx.none {colour = 1}",
        "colour",
        "'colour' is no metadata of an op; known: node",
    ),
    (
        "%y = aten.relu.default %x : !fx.none as (*, *)",
        "%y",
        "the result structure and the number of types differ",
    ),
    (
        "%y = pyfn.torch.relu float64 : !fx.none",
        "float64",
        "'float64' is no constant of this format",
    ),
    ("%y = pyfn.torch.relu device<tpux> : !fx.none", "device", "bad device"),
    ("%y = pyfn.torch.relu device<cpu : !fx.none", "device", "'<' is not closed"),
    ("fx.graph @g () declared", "fx.graph", "fx.graph cannot stand in a graph's body"),
    ("%y = builtin.module", "builtin", "'builtin.module' is no op name"),
    (
        "y = aten.relu.default %x : !fx.none",
        "y",
        "'y' is no op name; expected namespace.op.overload",
    ),
    ("%y aten.relu.default %x : !fx.none", "aten", "expected '=', found 'aten"),
]


@pytest.mark.parametrize(("line", "at", "message"), ERRORS, ids=[message for *_, message in ERRORS])
def test_errors_say_where_and_what(line: str, at: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_ir(f"{HEAD}  {line}\n  fx.output (%x,)\n}}\n", "model.mlir")
    text = str(caught.value)
    assert message in text
    column = line.index(at, 1 if at == "%x" and not line.startswith("%x") else 0) + 3
    assert text.startswith(f"model.mlir:2:{column}\n"), text


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("fx.graph forward () {}", "1:10", "expected the graph's name (@forward), found 'forward"),
        (
            "fx.graph @f stage(last) () {}",
            "1:13",
            "'last' is no stage; expected one of pre_grad, joint, post_grad",
        ),
        ("fx.graph @f modes(x) () {}", "1:13", "'modes' is no clause of fx.graph"),
        ("fx.graph @f ambient(cold) () {}", "1:13", "'cold' is no ambient mode"),
        ("fx.graph @f symbols(s0 : real) () {}", "1:13", "expected int, float or bool"),
        ("fx.graph @f (%x : !fx.none {}", "1:28", "expected ')', found '{}'"),
        ("fx.graph @f (%x : !fx.none, %x : !fx.none) {}", "1:29", "the name %x is taken"),
        (
            "fx.graph @f ()\n  fx.output ()",
            "2:3",
            "expected '{' of the graph's body, found 'fx.output ()'",
        ),
        (
            "fx.graph @f () {\n  fx.output ()\n",
            "",
            "expected an op (aten.add.Tensor), found the end of the text",
        ),
    ],
)
def test_errors_in_a_graphs_head(text: str, place: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_ir(text, "model.mlir")
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"model.mlir:{place}")


def test_an_unknown_generic_op_names_its_library() -> None:
    with pytest.raises(ParseError, match="import the package that registers the 'nolib' library"):
        parse_ir('"nolib.op.default"() : () -> ()')


# ------------------------------------------------------------------------------ random graphs

ANY_FLOAT = st.one_of(
    st.floats(allow_subnormal=True),
    st.integers(0, 2**64 - 1).map(lambda bits: struct.unpack("<d", struct.pack("<Q", bits))[0]),
    st.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan, -math.nan, 5e-324]),
)
TEXTS = st.text(st.characters(exclude_categories=()), max_size=8)
CONSTANTS: Any = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    ANY_FLOAT,
    st.builds(complex, ANY_FLOAT, ANY_FLOAT),
    TEXTS,
    st.sampled_from([
        ..., torch.float32, torch.complex64, torch.uint4, torch.device("cuda", 3), torch.device("meta"),
        torch.sparse_csc, torch.channels_last_3d, range(1, 9, 2), SymbolRef("g"), SymbolRef("odd name\n"),
        FunctionArg("torch.relu"), Handle("a.<locals>.B", "x, \"y\">"), parse_expr("floordiv(s0, 2) + 1"),
    ]),
)  # fmt: skip


def nested(leaf: Any) -> Any:
    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3).map(ListArg),
            st.lists(inner, max_size=3).map(tuple),
            st.lists(inner, max_size=3).map(SizeArg),
            st.lists(inner, min_size=1, max_size=2).map(Pack),
            st.tuples(inner, inner, inner).map(SliceArg),
            st.lists(st.tuples(TEXTS, inner), max_size=2).map(DictArg),
        ),
        max_leaves=5,
    )


class _Use:
    """Where a random argument tree takes a value; becomes a Ref when the op is built."""

    def __init__(self, pick: int) -> None:
        self.pick = pick


NAMES = st.one_of(st.from_regex(r"[a-z_][a-z0-9_]{0,5}", fullmatch=True), TEXTS)
CALLS = st.tuples(
    st.sampled_from(["pyfn.torch.cat", "method.foo", "higher_order.cond"]),
    st.lists(nested(CONSTANTS | st.integers(0, 9).map(_Use)), max_size=4),
    st.dictionaries(
        st.from_regex(r"[a-z_][a-z0-9_]{0,4}", fullmatch=True), nested(CONSTANTS), max_size=2
    ),
    st.sampled_from([None, ("*", "*"), ("*",), (), (("*", ()), "*")]),
    st.lists(NAMES, min_size=3, max_size=3),
    st.dictionaries(st.sampled_from(["module", "tag", "recompute"]), TEXTS, max_size=2),
    st.none() | st.tuples(TEXTS, st.integers(0, 10**6)),
)


def random_module(calls: list[Any]) -> ModuleOp:
    from xductor.ir.dialect.arguments import map_tree
    from xductor.ir.dialect.results import count_leaves

    x = TensorType.get(torch.float32, (2,))
    block = Block(arg_types=[x])
    values: list[SSAValue] = list(block.args)
    taken = {"x"}
    classes = {
        "pyfn.torch.cat": op_class(torch.cat),
        "method.foo": method_class("foo"),
        "higher_order.cond": op_class(torch.ops.higher_order.cond),
    }
    for target, positional, keywords, structure, names, textual, loc in calls:
        operands: list[SSAValue] = []

        def leaf(item: Any, operands: list[SSAValue] = operands) -> Any:
            if type(item) is _Use:
                operands.append(values[item.pick % len(values)])
                return Ref(len(operands) - 1)
            return item

        data = map_tree(tuple(positional), leaf)
        types = [x] * (1 if structure is None else count_leaves(structure))
        chosen: list[str] = []
        for name, _ in zip(names, types, strict=False):
            chosen.append("" if name in taken else name)
            taken.add(name)
        if structure is None and not chosen[0]:
            chosen[0] = f"v{len(values)}.{len(taken)}"
        node = NodeMeta(tuple(chosen), node=names[-1], textual=textual, loc=loc)
        cls = classes[target]
        assert cls is not None
        op = cls.make(
            raw_args(data, tuple(keywords.items())), operands, types, node,
            structure=None if structure is None else StructureAttr(structure),
            aliases=AliasAttr(((0, True), None)[: len(types)]) if operands and len(types) == 2 else None,
        )  # fmt: skip
        block.add_op(op)
        values.extend(op.results)
    out = raw_args((tuple(Ref(index) for index in range(len(values))),))
    block.add_op(OutputOp.make(out, values, (), NodeMeta((), node="output")))
    table = SymbolTable([SymbolInfo("s0", assumptions=("positive",), hint=4)])
    return ModuleOp([GraphOp("f", "pre_grad", block, table, Ambient(grad=False), arguments=["x"])])


@settings(max_examples=80, deadline=None)
@given(st.lists(CALLS, max_size=4))
def test_random_graphs_round_trip(calls: list[Any]) -> None:
    module = random_module(calls)
    text = print_ir(module)
    parsed = parse_ir(text)
    assert same(parsed, module)
    assert print_ir(parsed) == text
    again = parse_ir(generic(module))
    assert same(again, module)
    named = print_ir(module, locations="aliases")
    assert same(parse_ir(named), module)
    assert print_ir(parse_ir(named), locations="aliases") == named
    with printing_locations("aliases") as aliases:
        assert same(parse_ir(generic(module) + "\n" + definitions(aliases)), module)
    assert same(module.clone(), module)
    assert all(isinstance(op, TorchOp) for graph in parsed.ops for op in graph.regions[0].block.ops)
