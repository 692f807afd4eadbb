"""Text that nobody should write: each is an error with a place and a reason, and does nothing."""

from pathlib import Path

import pytest
from xdsl.utils.exceptions import ParseError

import xductor
from xductor.ir.python_targets import UnknownTarget, qualified_name, resolve

TENSOR = "!fx.tensor<f32[4, 4], cpu>"
GRAPH = (
    f"fx.graph @f stage(joint) (%x : {TENSOR}) {{\n"
    f"  %a = aten.sin.default %x : {TENSOR}\n  fx.output (%a,)\n}}\n"
)
SYMBOLS = GRAPH.replace("stage(joint)", "stage(joint) symbols(s0 : int positive [RANGE] hint 4)")
ADD = GRAPH.replace("aten.sin.default %x", "aten.add.Tensor %x, NUMBER")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected fx.graph @name, found the end of the text"),
        ("// nothing\n", "expected fx.graph @name, found the end of the text"),
        ('{"a": 1}', "expected fx.graph @name, found '{"),
        (GRAPH.replace("cpu>", "cpu", 1), "'<' of !fx.tensor is not closed"),
        (GRAPH.replace("(%a,)", '("a,)'), "the string is not closed"),
        (GRAPH.replace("(%a,)", "(" * 3000 + "%a" + ",)" * 3000), "nested too deeply"),
        (ADD.replace("NUMBER", "9" * 6000), "a number of 6000 digits is too long"),
        (GRAPH.replace("[4, 4]", f"[{'9' * 6000}, 4]"), "too many digits"),
        (GRAPH.replace("[4, 4]", "[2 ** 99999999999, 4]"), "too large an exponent"),
        (SYMBOLS.replace("RANGE", "9, 2"), "expected an upper bound that is not below 9"),
        (GRAPH.replace(f"{TENSOR}\n  fx", f"{TENSOR} aliases(7)\n  fx"), "the op has 1 operands"),
    ],
)
def test_is_an_error_that_says_why(text: str, message: str) -> None:
    with pytest.raises(ParseError) as error:
        xductor.parse_ir(text, "bad.mlir")
    assert message in str(error.value)
    assert "bad.mlir:" in str(error.value)


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
