"""The text of pages: hostile names and source, graphs side by side, ranges, notebooks."""

from __future__ import annotations

import json
import linecache
import random
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

import xductor
from tests.backend.report.compiles import NegNeg, Parsed, compiled, function, inputs
from tests.backend.report.made_up import HOSTILE, hostile_compile, lines
from xductor.backend.report import notebooks
from xductor.backend.report.page import index_text, page_text, summary
from xductor.backend.report.page_data import ranges
from xductor.backend.report.side_by_side import Differs, Same, side_by_side

#: The data of graphs and of times, the chart's library, and what draws.
_SCRIPTS = 4


def test_hostile_text_is_text(tmp_path: Path) -> None:
    """Names, source, paths and reasons may hold whatever has a meaning in HTML or JSON."""
    source = tmp_path / "evil.py"
    source.write_text(f"x = 1  # {HOSTILE}\ny = {HOSTILE!r}\n")
    linecache.checkcache()
    page = Parsed(page_text(hostile_compile(str(source))))
    plain = Parsed(page_text(hostile_compile(str(source), hostile="plain")))
    assert len(page.scripts) == _SCRIPTS
    assert page.tags == plain.tags
    assert page.scripts[2:] == plain.scripts[2:]
    assert HOSTILE in page.text
    (line,) = {tuple(map(str, line[:3])) for line in page.graphs["lines"] if HOSTILE in line[2]}
    assert line == (f"%{HOSTILE}", f"hc.{HOSTILE}", f"%x, {json.dumps(HOSTILE)}{HOSTILE}")
    assert any(HOSTILE in text for *_, text in page.graphs["places"])


def test_a_list_of_pages_is_escaped_too() -> None:
    data = summary(hostile_compile("nowhere.py"))
    page = Parsed(index_text([(f"{HOSTILE}.html", {**data, "title": HOSTILE})]))
    assert not page.scripts
    assert HOSTILE in page.text


def test_both_sides_can_be_read_off_the_rows() -> None:
    """Of random graphs that were edited at random, with names that repeat."""
    chance = random.Random(0)
    for _ in range(3000):
        left = lines(chance, chance.randrange(14))
        right = [line for line in left if chance.random() > 0.3]
        for _ in range(chance.randrange(4)):
            right.insert(chance.randrange(len(right) + 1), *lines(chance, 1))
        if chance.random() < 0.2:
            chance.shuffle(right)
        rows = side_by_side(left, right)
        places: tuple[list[int], list[int]] = ([], [])
        for row in rows:
            if isinstance(row, Same):
                ours, theirs = (range(at, at + row.count) for at in (row.left, row.right))
                assert [left[i] for i in ours] == [right[j] for j in theirs]
                places[0].extend(ours)
                places[1].extend(theirs)
            else:
                assert (row.left, row.right) != (None, None)
                if row.left is not None and row.right is not None:
                    assert left[row.left] != right[row.right]
                for side, place in zip(places, (row.left, row.right), strict=True):
                    side.extend([] if place is None else [place])
        assert places == (list(range(len(left))), list(range(len(right))))


def test_marks_are_where_two_lines_differ() -> None:
    chance = random.Random(1)
    for _ in range(300):
        left, right = lines(chance, 2)
        for row in side_by_side([left], [right]):
            if isinstance(row, Differs) and row.left is not None and row.right is not None:
                rest = [
                    _without(text, marks)
                    for text, marks in (
                        (left.text, row.left_marks),
                        (right.text, row.right_marks),
                    )
                ]
                assert rest[0] == rest[1]


def _without(text: str, marks: tuple[tuple[int, int], ...]) -> str:
    return "".join(char for at, char in enumerate(text) if not any(a <= at < b for a, b in marks))


def test_many_small_changes_are_quick() -> None:
    """An alignment that looked through the whole graph for each of them would take minutes."""
    chance = random.Random(2)
    left = [line for number in range(5000) for line in lines(chance, 1, name=f"v{number}")]
    right = [line for place, line in enumerate(left) if place % 8]
    rows = side_by_side(left, right)
    assert sum(isinstance(row, Differs) for row in rows) == 625
    assert len(rows) == 1250


def test_ranges() -> None:
    assert ranges([4, 5, 6, 9]) == [4, 3, 9, 1]
    assert ranges([]) == []
    assert ranges([3, 2, 2]) == [3, 1, 2, 1, 2, 1]


def test_what_does_not_change_adds_little(tmp_path: Path) -> None:
    """A line that stands in many graphs is stored once."""
    compiled(tmp_path, rewrites=[NegNeg])
    (path,) = tmp_path.glob("*.html")
    graphs = Parsed(path.read_text()).graphs
    assert len({json.dumps(line) for line in graphs["lines"]}) == len(graphs["lines"])


# ------------------------------------------------------------------------------- notebooks


@pytest.fixture
def module() -> Any:
    return xductor.from_fx(make_fx(function, tracing_mode="fake")(*inputs()), stage="joint")


class _Formatter:
    """Stands for IPython's: a function for each class, known by its name until it is imported."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, str], Any] = {}

    def for_type_by_name(self, module: str, name: str, function: Any) -> None:
        self.known[module, name] = function


class _Shell:
    def __init__(self) -> None:
        self.html = _Formatter()
        self.display_formatter = self
        self.formatters = {"text/html": self.html}


def test_modules_are_shown_by_a_notebook(module: Any) -> None:
    shell = _Shell()
    xductor.load_ipython_extension(shell)
    for one in (module, next(iter(module.ops))):
        show = shell.html.known[type(one).__module__, type(one).__name__]
        text = Parsed(show(one)).text
        assert "= aten.relu.default %mv : f32[4]" in text
        assert "fx.graph @forward stage(joint)" in text


def test_a_module_of_another_dialect_is_left_to_others() -> None:
    from xdsl.dialects.builtin import ModuleOp

    assert notebooks.module_html(ModuleOp([])) is None


def test_explanations_records_and_diffs_show_themselves(module: Any, tmp_path: Path) -> None:
    why = xductor.explain(NegNeg, module)
    html = why._repr_html_()
    assert "only for &lt;b&gt;matrices&lt;/b&gt;" in html
    assert f"<b>neg_neg</b>: {len(why.matched)} matched, {len(why.near)} did not" in html
    assert html.count("<details") == len(why.entries) >= 2
    compiled(tmp_path, rewrites=[NegNeg])
    text = Parsed(xductor.last_compile()._repr_html_()).text
    assert "neg_neg at aten.neg.default" in text
    other = xductor.parse_ir(xductor.print_ir(module).replace("aten.relu", "aten.sigmoid"))
    found = Parsed(xductor.diff(module, other)._repr_html_())
    assert "+ %relu = aten.sigmoid.default" in found.text
    assert "same structure" in Parsed(xductor.diff(module, module)._repr_html_()).text
    torch._dynamo.reset()
