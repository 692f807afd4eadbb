"""`xductor run`, `diff` and `tv` on captured files and on small ones."""

from pathlib import Path

import pytest
import torch

import xductor
from xductor.backend.cli import main as command

BODY = "  %a = aten.{op}.default %x : !fx.tensor<f32[3], cpu>\n  fx.output (%a,)\n"
GRAPH = "fx.graph @f stage(joint) (%x : !fx.tensor<f32[3], cpu>) {{\n" + BODY + "}}\n"


def written(path: Path, op: str) -> Path:
    path.write_text(GRAPH.format(op=op))
    return path


def test_every_captured_graph_runs(captured: Path) -> None:
    for path in sorted(captured.glob("*.mlir")):
        assert command.main(["run", str(path)]) == 0, path.name


def test_saved_inputs_give_the_same_results(tmp_path: Path) -> None:
    path, saved = written(tmp_path / "a.mlir", "sin"), tmp_path / "a.pt"
    assert command.main(["run", str(path), "--seed", "7", "--output", str(saved)]) == 0
    first = torch.load(saved)
    assert torch.equal(first["results"][0], first["inputs"][0].sin())
    assert command.main(["run", str(path), "--inputs", str(saved), "--output", str(saved)]) == 0
    assert torch.equal(torch.load(saved)["results"][0], first["results"][0])


def test_an_error_names_op_and_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "b.mlir"
    path.write_text(
        "fx.graph @f stage(joint) (%x : !fx.tensor<f32[5, 3], cpu>) {\n  %e = aten.mm.default "
        '%x, %x : !fx.tensor<f32[5, 5], cpu> loc("model.py":7)\n  fx.output (%e,)\n}\n'
    )
    assert command.main(["run", str(path)]) == 2
    shown = capsys.readouterr().err
    assert "while running aten.mm.default" in shown
    assert f"{path}:2:3" in shown
    assert "user code: model.py:7" in shown


def test_diff_says_what_a_pass_removed(captured: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(captured / f"002_joint.{when}.mlir") for when in ("before", "after")]
    assert command.main(["diff", *files, "--values"]) == 1
    shown = capsys.readouterr().out
    assert "6 removed, 3 changed" in shown
    assert "values are the same, bit by bit" in shown
    assert command.main(["diff", files[0], files[0]]) == 0


def test_names_do_not_count() -> None:
    left = xductor.parse_ir(GRAPH.format(op="sin"))
    right = xductor.parse_ir(GRAPH.format(op="sin").replace("%a", "%other"))
    assert not xductor.diff(left, right)
    assert xductor.diff(left, right, names=True).metadata
    assert xductor.diff(left, xductor.parse_ir(GRAPH.format(op="cos")))


def test_tv_agrees_and_differs(
    captured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(captured / f"006_joint.{when}.mlir") for when in ("before", "after")]
    assert command.main(["tv", *files, "--count", "6"]) == 0
    source, target = written(tmp_path / "s.mlir", "sin"), written(tmp_path / "t.mlir", "cos")
    assert command.main(["tv", str(source), str(target)]) == 1
    assert "differs on --seed 0" in capsys.readouterr().out
    assert command.main(["tv", str(source), files[0]]) == 2
