"""Each row of the page of what is covered names a test, and that test exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "covered.md"
_TEST = re.compile(r"`(tests/[^`]+\.py::[^`]+)`")


def rows() -> list[str]:
    """The rows of the page's tables, less headings and rules."""
    lines = PAGE.read_text().splitlines()
    below = zip(lines, [*lines[1:], ""], strict=True)
    return [line for line, rule in below if line.startswith("| ") and not rule.startswith("|---")]


def definitions(path: Path) -> set[str]:
    """Tests of a file, as pytest names them: functions, classes and methods."""
    found: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{x.name}" for x in node.body if isinstance(x, ast.FunctionDef)}
    return found


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.split("|")[1].strip())
def test_a_row_names_a_test_that_exists(row: str) -> None:
    named = _TEST.findall(row.split("|")[-2])
    assert len(named) == 1, f"the last cell must name one test: {row}"
    path, _, name = named[0].partition("::")
    assert name.split("::")[-1].startswith(("test_", "Test"))
    assert name in definitions(ROOT / path), f"{path} has no {name}"


def test_tests_outside_the_tables_exist() -> None:
    for test in _TEST.findall(PAGE.read_text()):
        path, _, name = test.partition("::")
        assert name in definitions(ROOT / path), f"{path} has no {name}"


def test_every_way_shown_here_has_a_row() -> None:
    """A test of this folder that shows a way into Inductor stands in the table."""
    named = set(_TEST.findall(PAGE.read_text()))
    shown = {
        f"tests/backend/paths/{path.name}::{name}"
        for path in Path(__file__).parent.glob("test_*.py")
        if path != Path(__file__)
        for name in definitions(path)
        if name.startswith("test_")
    }
    beside = {
        "test_scripts_run_with_this_python",
        "test_stock_hears_nothing",
        "test_runnable_graph_of_stock",
    }
    assert {test for test in shown - named if test.split("::")[-1] not in beside} == set()
