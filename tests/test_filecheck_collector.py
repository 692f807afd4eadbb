"""The collector of ``tests/filecheck`` must fail where lit would."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

COLLECTOR = Path(__file__).parent / "filecheck" / "conftest.py"
pytest_plugins = ["pytester"]


@pytest.fixture(scope="module")
def collector() -> ModuleType:
    spec = importlib.util.spec_from_file_location("filecheck_collector", COLLECTOR)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_run_lines_joins_continuations(collector: ModuleType) -> None:
    text = "// RUN: cat %s \\\n// RUN:   | filecheck %s\n# RUN: cat %s\n// CHECK: RUN: no\n"
    assert collector.run_lines(text) == ["cat %s    | filecheck %s".replace("    ", "  "), "cat %s"]


def test_unfinished_run_line_is_refused(collector: ModuleType) -> None:
    with pytest.raises(ValueError, match="backslash"):
        collector.run_lines("// RUN: cat %s \\\n")


def test_pipeline_keeps_quoted_pass_options(collector: ModuleType) -> None:
    line = "not xductor-opt %s -p 'a{x=1},b' 2>&1 | filecheck %s --check-prefix=BAD"
    first, second = collector.split_pipeline(line)
    assert first.words == ("xductor-opt", "%s", "-p", "a{x=1},b")
    assert first.negated
    assert first.merge_stderr
    assert second.words == ("filecheck", "%s", "--check-prefix=BAD")
    assert not second.negated


@pytest.mark.parametrize("line", ["cat a && cat b", "cat a > b", "cat a |", "not | cat"])
def test_unknown_shell_syntax_is_refused(collector: ModuleType, line: str) -> None:
    with pytest.raises(ValueError, match="RUN line"):
        collector.split_pipeline(line)


def outcomes(pytester: pytest.Pytester, text: str) -> tuple[dict[str, int], str]:
    pytester.makeconftest(COLLECTOR.read_text())
    pytester.makefile(".mlir", case=text)
    pytester.plugins = []
    result = pytester.runpytest("-p", "no:cacheprovider", "-p", "no:hypothesispytest")
    return result.parseoutcomes(), result.stdout.str()


def test_matching_file_passes(pytester: pytest.Pytester) -> None:
    found, _ = outcomes(pytester, "// RUN: cat %s | filecheck %s\nadd\nmul\n// CHECK: {{^}}mul\n")
    assert found == {"passed": 1}


def test_each_run_line_is_a_test(pytester: pytest.Pytester) -> None:
    text = (
        "// RUN: cat %s | filecheck %s --check-prefix=ONE\n"
        "// RUN: cat %s | not filecheck %s --check-prefix=TWO\n"
        "// RUN: cat %s | filecheck %s --check-prefix=TWO\n"
        "add\n// ONE: {{^}}add\n// TWO: {{^}}mul\n"
    )
    found, _ = outcomes(pytester, text)
    assert found == {"passed": 2, "failed": 1}


def test_mismatch_is_shown(pytester: pytest.Pytester) -> None:
    found, shown = outcomes(pytester, "// RUN: cat %s | filecheck %s\nadd\n// CHECK: {{^}}mul\n")
    assert found == {"failed": 1}
    assert "RUN: cat %s | filecheck %s" in shown
    assert "Couldn't match" in shown


def test_unknown_command_fails(pytester: pytest.Pytester) -> None:
    found, shown = outcomes(pytester, "// RUN: rm %s\n")
    assert found == {"failed": 1}
    assert "unknown command 'rm'" in shown


def test_file_without_run_line_is_an_error(pytester: pytest.Pytester) -> None:
    found, shown = outcomes(pytester, "add\n")
    assert found == {"errors": 1}
    assert "no RUN: line" in shown
