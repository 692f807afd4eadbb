"""The updater writes checks that pass, notices old ones, and leaves hand-written ones alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from xductor.backend.cli import main as command
from xductor.backend.cli.run_lines import RunLineFailed, run_lines, run_pipeline, split_pipeline
from xductor.backend.cli.update_filecheck import MARKER

T = "!fx.tensor<f32[4], cpu>"
BARE = f"""\
// RUN: xductor-opt %s -p cse | filecheck %s

// A comment that stays.
fx.graph @forward stage(joint) (%x : {T}) {{
  %a = aten.sin.default %x : {T}
  %b = aten.sin.default %x : {T}
  %c = aten.add.Tensor %a, %b : {T}
  fx.output (%c,)
}}
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "case.mlir"
    path.write_text(text)
    return path


def update(path: Path, *flags: str) -> int:
    return command.main(["update-filecheck", *flags, str(path)])


def passes(path: Path) -> bool:
    try:
        for line in run_lines(path.read_text()):
            run_pipeline(split_pipeline(line), path, str(path.with_suffix(".t")))
    except RunLineFailed:
        return False
    return True


def test_checks_are_written_above_the_graph(tmp_path: Path) -> None:
    path = write(tmp_path, BARE)
    assert update(path) == 0
    assert path.read_text().splitlines()[:9] == [
        "// RUN: xductor-opt %s -p cse | filecheck %s",
        MARKER,
        "",
        "// A comment that stays.",
        "// CHECK-LABEL: fx.graph @forward stage(joint)",
        f"// CHECK-SAME: (%x : {T}) {{",
        f"// CHECK-NEXT: %a = aten.sin.default %x : {T}",
        f"// CHECK-NEXT: %c = aten.add.Tensor %a, %a : {T}",
        "// CHECK-NEXT: fx.output (%c,)",
    ]
    assert passes(path)
    written = path.read_text()
    assert update(path) == 0
    assert path.read_text() == written


def test_what_is_out_of_date_fails_a_check_and_is_rewritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, BARE)
    assert update(path) == 0
    assert update(path, "--check") == 0
    old = path.read_text()
    path.write_text(old.replace("-p cse", "-p dce"))
    assert not passes(path)
    assert update(path, "--check") == 1
    shown = capsys.readouterr().err
    assert "out of date" in shown
    assert f"+// CHECK-NEXT: %b = aten.sin.default %x : {T}" in shown
    assert path.read_text() == old.replace("-p cse", "-p dce")
    assert update(path) == 0
    assert passes(path)
    assert update(path, "--check") == 0


def test_checks_by_hand_are_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    by_hand = BARE + "// CHECK: aten.add.Tensor %a, %a\n"
    path = write(tmp_path, by_hand)
    assert update(path, "--check") == 0
    assert update(path) == 1
    assert "written by hand" in capsys.readouterr().err
    assert path.read_text() == by_hand
    assert update(path, "--force") == 0
    assert MARKER in path.read_text()
    assert passes(path)


def test_runs_that_print_the_same_share_a_prefix(tmp_path: Path) -> None:
    line = "// RUN: xductor-opt %s -p {} | filecheck %s --check-prefixes=ALL,{}\n"
    runs = line.format("cse", "CSE") + line.format("dce", "DCE")
    second = (
        BARE.split("\n", 3)[3]
        .replace("@forward", "@other")
        .replace("%b = aten.sin", "%b = aten.cos")
    )
    path = write(tmp_path, runs + BARE.split("\n", 1)[1] + second)
    assert update(path) == 0
    text = path.read_text()
    assert "// CSE-LABEL: fx.graph @forward" in text
    assert "// DCE-LABEL: fx.graph @forward" in text
    assert "// ALL-LABEL: fx.graph @other" in text
    assert "// CSE-LABEL: fx.graph @other" not in text
    assert passes(path)


def test_runs_that_differ_need_a_prefix_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, "// RUN: xductor-opt %s -p dce | filecheck %s\n" + BARE)
    assert update(path) == 1
    assert "give each a prefix of its own" in capsys.readouterr().err


def test_values_that_the_test_does_not_name_are_captured(tmp_path: Path) -> None:
    source = BARE.replace("-p cse", "--load-pass-plugin PLUGIN -p renames")
    plugin = tmp_path / "renaming.py"
    plugin.write_text(
        "from dataclasses import dataclass\n"
        "from typing import ClassVar\n"
        "from xdsl.passes import ModulePass\n"
        "from xductor.ir.dialect.metadata import NodeMeta\n"
        "@dataclass(frozen=True)\n"
        "class Renames(ModulePass):\n"
        "    name: ClassVar[str] = 'renames'\n"
        "    def apply(self, ctx, op):\n"
        "        for one in op.walk():\n"
        "            if one.name == 'aten.sin.default':\n"
        "                one.attributes['node'] = NodeMeta(('new.1' + one.node.node,))\n"
    )
    path = write(tmp_path, source.replace("PLUGIN", str(plugin)))
    assert update(path) == 0
    text = path.read_text()
    assert f"// CHECK-NEXT: [[NEW_1A:%.+]] = aten.sin.default %x : {T}" in text
    assert f"// CHECK-NEXT: %c = aten.add.Tensor [[NEW_1A]], [[NEW_1B]] : {T}" in text
    plugin.write_text(plugin.read_text().replace("new.1", "other"))
    assert passes(path)


def test_errors_are_checked_without_paths_and_lines(tmp_path: Path) -> None:
    wrong = BARE.replace(
        "-p cse | filecheck", "--split-input-file --parsing-diagnostics | filecheck"
    )
    wrong += f"// -----\nfx.graph @forward stage(joint) (%x : {T}) {{\n  fx.output (%y,)\n}}\n"
    path = write(tmp_path, wrong)
    assert update(path) == 0
    text = path.read_text()
    assert "{{.*}}case.mlir:{{[0-9]+:[0-9]+}}" in text
    assert "CHECK-NEXT: value %y is used before its definition" in text
    assert str(tmp_path) not in text
    assert passes(path)


def test_patterns_in_the_text_are_escaped(tmp_path: Path) -> None:
    text = f"""\
// RUN: xductor-opt %s | filecheck %s
fx.graph @forward stage(joint) (%x : {T}) {{
  %a = aten.constant_pad_nd.default %x, [0, 0] : {T}
  fx.output [[%a], [%x]]
}}
"""
    path = write(tmp_path, text)
    assert update(path) == 0
    assert passes(path)
    assert update(path, "--check") == 0


def test_a_file_without_filecheck_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert update(write(tmp_path, "// RUN: xductor-opt %s\n")) == 1
    assert "no RUN line ends in filecheck" in capsys.readouterr().err
    assert update(tmp_path / "none.mlir") == 1
    assert "No such file" in capsys.readouterr().err
