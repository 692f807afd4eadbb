"""`xductor rewrite new` writes files that hold: their tests pass as they are written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from xductor.backend.cli.commands import rewrite
from xductor.backend.cli.main import main

OPERATORS = """
import torch
import torch.nn.functional as F


@torch.library.custom_op("new_rewrite::silu_mul", mutates_args=())
def fused(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return F.silu(x) * y


@fused.register_fake
def _(x, y):
    return torch.empty_like(x)


def silu_mul(x, y):
    return F.silu(x) * y


def other(x, y):
    return F.silu(x) * y.double()


def floored(x):
    return torch.where(x <= 0, 0.0, x)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


def test_what_is_written_passes_its_tests(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "new_rewrite_operators.py").write_text(OPERATORS)
    home = "new_rewrite_operators.py"
    command = ["rewrite", "new", "FuseSiluMul", "--from", f"{home}:silu_mul", "--to"]
    command += [f"{home}:fused", "--input", "f32[4,8]", "f32[4,8]"]
    assert main([*command, "--numerics", "rounds less often"]) == 0
    assert main(["rewrite", "new", "neg_neg", "--stage", "joint"]) == 0
    command = ["rewrite", "new", "where_to_relu", "--from", f"{home}:floored", "--to"]
    command += ["torch:relu", "--input", "f32[4,8]"]
    assert main([*command, "--numerics", "exact up to the sign of zero"]) == 0
    names = {path.name for path in folder.iterdir() if path.is_file()}
    assert names == {
        "new_rewrite_operators.py",
        *("fuse_silu_mul.py", "test_fuse_silu_mul.py", "fuse_silu_mul.mlir"),
        *("neg_neg.py", "test_neg_neg.py", "neg_neg.mlir"),
        *("where_to_relu.py", "test_where_to_relu.py", "where_to_relu.mlir"),
    }
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--show-capture=no"],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout
    assert "9 passed" in done.stdout
    checks = (folder / "where_to_relu.mlir").read_text()
    assert "-p 'where_to_relu{policy=fast}'" in checks
    assert "// CHECK-NEXT: %relu = aten.relu.default" in checks


def test_a_rewrite_that_changes_nothing_has_no_checks(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "new_rewrite_operators.py").write_text(OPERATORS)
    monkeypatch.setattr(rewrite, "policy_for", lambda numerics: "strict")
    command = ["rewrite", "new", "where_to_relu", "--from", "new_rewrite_operators.py:floored"]
    command += ["--to", "torch:relu", "--input", "f32[4,8]"]
    assert main([*command, "--numerics", "exact up to the sign of zero"]) == 2
    assert "where_to_relu changes nothing of the graph" in capsys.readouterr().err
    assert not (folder / "where_to_relu.mlir").exists()


def test_a_file_of_another_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "new_rewrite_operators.py").write_text(OPERATORS)
    (folder / "rw").mkdir()
    command = ["rewrite", "new", "one", "--from", "new_rewrite_operators.py:floored"]
    command += ["--to", "torch:relu", "--input", "f32[4,8]", "--folder", "rw"]
    assert main(command) == 2
    assert "is not in the folder rw, where the files are written" in (
        said := capsys.readouterr().err
    )
    assert "give --folder ., or" in said


@pytest.mark.parametrize("stage", ["pre_grad", "joint", "post_grad"])
def test_the_checks_are_of_what_the_rewrite_makes(folder: Path, stage: str) -> None:
    assert main(["rewrite", "new", "twice", "--stage", stage]) == 0
    text = (folder / "twice.mlir").read_text()
    assert "// RUN: xductor-opt %s --load-pass-plugin %S/twice.py -p twice | filecheck %s" in text
    assert text.count("CHECK-NEXT") == 2  # sin of the input, and the output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["not a name"], "is no name of a Python module"),
        (["class"], "'class' is no name of a Python module"),
        (["none"], "'none' is no name of a Python module and of a class in it"),
        (["json"], "`import json` means another module"),
        (["taken"], "taken.mlir exists already"),
        (["one", "--folder", "nowhere"], "nowhere is no folder"),
        (["one", "--from", "ops_of_mine.py:silu_mul"], "--from needs --to"),
        (["one", "--from", "ops_of_mine.py", "--to", "x", "--input", "1"], "is no function"),
        (["one", "--from", "o.py:f", "--to", "o.py:f", "--input", "1"], "cannot import o"),
    ],
)
def test_what_cannot_be_written(
    folder: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "taken.mlir").write_text("")
    assert main(["rewrite", "new", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert [path.name for path in folder.iterdir() if path.is_file()] == ["taken.mlir"]


@pytest.mark.parametrize(
    ("replacement", "inputs", "message"),
    [
        ("nothing", ["f32[4,8]", "f32[4,8]"], "has no function 'nothing'"),
        ("other", ["f32[4,8]", "f32[4,8]"], "expected dtype torch.float32, found torch.float64"),
        ("fused", ["f32[4,8]", "f23[4,8]"], "'f23' is none of"),
        ("fused", ["f32[4,8]", "big"], "'big' is neither a type"),
        ("fused", ["f32[4,8]"], "does not take these inputs"),
    ],
)
def test_what_cannot_be_traced(
    folder: Path,
    replacement: str,
    inputs: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (folder / "new_rewrite_operators.py").write_text(OPERATORS)
    home = "new_rewrite_operators.py"
    command = ["rewrite", "new", "one", "--from", f"{home}:silu_mul", "--to"]
    assert main([*command, f"{home}:{replacement}", "--input", *inputs]) == 2
    assert message in capsys.readouterr().err
    assert not (folder / "one.py").exists()
