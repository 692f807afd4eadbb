"""The reducer: a failing graph of 700 ops comes down to a few."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

import xductor
from xductor.backend.cli import main as command
from xductor.backend.cli.opt import main
from xductor.backend.reduce import predicates, reducer
from xductor.ir import entry_graph

HERE = Path(__file__).parent
WRONG = str(HERE / "wrong_passes.py")


def load(name: str) -> ModuleType:
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]


@pytest.fixture(scope="module")
def joint() -> ModuleOp:
    module = xductor.from_fx(load("joint_training").joint_graph(4), stage="joint")
    assert ops(module) > 600
    return module


@pytest.fixture(scope="module")
def joint_file(joint: ModuleOp, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("reduce") / "joint.mlir"
    path.write_text(xductor.print_ir(joint))
    return path


def ops(module: ModuleOp) -> int:
    return sum(1 for op in entry_graph(module).block.ops) - 1


def names(module: ModuleOp) -> set[str]:
    return {op.name for op in entry_graph(module).block.ops}


def reduced(
    file: Path, *arguments: str, capsys: pytest.CaptureFixture[str]
) -> tuple[ModuleOp, float]:
    start = time.thread_time()
    status = command.main(["reduce", str(file), *arguments, "--load-pass-plugin", WRONG])
    elapsed = time.thread_time() - start
    shown = capsys.readouterr()
    assert status == 0, shown.err
    assert " tests, " in shown.err
    return xductor.parse_ir(shown.out), elapsed


def test_a_miscompile_is_found_by_values(
    joint_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module, seconds = reduced(
        joint_file, "--pass", "forgets_gate", "--fails", "values", capsys=capsys
    )
    assert ops(module) <= 8
    assert seconds < 60
    assert names(module) >= {"aten.gelu.default", "aten.sigmoid.default", "aten.mul.Tensor"}
    xductor.verify(module, level="types")
    one = load("wrong_passes").ForgetsGate()
    assert predicates.ValuesDiffer.on(module, [one]).difference(module.clone()) is not None


def test_a_wrong_type_that_a_pass_records(
    joint_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module, seconds = reduced(
        joint_file, "--pass", "widens_gate", "--fails", "verify", capsys=capsys
    )
    assert ops(module) <= 8
    assert seconds < 60
    xductor.verify(module, level="types")  # before the pass


def test_a_planted_wrong_type(
    joint: ModuleOp, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = xductor.print_ir(joint)
    line = next(line for line in text.splitlines() if "%gelu_1 = " in line)
    bad = tmp_path / "bad.mlir"
    bad.write_text(text.replace(line, line.replace("<f32", "<f64")))
    module, _ = reduced(bad, "--fails", "verify", capsys=capsys)
    assert ops(module) == 1
    with pytest.raises(VerifyException, match="dtype"):
        xductor.verify(module, level="types")


def test_a_crash(joint_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module, _ = reduced(
        joint_file, "--pass", "stumbles_over_gate", "--fails", "crash", capsys=capsys
    )
    assert ops(module) <= 8
    with pytest.raises(KeyError):
        load("wrong_passes").StumblesOverGate().rewrite(module)


def test_a_command(joint_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "small.mlir"
    test = "grep -q 'gelu.*tag' {} && grep -q sigmoid {}"
    status = command.main(["reduce", str(joint_file), "--test", test, "-o", str(out), "-q"])
    assert status == 0
    text = out.read_text()
    assert "gelu" in text
    assert "sigmoid" in text
    assert "tag" in text
    assert ops(xductor.parse_ir(text)) <= 2


def graph(text: str) -> ModuleOp:
    return xductor.parse_ir(text)


T = "!fx.tensor<f32[4], cpu>"
P = "!fx.tensor<i1[], cpu>"
SYMBOL = "s0 : int positive [2, int_oo]"
SUBGRAPHS = f"""
fx.graph @forward stage(joint) symbols({SYMBOL}) (%p : {P}, %x : {T}, %y : {T}) {{
  %a = aten.neg.default %y : {T}
  %cond = higher_order.cond %p, @yes, @no, (%x,) : {T} as (*,)
  %b = aten.add.Tensor %cond, %a : {T}
  fx.output (%b, %a)
}}
fx.graph @yes stage(joint) (%z : {T}) {{
  %s = aten.sin.default %z : {T}
  %t = aten.exp.default %s : {T}
  %u = aten.cos.default %t : {T}
  fx.output (%u,)
}}
fx.graph @no stage(joint) (%z : {T}) {{
  %s = aten.neg.default %z : {T}
  fx.output (%s,)
}}
fx.graph @unused stage(joint) (%z : {T}) {{
  fx.output (%z,)
}}
"""


def has(name: str, at_least: int = 1) -> Callable[[ModuleOp], bool]:
    return lambda module: sum(op.name == name for op in module.walk()) >= at_least


def test_a_failure_in_a_subgraph_becomes_a_graph_of_its_own() -> None:
    module = graph(SUBGRAPHS)
    before = xductor.print_ir(module)
    made = xductor.reduce(module, has("aten.exp.default"))
    assert xductor.print_ir(module) == before
    assert [op.name for op in entry_graph(made).block.ops] == ["aten.exp.default", "fx.output"]
    assert len(list(made.ops)) == 1


def test_the_bodies_of_a_higher_order_op_shrink() -> None:
    def calls_exp(module: ModuleOp) -> bool:
        return has("higher_order.cond")(module) and has("aten.exp.default")(module)

    made = xductor.reduce(graph(SUBGRAPHS), calls_exp)
    text = xductor.print_ir(made)
    for gone in ("aten.sin", "aten.cos", "aten.neg", "aten.add", "@unused", "symbols"):
        assert gone not in text
    xductor.verify(made, level="structure")


def test_an_op_that_nothing_uses_may_be_the_failure() -> None:
    text = f"""
fx.graph @forward stage(joint) (%x : {T}) {{
  %a = aten.sin.default %x : {T}
  %dead = aten.exp.default %a : {T}
  %b = aten.cos.default %a : {T}
  fx.output (%b,)
}}
"""
    made = xductor.reduce(graph(text), has("aten.exp.default"))
    assert [op.name for op in entry_graph(made).block.ops] == ["aten.exp.default", "fx.output"]


def test_inputs_that_need_not_differ_are_merged() -> None:
    text = f"""
fx.graph @forward stage(joint) (%x : {T}, %y : {T}) {{
  %a = aten.add.Tensor %x, %y : {T}
  fx.output (%a,)
}}
"""
    made = xductor.reduce(graph(text), has("aten.add.Tensor"))
    assert len(entry_graph(made).arguments) == 1


def test_what_is_not_interesting_is_refused(
    joint_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(reducer.NotInteresting):
        xductor.reduce(graph(SUBGRAPHS), has("aten.log.default"))
    assert command.main(["reduce", str(joint_file), "--test", "false {}"]) == 1
    assert "nothing to reduce" in capsys.readouterr().err
    for passes in (["--pass", "pointless_view"], []):
        assert command.main(["reduce", str(joint_file), "--fails", "values", *passes]) == 1
    shown = capsys.readouterr().err
    assert "pointless_view does not change the values" in shown
    assert "--fails values needs --pass" in shown


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "give one of --test COMMAND and --fails KIND"),
        (["--test", "true"], "must name the file as {}"),
        (["--fails", "crash", "--pass", "nonesuch"], "nonesuch"),
        (["--fails", "verify", "--load-pass-plugin", "none.py"], "none.py"),
    ],
)
def test_wrong_usage(
    arguments: list[str], complaint: str, joint_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["reduce", str(joint_file), *arguments]) == 1
    assert complaint in capsys.readouterr().err


SMALL = """\
fx.graph @f stage(joint) (%x : !fx.tensor<f32[4, 4], cpu>) {
  %a = aten.sin.default %x : !fx.tensor<f32[4, 4], cpu>
  %b = aten.cos.default %a : !fx.tensor<f32[4, 4], cpu>
  fx.output (%b,)
}
"""
RAISES = """\
from dataclasses import dataclass
from xdsl.passes import ModulePass

@dataclass(frozen=True)
class Boom(ModulePass):
    name = "boom"

    def apply(self, ctx, op):
        raise RuntimeError("no such thing")
"""


@pytest.fixture
def small_file(tmp_path: Path) -> Path:
    path = tmp_path / "small.mlir"
    path.write_text(SMALL)
    return path


@pytest.mark.parametrize(
    ("test", "told"),
    [
        ("false {}", "the command ended with status 1"),
        ("no-such-command {}", "ended with status 127"),
        ("sleep 3; test -f {}", "took more than 0.3 s"),
    ],
)
def test_a_command_that_never_succeeds_says_how_it_ended(
    test: str, told: str, small_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["reduce", str(small_file), "--test", test, "--timeout", "0.3"]) == 1
    assert told in capsys.readouterr().err


def test_a_command_that_always_succeeds_leaves_nothing(
    small_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["reduce", str(small_file), "--test", "test -f {}", "-q"]) == 0
    assert ops(xductor.parse_ir(capsys.readouterr().out)) == 0


def test_a_test_that_gives_different_answers(
    small_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says yes three times, and no from then on: also for what it was reduced to."""
    count = tmp_path / "count"
    test = f"test -f {{}} && echo x >> {count} && test $(wc -l < {count}) -le 3"
    assert command.main(["reduce", str(small_file), "--test", test, "-q"]) == 1
    shown = capsys.readouterr()
    assert "gives different answers" in shown.err
    xductor.parse_ir(shown.out)


@pytest.mark.parametrize("kind", ["verify", "values"])
def test_a_pass_that_fails_in_another_way(
    kind: str, small_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plugin = tmp_path / "raises_here.py"
    plugin.write_text(RAISES)
    arguments = ["--pass", "boom", "--fails", kind, "--load-pass-plugin", str(plugin)]
    assert command.main(["reduce", str(small_file), *arguments]) == 1
    told = capsys.readouterr().err
    assert "boom does not run through on this module: RuntimeError: no such thing" in told


def test_a_module_that_does_not_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mm.mlir"
    path.write_text(SMALL.replace("f32[4, 4]", "f32[4, 3]").replace("sin.default %x", "mm %x, %x"))
    path.write_text(path.read_text().replace("aten.mm %x", "aten.mm.default %x"))
    arguments = ["--pass", "forgets_gate", "--fails", "values", "--load-pass-plugin", WRONG]
    assert command.main(["reduce", str(path), *arguments]) == 1
    told = capsys.readouterr().err
    assert "the module does not run before any pass" in told
    assert f"{path}:2:3" in told


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("def f(:\n", "plugin.py:1: invalid syntax"),
        ("x = 1\nraise ValueError('at import')\n", "plugin.py:2: ValueError: at import"),
    ],
)
def test_a_plugin_that_does_not_load(
    source: str, told: str, small_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plugin = tmp_path / "plugin.py"
    plugin.write_text(source)
    load_it = ["--load-pass-plugin", str(plugin)]
    assert command.main(["reduce", str(small_file), "--fails", "verify", *load_it]) == 1
    assert f"cannot load '{plugin}'" in (shown := capsys.readouterr().err)
    assert told in shown
    assert main.main([str(small_file), *load_it]) == 1
    assert told in capsys.readouterr().err


def test_an_output_that_cannot_be_written_is_told_first(
    small_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "no" / "out.mlir")
    assert command.main(["reduce", str(small_file), "--test", "test -f {}", "-o", out]) == 1
    assert capsys.readouterr().err == f"xductor reduce: {out}: No such file or directory\n"


def test_what_there_is_when_it_is_interrupted(
    small_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = 0

    def interesting(self: object, module: ModuleOp) -> bool:
        nonlocal asked
        asked += 1
        if asked == 4:
            raise KeyboardInterrupt
        return "aten.cos.default" in names(module)

    monkeypatch.setattr("xductor.backend.cli.commands.reduce.CommandTest.__call__", interesting)
    assert command.main(["reduce", str(small_file), "--test", "true {}", "-q"]) == 130
    shown = capsys.readouterr()
    assert "interrupted; this is the smallest so far" in shown.err
    assert "aten.cos.default" in names(xductor.parse_ir(shown.out))
