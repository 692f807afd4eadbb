"""The collector of `.mlir` files must fail where lit would, and leave other tools' files alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from xductor.backend.cli.run_lines import calls_ours, run_lines, split_pipeline

pytest_plugins = ["pytester"]


def test_run_lines_joins_continuations() -> None:
    text = "// RUN: cat %s \\\n// RUN:   | filecheck %s\n# RUN: cat %s\n// CHECK: RUN: no\n"
    assert run_lines(text) == ["cat %s  | filecheck %s", "cat %s"]


def test_unfinished_run_line_is_refused() -> None:
    with pytest.raises(ValueError, match="backslash"):
        run_lines("// RUN: cat %s \\\n")


def test_pipeline_keeps_quoted_pass_options() -> None:
    line = "not xductor-opt %s -p 'a{x=1},b' 2>&1 | filecheck %s --check-prefix=BAD"
    first, second = split_pipeline(line)
    assert first.words == ("xductor-opt", "%s", "-p", "a{x=1},b")
    assert first.negated
    assert first.merge_stderr
    assert second.words == ("filecheck", "%s", "--check-prefix=BAD")
    assert not second.negated


@pytest.mark.parametrize("line", ["cat a && cat b", "cat a > b", "cat a |", "not | cat"])
def test_unknown_shell_syntax_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="RUN line"):
        split_pipeline(line)


@pytest.mark.parametrize(
    ("text", "ours"),
    [
        ("// RUN: xductor-opt %s | filecheck %s", True),
        ("add\n  # RUN: not xductor check %s", True),
        ("// RUN: mlir-opt %s | FileCheck %s", False),
        ("// RUN: cat xductor-optimal.txt", False),
        ("// RUN: cat | xductor-opt", True),
        ("// runs xductor-opt %s", False),
    ],
)
def test_whose_files_are_collected(text: str, ours: bool) -> None:
    assert calls_ours(text) is ours


def test_no_file_of_ours_is_left_out() -> None:
    files = list((Path(__file__).parent / "filecheck").rglob("*.mlir"))
    assert files
    assert not [file for file in files if not calls_ours(file.read_text())]


GRAPH = """
fx.graph @f stage(joint) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  %sin = aten.sin.default %x : !fx.tensor<f32[4], cpu>
  fx.output (%sin,)
}
"""


PLUGIN = """
import torch
from xductor import Rewrite, Tensor
from xductor.ir import aten, ops

library = torch.library.Library("collected_plugin", "DEF")
library.define("double(Tensor x) -> Tensor")
library.impl("double", lambda x: x + x, "CompositeExplicitAutograd")
torch.library.register_fake("collected_plugin::double", torch.empty_like)


class Doubled(Rewrite):
    stage = "joint"

    def pattern(self, x: Tensor):
        return aten.sin(x)

    def replacement(self, x: Tensor):
        return ops.collected_plugin.double(x)
"""


def test_a_project_with_files(pytester: pytest.Pytester) -> None:
    """Each line is a test. A library of operators is registered once in a process, however often
    and however its file is loaded.
    """
    pytester.makefile(
        ".mlir",
        lines="// RUN: xductor-opt %s | filecheck %s --check-prefix=ONE\n"
        "// RUN: xductor-opt %s | not filecheck %s --check-prefix=TWO\n"
        "// RUN: xductor-opt %s | filecheck %s --check-prefix=TWO\n"
        f"// ONE: aten.sin\n// TWO: aten.mul\n{GRAPH}",
        plugin="// RUN: xductor-opt %s --load-pass-plugin %S/doubling.py -p doubled "
        "| filecheck %s\n"
        "// RUN: xductor-opt %s --load-pass-plugin %S/doubling.py -p 'doubled,doubled' "
        "| filecheck %s\n"
        f"// CHECK: collected_plugin.double.default\n{GRAPH}",
    )
    pytester.makepyfile(doubling=PLUGIN)
    pytester.makepyfile(
        "def test():\n    import doubling\n    assert doubling.Doubled.name == 'doubled'"
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-o", "pythonpath=.")
    result.assert_outcomes(passed=5, failed=1)
    result.stdout.fnmatch_lines(
        ["RUN: xductor-opt %s | filecheck %s --check-prefix=TWO", "*Couldn't match*"]
    )


def outcomes(pytester: pytest.Pytester, text: str, *options: str) -> tuple[dict[str, int], str]:
    """Of a file whose lines run nothing of ours: that would be imported twice in this process."""
    pytester.makefile(".mlir", case=text)
    pytester.plugins = []
    result = pytester.runpytest("-p", "no:cacheprovider", "-p", "no:hypothesispytest", *options)
    return result.parseoutcomes(), result.stdout.str()


def test_unknown_command_fails(pytester: pytest.Pytester) -> None:
    found, shown = outcomes(pytester, "// RUN: rm %s | xductor-opt\n// RUN: xductor-opt %s && ls\n")
    assert found == {"failed": 2}
    assert "unknown command 'rm'" in shown
    assert "'&&' is not supported" in shown


def test_a_line_without_its_end_is_an_error(pytester: pytest.Pytester) -> None:
    found, shown = outcomes(pytester, "// RUN: xductor-opt %s \\\n")
    assert found == {"errors": 1}
    assert "case.mlir: the last RUN line ends in a backslash" in shown


def test_files_of_other_tools_are_left_alone(pytester: pytest.Pytester) -> None:
    assert outcomes(pytester, "// RUN: mlir-opt %s | FileCheck %s\n")[0] == {}
    assert outcomes(pytester, "add\n")[0] == {}


def test_a_project_that_uses_lit_turns_it_off(pytester: pytest.Pytester) -> None:
    text = "// RUN: rm %s | xductor-opt\n"
    assert outcomes(pytester, text)[0] == {"failed": 1}
    assert outcomes(pytester, text, "-o", "xductor_filecheck=false")[0] == {}
