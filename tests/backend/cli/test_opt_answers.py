"""What xductor-opt says of passes that do not run, or fail; `-p infer-types`; `xductor passes`."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import xductor
from xductor.backend.cli import main as command
from xductor.backend.cli.opt import main
from xductor.ir import print_ir
from xductor.transforms.rows import registry

T = "!fx.tensor<f32[4, 8], cpu>"
JOINT = f"""\
fx.graph @forward stage(joint) symbols() (%x : {T}, %y : {T}) {{
  %a = aten.neg.default %x : {T} loc("model.py":3)
  %b = aten.mul.Tensor %a, %y : {T}
  fx.output (%b,)
}}
"""
RAISES = """
from dataclasses import dataclass
from xductor.transforms import TypedPass

@dataclass(frozen=True)
class Raises(TypedPass):
    name = "raises_for_a_test"
    stage = "joint"

    def rewrite(self, module):
        return inner(module)

def inner(module):
    raise ValueError("no such thing")
"""
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(entry: Callable[..., int], *arguments: str | Path) -> tuple[int, str, str]:
        status = entry([str(one) for one in arguments])
        shown = capsys.readouterr()
        return status, shown.out, shown.err

    return run


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "joint.mlir"
    path.write_text(JOINT)
    return path


def test_a_pass_for_another_stage_is_told(file: Path, run: Run) -> None:
    status, _, err = run(main.main, file, "-p", "fuse_attention")
    assert status == 0
    assert err.count("fuse_attention is for pre_grad graphs") == 1
    assert "joint.mlir has graphs of the joint stage" in err
    assert run(main.main, file, "-p", "remove_no_ops,canonicalize,cse")[2] == ""


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "fuse_ddp_communication",
            "is Inductor's own (bridged, post_grad stage): it runs in compiles only",
        ),
        ("joint_custom_pre_pass", "is Inductor's own (hook, joint stage)"),
        ("fuse_attentoin", "did you mean 'fuse_attention'"),
    ],
)
def test_a_pass_that_does_not_run_on_text(name: str, said: str, file: Path, run: Run) -> None:
    status, _, err = run(main.main, file, "-p", name)
    assert status == 1
    assert said in err


def test_a_pass_that_is_done_by_another_is_named(file: Path, run: Run) -> None:
    row = next(row for row in registry.rows() if row.covered_by)
    said = run(main.main, file, "-p", row.name)[2]
    assert f"'{row.name}' is done by '{row.covered_by}'" in said


def test_the_error_of_a_pass_begins_in_the_pass(file: Path, run: Run, tmp_path: Path) -> None:
    plugin = tmp_path / "raises.py"
    plugin.write_text(RAISES)
    status, _, err = run(main.main, file, "--import", plugin, "-p", "raises_for_a_test")
    assert status == 1
    files = re.findall(r'File "([^"]+)", line (\d+)', err)
    assert files == [(str(plugin), "11"), (str(plugin), "14")]
    assert err.endswith("ValueError: no such thing\nin pass 'raises_for_a_test'\n")


def test_locations_can_be_left_out(file: Path, run: Run) -> None:
    assert 'loc("model.py":3)' in run(main.main, file)[1]
    assert "loc(" not in run(main.main, file, "--no-locations")[1]
    _, out, err = run(main.main, file, "--no-locations", "-p", "dce", "--print-ir-before-all")
    assert "fx.graph" in err
    assert "loc(" not in out + err


def test_locations_can_be_named(file: Path, run: Run) -> None:
    arguments = ("--location-aliases", "-p", "dce", "--print-ir-before-all")
    _, out, err = run(main.main, file, *arguments)
    for text in (out, err):
        assert re.search(r"loc\(#loc1\)$", text, re.MULTILINE)
        assert text.count('loc("model.py":3)') == 1
        assert '#loc1 = loc("model.py":3)' in text.splitlines()
    file.write_text(out)
    assert 'loc("model.py":3)' in run(main.main, file)[1]
    assert run(main.main, file, "--location-aliases")[1] == out


def test_names_of_locations_are_those_of_a_piece(file: Path, run: Run) -> None:
    text = file.read_text()
    file.write_text(text + "\n// -----\n" + text.replace('"model.py":3', '"other.py":4'))
    once = run(main.main, file, "--location-aliases", "--split-input-file")[1]
    assert '#loc1 = loc("other.py":4)' in once.partition("// -----")[2]
    file.write_text(once)
    assert run(main.main, file, "--location-aliases", "--split-input-file")[1] == once


def test_definitions_may_follow_a_module_that_is_written_out(file: Path, run: Run) -> None:
    out = run(main.main, file, "--location-aliases", "--print-op-generic")[1]
    assert out.startswith('"builtin.module"')
    file.write_text(out)
    plain = run(main.main, file, "--no-implicit-module")[1]
    assert 'loc("model.py":3)' in plain
    assert "#loc1" not in plain


def test_named_or_left_out(file: Path, run: Run) -> None:
    with pytest.raises(SystemExit) as raised:
        run(main.main, file, "--location-aliases", "--no-locations")
    assert raised.value.code == 2


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("fuse_attention", "is a procedural pass: xductor validate fuse_attention --prove"),
        ("fuse_ddp_communication", "is Inductor's own"),
    ],
)
def test_what_cannot_be_proved_is_told(name: str, said: str, run: Run) -> None:
    status, _, err = run(command.main, "prove", name)
    assert status == 2
    assert said in err


def test_a_file_is_no_rewrite(file: Path, run: Run) -> None:
    assert "name a rewrite in it: path/to/file.py:Class" in run(command.main, "prove", file)[2]


# Types after an edit.


def test_types_follow_those_of_the_inputs(file: Path, run: Run) -> None:
    text = JOINT.replace("%x : !fx.tensor<f32[4, 8]", "%x : !fx.tensor<bf16[5, 4, 8]", 1)
    file.write_text(text)
    status, out, err = run(main.main, file, "-p", "infer-types", "--no-locations")
    assert (status, err) == (0, "")
    assert "aten.neg.default %x : !fx.tensor<bf16[5, 4, 8], cpu>" in out
    assert "aten.mul.Tensor %a, %y : !fx.tensor<f32[5, 4, 8], cpu>" in out
    xductor.verify(xductor.parse_ir(out), level="types")


def test_operands_that_do_not_fit_are_an_error(file: Path, run: Run) -> None:
    file.write_text(JOINT.replace("%y : !fx.tensor<f32[4, 8]", "%y : !fx.tensor<f32[4, 7]", 1))
    status, _, err = run(main.main, file, "-p", "infer-types")
    assert status == 1
    assert "aten.mul.Tensor %a, %y" in err
    assert "cannot have these operands" in err
    assert "in pass 'infer-types'" in err


OPS = (
    "aten.sin.default {0}",
    "aten.sum.dim_IntList {0}, [-1], true",
    "aten.transpose.int {0}, 0, 1",
    "aten.add.Tensor {0}, {1}",
    "aten.mul.Tensor {0}, {1}",
    "prims.convert_element_type.default {0}, f64",
    "aten.gt.Scalar {0}, 0",
    "aten.cat.default [{0}, {1}]",
    "aten.amax.default {0}, [0], true",
)


def random_graph(seed: int) -> str:
    """A graph of the joint stage, whose op types are all those of its input."""
    chosen = random.Random(seed)
    names, lines = ["%x"], list[str]()
    for number in range(chosen.randint(1, 6)):
        op = chosen.choice(OPS).format(chosen.choice(names), chosen.choice(names))
        lines.append(f"  %v{number} = {op} : !fx.tensor<f32[6, 6], cpu>")
        names.append(f"%v{number}")
    head = "fx.graph @forward stage(joint) symbols() (%x : !fx.tensor<f32[6, 6], cpu>) {"
    return "\n".join([head, *lines, f"  fx.output ({names[-1]},)", "}", ""])


def test_random_graphs_have_right_types_afterwards(file: Path, run: Run) -> None:
    fitting = 0
    for seed in range(60):
        file.write_text(random_graph(seed))
        status, out, err = run(main.main, file, "-p", "infer-types")
        if status:
            assert "cannot have these operands" in err, err
            continue
        module = xductor.parse_ir(out)
        xductor.verify(module, level="types")
        file.write_text(out)
        again = run(main.main, file, "-p", "infer-types")[1]
        assert print_ir(xductor.parse_ir(again)) == print_ir(module)
        fitting += 1
    assert fitting > 30


# The table of passes.


def test_passes_are_filtered(run: Run) -> None:
    status, out, _ = run(command.main, "passes", "--stage", "post_grad", "--kind", "bridged")
    assert status == 0
    head, *lines = out.splitlines()
    assert head.startswith("stage")
    wanted = [row.name for row in registry.rows("post_grad") if row.kind == "bridged"]
    assert [line.split()[:3] for line in lines] == [["post_grad", one, "bridged"] for one in wanted]


def test_one_pass_is_told_in_full(run: Run) -> None:
    out = run(command.main, "passes", "fuse_attention")[1]
    assert out.startswith("fuse_attention\n")
    for word in ("stage:       pre_grad", "class:       xductor.", "numerics:    reassociates"):
        assert word in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["fuse_attentoin"], "did you mean 'fuse_attention'"),
        (["fuse_attention", "--stage", "joint"], "is a procedural pass of the pre_grad stage"),
        (["--markdown", "--stage", "joint"], "takes no names, stage or kind"),
    ],
)
def test_passes_that_are_not_there(arguments: list[str], said: str, run: Run) -> None:
    status, _, err = run(command.main, "passes", *arguments)
    assert status == 2
    assert said in err


def test_on_a_terminal_the_table_fits(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "90")
    out = run(command.main, "passes")[1]
    out = re.sub(r"\x1b\[\d*m", "", out)
    assert max(map(len, out.splitlines())) <= 90
    for row in registry.rows():
        assert row.name in out


HALF = """
from xductor import Rewrite, Tensor
from xductor.ir import aten


class Half(Rewrite, abstract=True):
    stage = "joint"

    def pattern(self, x: Tensor):
        return aten.neg(aten.neg(x))


class Traced:
    rewrite = Half


made = Traced()
"""


@pytest.mark.parametrize("arguments", [["validate"], ["prove"], ["--explain"]])
def test_half_a_rewrite_is_no_subject(
    arguments: list[str], file: Path, run: Run, tmp_path: Path
) -> None:
    home = tmp_path / "half_a_rewrite.py"
    home.write_text(HALF)
    for name, said in (("Half", "has no `replacement`"), ("made", "give its `.rewrite`")):
        given = [*arguments, f"{home}:{name}"]
        entry = main.main if arguments == ["--explain"] else command.main
        status, _, err = run(entry, *([file, *given] if entry is main.main else given))
        assert status == (1 if entry is main.main else 2)
        assert f"{name}' {said}" in err or f"{name}' is no rewrite itself; {said}" in err
        assert "Traceback" not in err
