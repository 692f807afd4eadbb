"""Text that nobody should write: each is an error with a place and a reason, and does nothing."""

from collections.abc import Callable
from pathlib import Path

import pytest
from xdsl.utils.exceptions import ParseError, VerifyException

import xductor
from tests.ir.text.damaged_texts import WAYS, corpus, damaged, problem, read_all
from tests.thread_time import least_seconds
from xductor.backend.cli.opt import main
from xductor.ir.python.targets import UnknownTarget, qualified_name, resolve

TENSOR = "!fx.tensor<f32[4, 4], cpu>"
GRAPH = (
    f"fx.graph @f stage(joint) (%x : {TENSOR}) {{\n"
    f"  %a = aten.sin.default %x : {TENSOR}\n  fx.output (%a,)\n}}\n"
)
ALIASED = GRAPH.replace("cpu>\n", "cpu> loc(#loc1)\n")
LINE = '#loc1 = loc("m.py":3)\n'
SYMBOLS = GRAPH.replace("stage(joint)", "stage(joint) symbols(s0 : int positive [RANGE] hint 4)")
MANY_TERMS = ", ".join(f"s{n} + t{n}" for n in range(64))
ADD = GRAPH.replace("aten.sin.default %x", "aten.add.Tensor %x, NUMBER")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected fx.graph @name, found the end of the text"),
        ("// nothing\n", "expected fx.graph @name, found the end of the text"),
        ('{"a": 1}', "expected fx.graph @name, found '{"),
        (GRAPH.replace("cpu>", "cpu", 1), "'<' of !fx.tensor is not closed"),
        (GRAPH.replace("(%a,)", '("a,)'), "the string is not closed"),
        (ALIASED, "the location #loc1 is not defined; expected a line #loc1 = loc("),
        (ALIASED + '#loc2 = loc("m.py":1)\n', "the location #loc1 is not defined"),
        (ALIASED + LINE + LINE, "the location #loc1 is defined twice"),
        (ALIASED + '#loc1 = loc("m.py")\n', "expected ':', found ')'"),
        (ALIASED + "#loc1 = loc(#loc1)\n", "expected a file name, found '#loc1)'"),
        (ALIASED + "#loc1 = loc(\n", "expected a file name, found the end of the text"),
        (ALIASED + f'#loc1 = loc("m.py":{"9" * 6000})\n', "a number of 6000 digits is too long"),
        (ALIASED + "#loc1 = 7 : i64\n", "the location #loc1 is not defined"),
        (ALIASED + LINE + "7", "expected fx.graph @name, found '7'"),
        (ALIASED.replace("loc(#loc1)", "loc(#loc1") + LINE, "expected ')'"),
        (ALIASED.replace("loc(#loc1)", "loc(# loc1)") + LINE, "expected a file name"),
        (ALIASED.replace("loc(#loc1)", "loc(#loc1:3)") + LINE, "expected ')'"),
        (GRAPH.replace("(%a,)", "(" * 3000 + "%a" + ",)" * 3000), "nested too deeply"),
        (f"#a = {'[' * 3000}\n{GRAPH}", "nested too deeply"),
        (GRAPH.replace("(%a,)", f"(sym<{'(' * 3000}1{')' * 3000}>)"), "nested too deeply"),
        (GRAPH.replace("(%a,)", '("a\0b",)'), "a NUL character stands in no text"),
        (GRAPH + "\0", "a NUL character stands in no text"),
        (f"#a = {'9' * 6000} : i64\n{GRAPH}", "a number of 6000 digits is too long"),
        (f"#a = \u00bd : i64\n{GRAPH}", "unexpected character '\u00bd'"),
        (f"#a = 1 : i999999999999\n{GRAPH}", "an integer type has at most"),
        (f"#a = #fx.args<%99999999999>\n{GRAPH}", "an op has at most 65536 operands"),
        (GRAPH.replace("[4, 4]", "[4, 4]x"), "expected a device after the sizes"),
        (GRAPH.replace("[4, 4], cpu", "[4, 4]"), "expected a device after the sizes"),
        (GRAPH.replace("[4, 4]", f"[{1 << 63}, 4]"), "has more than 64 bits"),
        (GRAPH.replace("@f", '@"\\x"'), "an escape in it is unknown"),
        (GRAPH.replace("%a =", '%"\\x" ='), "the string has an unknown escape"),
        (GRAPH.replace("(%a,)", '("\\u12",)'), "the string has an unknown escape"),
        (GRAPH.replace(TENSOR, '!fx.object<"\\x">'), "bad !fx.object"),
        (GRAPH.replace(TENSOR, "!fx.object<1>"), "bad !fx.object: expected a quoted string"),
        (GRAPH.replace("(%a,)", "(opaque<a, b>,)"), "bad opaque: expected a quoted string"),
        (GRAPH.replace("(%a,)", f"(float<0x1{'0' * 16}>,)"), "bad float: expected 16"),
        (GRAPH.replace("(%a,)", "(range(),)"), "range(...) takes 1 to 3 numbers (int)"),
        (GRAPH.replace("(%a,)", "(range(0, 4, 0),)"), "bad range"),
        (GRAPH.replace("(%a,)", "(slice(1),)"), "slice(...) takes start, stop and step"),
        (GRAPH.replace("(%a,)", "(complex(%a, 1.0),)"), "complex(...) takes 2 numbers"),
        (GRAPH.replace("(%x", "ambient(autocast cpu) (%x", 1), "'autocast cpu' is no ambient mode"),
        (ADD.replace("NUMBER", "9" * 6000), "a number of 6000 digits is too long"),
        (GRAPH.replace("[4, 4]", f"[{'9' * 6000}, 4]"), "too many digits"),
        (GRAPH.replace("[4, 4]", "[2 ** 99999999999, 4]"), "too large an exponent"),
        (GRAPH.replace("[4, 4]", "[((9**1000)**1000)**1000, 4]"), "has more than 4096 bits"),
        (GRAPH.replace("[4, 4]", f"[{'*'.join(['3'] * 60_000)}, 4]"), "119999 characters are too"),
        (GRAPH.replace("[4, 4]", f"[{'*'.join(['3'] * 9_000)}, 4]"), "has more than 4096 bits"),
        (GRAPH.replace("[4, 4]", f"[{'+'.join(['1'] * 60_000)}, 4]"), "119999 characters are too"),
        (GRAPH.replace("[4, 4]", f"[{', '.join(['1'] * 600)}]"), "has not that many sizes"),
        (GRAPH.replace("[4, 4]", f"[{MANY_TERMS}]"), "the strides of these sizes are too long"),
        (SYMBOLS.replace("RANGE", "9, 2"), "expected an upper bound that is not below 9"),
        (GRAPH.replace(f"{TENSOR}\n  fx", f"{TENSOR} aliases(7)\n  fx"), "the op has 1 operands"),
    ],
)
def test_is_an_error_that_says_why(text: str, message: str) -> None:
    def is_refused() -> None:
        with pytest.raises(ParseError) as error:
            xductor.parse_ir(text, "bad.mlir")
        assert message in str(error.value)
        assert "bad.mlir:" in str(error.value)

    assert least_seconds(is_refused, limit=1) < 1


LONG = "a" * 10_000_000
OPEN_STRINGS = {
    "at the beginning": '"' + LONG,
    "a graph's name": '\nfx.graph @"' + LONG,
    "an argument": GRAPH.replace("(%a,)", '("' + LONG),
    "escapes": GRAPH.replace("(%a,)", '("' + "\\n" * 5_000_000),
    "a type": GRAPH.replace(TENSOR, '!fx.object<"' + LONG),
    "a location": GRAPH.replace("\n  fx.output", ' loc("' + LONG),
    "metadata": GRAPH.replace("\n  fx.output", ' {node = "' + LONG),
    "a symbol's source": SYMBOLS.replace("hint 4", 'source "' + LONG).replace("RANGE", "0, 4"),
    "an alias": f'#a = "{LONG}',
    "the generic format": f'"builtin.module"() ({{ "aten.sin.default"() {{a = "{LONG}',
    "arguments in the generic format": f'"aten.sin.default"() <{{args = #fx.args<"{LONG}',
    "a resource": GRAPH + '{-# dialect_resources: { fx: { f.x: "0x' + "0" * 10_000_000,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("place", OPEN_STRINGS)
def test_ten_megabytes_without_a_closing_quote(place: str, way: str) -> None:
    """Refused in the time that reading it takes; the error does not repeat the text."""
    text = OPEN_STRINGS[place]
    read = WAYS[way]
    assert problem(read, text, limit=5.0) == ""
    with pytest.raises(ParseError, match=r"not closed|expected a value's name") as error:
        read(text)
    assert len(str(error.value)) < 2000


def test_the_driver_says_where(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "open.mlir"
    path.write_text(GRAPH + f'#a = "{"a" * 60}')
    assert main.main([str(path)]) == 1
    assert f"{path}:5:6" in capsys.readouterr().err


def test_many_symbols_and_arguments_take_linear_time() -> None:
    arguments = ", ".join(f"%x{index} : {TENSOR}" for index in range(5000))
    symbols = ", ".join(f"s{index} : int [0, 1]" for index in range(5000))
    lines = " ".join(f"%y{index} = aten.sin.default %x0 : {TENSOR}" for index in range(2000))
    text = f"fx.graph @f symbols({symbols}) ({arguments}) {{ {lines} fx.output (%y0,) }}"
    assert problem(WAYS["parse_ir"], text, limit=5.0) is None


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("%c = fx.get_attr %a", "it takes the path of an attribute"),
        ("%c = fx.get_attr", "it takes the path of an attribute"),
        ("%c = fx.opaque_call 1", "its first argument is the callable"),
        ("%c = fx.opaque_call", "its first argument is the callable"),
    ],
)
def test_what_a_graph_reads_has_a_form(line: str, message: str) -> None:
    module = xductor.parse_ir(GRAPH.replace("  fx.", f"  {line} : {TENSOR}\n  fx.") + SECTION)
    with pytest.raises(VerifyException, match=message):
        xductor.verify(module, level="structure")


GENERIC = (
    '"fx.graph"() <{sym_name = "f", stage = "joint", symbols = #fx.symbols<symbols()>, '
    "ambient = #fx.ambient<>}> ({\n^bb0(%x: TENSOR):\n"
    '  "fx.output"(%x) <{args = #fx.args<((%0,),), ()>}> : (TENSOR) -> ()\n}) : () -> ()\n'
).replace("TENSOR", TENSOR)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (", symbols = #fx.symbols<symbols()>", ""),
        ('sym_name = "f", ', ""),
        ('sym_name = "f"', "sym_name = 1 : i32"),
        (", ambient = #fx.ambient<>", ""),
        (", ambient = #fx.ambient<>", ", ambient = unit"),
        ("}) : () -> ()", "}, {\n}) : () -> ()"),
        ("}) : () -> ()", "^bb1:\n}) : () -> ()"),
        ("({\n", "({\n}) : () -> ()\n"),
    ],
)
def test_a_graph_in_the_generic_format_has_all_that_it_needs(old: str, new: str) -> None:
    text = GENERIC.replace(old, new)
    assert text != GENERIC
    xductor.verify(xductor.parse_ir(GENERIC), level="structure")
    with pytest.raises(ParseError, match=r"bad\.mlir:\d+:\d+\n"):
        xductor.parse_ir(text, "bad.mlir")


SECTION = '{-# dialect_resources: { fx: { f.x: "0x0400000000000000" } } #-}\n'


@pytest.mark.parametrize(
    ("type_", "message"),
    [
        ("!fx.tensor<f32[1][99999999999999999], cpu>", ""),
        ("!fx.tensor<f32[2], cuda:99>", "4 bytes, but"),
        ("!fx.tensor<i8[2, 2][99999999999, 1], cpu>", "in a storage of 100000000001"),
        ("!fx.tensor<i8[-2, -2], cpu>", "negative sizes"),
        ("!fx.tensor<f32[1], cuda:99>", ""),
    ],
)
def test_constants_take_no_more_room_than_is_theirs(type_: str, message: str) -> None:
    body = GRAPH.replace("  fx.", f'  %c = fx.get_attr "x" : {type_}\n  fx.')
    text = body + SECTION
    if not message:
        xductor.parse_ir(text)
        return
    with pytest.raises(ParseError, match=r"bad\.mlir:") as error:
        xductor.parse_ir(text, "bad.mlir")
    assert message in str(error.value)


def test_the_corpus_parses() -> None:
    texts = corpus()
    assert len(texts) > 100
    for text in texts:
        xductor.parse_ir(text)


def test_damaged_texts() -> None:
    """`python -m tests.ir.text.damaged_texts --count 100000 --seed N` reads more of them."""
    outcome = read_all(damaged(3000, seed=0))
    assert outcome.failures == [], outcome.table()
    assert outcome.accepted > 300
    assert outcome.refused > 1500


def test_damage_that_is_not_foreseen_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check itself: an error of the scanner's own, a place left out, and too much time."""
    from xductor.ir.text import parsing

    def failing(message: str) -> Callable[..., object]:
        def read(scanner: object) -> object:
            raise IndexError(message)

        return read

    monkeypatch.setattr(parsing, "_graph", failing("tuple index out of range"))
    found = problem(WAYS["parse_ir"], GRAPH)
    assert found is not None
    assert "not foreseen: IndexError" in found

    def hanging(text: str) -> None:
        while True:
            pass

    def without_a_place(text: str) -> None:
        raise ValueError("not enough values to unpack")

    assert problem(hanging, GRAPH, limit=0.05) == "over 0.05 s"
    assert problem(without_a_place, GRAPH) == "ValueError: not enough values to unpack"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (GRAPH.replace("f32", "float32", 1), "'float32' is no element type; did you mean f32?"),
        (GRAPH.replace("f32", "long", 1), "'long' is no element type; did you mean i64?"),
        (GRAPH.replace("f32", "f23", 1), "did you mean f32?"),
        (GRAPH.replace("cpu", "gpu", 1), "'gpu' is no device; did you mean cuda?"),
        (GRAPH.replace("cpu", "gpu:1", 1), "did you mean cuda:1?"),
        (GRAPH.replace("cpu", "cdua:0", 1), "did you mean cuda:0?"),
        (GRAPH.replace("sin", "rellu"), "did you mean aten.relu.default?"),
        (GRAPH.replace("sin.default", "rellu"), "such as aten.relu.default"),
        (GRAPH.replace("sin.default", "sin"), "such as aten.sin.default"),
        (GRAPH.replace("aten.sin", "atten.sin"), "did you mean aten.sin.default?"),
        (GRAPH.replace("aten.sin.default", "method"), "expected method.NAME"),
        (ADD.replace("NUMBER", "float16"), "no constant of this format; did you mean f16?"),
        (ADD.replace("NUMBER", "Non"), "no constant of this format; did you mean none?"),
        ("graph.mlir", "this looks like a path: pass what the file holds"),
        ("/home/me/graphs/graph.mlir", "this looks like a path"),
    ],
)
def test_what_was_meant_is_said(text: str, hint: str) -> None:
    with pytest.raises(ParseError) as error:
        xductor.parse_ir(text)
    assert hint in str(error.value)


def test_a_path_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="takes the text of a module, not PosixPath"):
        xductor.parse_ir(tmp_path)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["os.system", "torch.os.system", "posix.system"])
def test_no_program_is_started_by_a_file(name: str, tmp_path: Path) -> None:
    """Inference would call it: `check` on such a file must not do what it says."""
    __import__("os")
    mark = tmp_path / "mark"
    text = GRAPH.replace("aten.sin.default %x", f'pyfn.{name} "touch {mark}"')
    with pytest.raises(ParseError, match="cannot be called from text"):
        xductor.parse_ir(text)
    assert not mark.exists()


@pytest.mark.parametrize(
    "name",
    [
        "builtins.eval",
        "builtins.open",
        "builtins.__import__",
        "_operator.call",
        "subprocess.run",
        "torch.sys.exit",
        "torch.serialization.pickle.loads",
        "torch.load",
        "torch.save",
        "torch.from_file",
        "torch.hub.load",
        "torch.jit.load",
        "torch.ops.load_library",
        "torch._C.import_ir_module",
        "sympy.sympify",
        "numpy.load",
        "xductor.backend.cli.main.main",
    ],
)
def test_functions_that_are_no_ops_have_no_name(name: str) -> None:
    import subprocess  # noqa: F401

    import xductor.backend.cli.main  # noqa: F401

    with pytest.raises(UnknownTarget, match="cannot be called from text"):
        resolve(name)


def test_what_cannot_be_called_is_not_named_either() -> None:
    """A graph that holds such a function all the same has an opaque call."""
    import os

    assert qualified_name(os.getcwd) is None
    assert qualified_name(open) is None


@pytest.mark.parametrize(
    "name",
    [
        "torch.cat",
        "torch.sym_max",
        "torch.nn.functional.relu",
        "torch._C._nn.gelu",
        "torch.amp.autocast_mode._enter_autocast",
        "torch.autograd.forward_ad._maybe_load_decompositions",
        "torch._functorch.predispatch.lazy_load_decompositions",
        "torch.random.manual_seed",
        "torch.ops.aten.add.Tensor",
        "_operator.getitem",
        "math.sqrt",
        "builtins.max",
        "builtins.getattr",
    ],
)
def test_functions_that_graphs_call_have_theirs(name: str) -> None:
    assert callable(resolve(name))
