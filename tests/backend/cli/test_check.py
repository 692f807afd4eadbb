"""`xductor check` finds what was planted, all of it, and says where."""

import re
from pathlib import Path

import pytest

from xductor.backend.cli import main as command
from xductor.backend.cli.opt import main
from xductor.ir import parse_ir
from xductor.ir.verification.problems import problems
from xductor.ir.verification.verifier import LEVELS

SCRIPT = Path(__file__).with_name("three_graph_breaks.py")


def check(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = command.main(["check", *map(str, arguments)])
    shown = capsys.readouterr()
    return status, shown.out, shown.err


def planted(text: str, op: str, old: str, new: str) -> tuple[str, int]:
    """The text with a type changed in the first line of that op, and the number of the line."""
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if f" = {op} " in line and old in line.partition(" : ")[2]:
            head, colon, types = line.partition(" : ")
            lines[number] = head + colon + types.replace(old, new, 1)
            return "".join(lines), number + 1
    raise AssertionError(f"no {op} with {old}")


@pytest.mark.parametrize("level", LEVELS)
def test_what_was_captured_is_right(
    captured: Path, level: str, capsys: pytest.CaptureFixture[str]
) -> None:
    files = sorted(captured.glob("*.mlir"))
    status, out, err = check(capsys, *files, "--level", level)
    assert (status, out) == (0, "")
    assert err == f"64 files, 64 graphs: no errors at level {level}\n"


def test_planted_stale_value_and_wrong_dtype(
    captured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (captured / "002_joint.before.mlir").read_text()
    text, stale = planted(text, "aten.addmm.default", "[21, 16]", "[21, 17]")
    text, wrong = planted(text, "aten.erf.default", "f32", "f64")
    bad, good = tmp_path / "bad.mlir", tmp_path / "good.mlir"
    bad.write_text(text)
    good.write_text((captured / "000_joint.before.mlir").read_text())
    status, out, err = check(capsys, good, bad)
    assert status == 1
    assert f"{bad}:{stale}:5: aten.addmm.default" in out
    assert f"{bad}:{wrong}:5: aten.erf.default" in out
    assert "dtype differs" in out
    assert re.search(r"expected: !fx.tensor<f32\[21, 16\], cpu> \(inferred\)", out)
    assert re.search(r"found: +!fx.tensor<f32\[21, 17\], cpu> \(recorded\)", out)
    assert f"user code: {SCRIPT}:" in out
    assert "2 files, 2 graphs" in err
    assert check(capsys, bad, "--level", "structure")[0] == 0


def test_errors_of_all_files_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = (
        "fx.graph @f stage(joint) (%x : !fx.tensor<f32[3], cpu>) {\n"
        "  %a = aten.sin.default %x : !fx.tensor<f64[3], cpu>\n  fx.output (%a,)\n}\n"
    )
    files = [tmp_path / "a.mlir", tmp_path / "b.mlir", tmp_path / "c.mlir"]
    files[0].write_text(wrong)
    files[1].write_text("fx.graph @f stage(joint) (%x : !fx.tensor<f32[3], cpu>) { nonsense }")
    files[2].write_text(wrong)
    status, out, err = check(capsys, *files)
    assert status == 1
    for path in files:
        assert str(path) in out
    assert "3 files, 2 graphs: 3 errors at level types" in err


def test_several_errors_of_structure_in_one_graph() -> None:
    module = parse_ir(
        "fx.graph @f stage(joint) (%x : !fx.tensor<f32[3], cpu>, %n : !fx.none) {\n"
        "  %a = aten.sin.default %n : !fx.tensor<f32[3], cpu>\n"
        "  %b = aten.cos.default %n : !fx.tensor<f32[3], cpu>\n  fx.output (%a, %b)\n}\n"
    )
    found = [str(error) for error in problems(module, "structure")]
    assert len(found) == 2
    assert "aten.sin.default" in found[0]
    assert "aten.cos.default" in found[1]
    with pytest.raises(ValueError, match="unknown verification level"):
        problems(module, "nonesuch")  # type: ignore[arg-type]


def test_rules_of_the_stage_are_a_level_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mutates.mlir"
    path.write_text(
        "fx.graph @f stage(post_grad) (%x : !fx.tensor<f32[3], cpu>) {\n"
        "  %a = aten.sin.default %x : !fx.tensor<f32[3], cpu>\n"
        "  %b = aten.add_.Tensor %a, 1 : !fx.tensor<f32[3], cpu>\n  fx.output (%b,)\n}\n"
    )
    assert check(capsys, path, "--level", "types")[0] == 0
    status, out, _ = check(capsys, path, "--level", "stage")
    assert status == 1
    assert "aten.add_.Tensor" in out


def test_a_script_is_checked_in_and_out_of_each_stage(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = check(
        capsys, SCRIPT, "--no-codegen", "--level", "stage", "--", "--steps", "1"
    )
    assert status == 0
    assert re.fullmatch(r"step 0: loss \d\.\d+\n", out)
    assert "32 graphs of 16 stage calls: no errors at level stage" in err


STALE = """\
import torch
from torch._inductor import config

def stale(graph):
    for node in graph.find_nodes(op="call_function", target=torch.ops.aten.relu.default):
        node.meta["val"] = node.meta["val"].new_empty(5)
        node.meta["val"] = node.meta["val"].to({dtype})

config.post_grad_custom_post_pass = stale
try:
    torch.compile(lambda x: x.relu() + 1)(torch.ones(3))
finally:
    config.post_grad_custom_post_pass = None
"""


@pytest.mark.parametrize(("dtype", "facet"), [("torch.float32", "shape"), ("torch.half", "dtype")])
def test_stale_metadata_that_a_pass_leaves_is_found_through_a_script(
    dtype: str, facet: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "stale.py"
    script.write_text(STALE.format(dtype=dtype))
    status, out, _ = check(capsys, script, "--no-codegen")
    assert status == 1
    assert "out of post_grad inference: aten.relu.default (node relu)" in out
    assert facet in out
    assert f"user code: {script}:11" in out
    assert "into" not in out


def test_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = check(capsys, tmp_path / "none.mlir")
    assert (status, "No such file" in err) == (2, True)
    status, _, err = check(capsys, SCRIPT, tmp_path / "none.mlir")
    assert (status, "is a script" in err) == (2, True)


def test_a_script_that_compiles_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is no success: nothing was checked. One that fails has its own status."""
    script = tmp_path / "idle.py"
    script.write_text("pass\n")
    assert check(capsys, script) == (
        2,
        "",
        f"xductor: {script} compiled nothing, so nothing was checked\n",
    )
    script.write_text("raise SystemExit(5)\n")
    status, _, err = check(capsys, script)
    assert (status, err) == (5, f"xductor: {script} compiled nothing before it ended\n")


@pytest.mark.parametrize("content", [b"\x00\x01\xff\xfe", "fx.graph".encode("utf-16")])
def test_files_that_are_no_text(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "binary.mlir"
    path.write_bytes(content)
    status, _, err = check(capsys, path)
    assert status == 2
    assert f"{path}: not a text file" in err
    assert main.main([str(path)]) == 1
    assert f"{path}: not a text file" in capsys.readouterr().err


@pytest.mark.parametrize("ends", ["\r\n", "\r"])
def test_line_ends_and_a_byte_order_mark(
    ends: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "windows.mlir"
    text = (
        "fx.graph @f stage(joint) (%x : !fx.tensor<f32[3], cpu>) {\n"
        "  %a = aten.sin.default %x : !fx.tensor<f64[3], cpu>\n  fx.output (%a,)\n}\n"
    )
    path.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", ends).encode())
    status, out, err = check(capsys, path)
    assert status == 1
    assert f"{path}:2:3: aten.sin.default" in out
    assert "1 file, 1 graph: 1 error at level types" in err
