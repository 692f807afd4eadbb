"""A page for each pass, from its row, its class, its FileCheck test and `differences.md`."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from graphs_of_tests import Example, examples

from xductor.backend.cli.passes_page import STAGES, name_of, place
from xductor.transforms.passes.numerics import numerics_text
from xductor.transforms.rows import registry
from xductor.transforms.rows.pass_row import PassRow

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests/filecheck/transforms"

_KINDS = {
    "declared": "declared: a pattern, a condition and a replacement",
    "procedural": "procedural: code that edits the graph",
    "bridged": "bridged: Inductor's own function, run on the FX graph",
    "hook": "hook: where passes of the user run",
    "not yet": "not yet: an empty body in Inductor too",
}


def path_of(row: PassRow) -> str:
    """The page of a row, below `docs`: that of the pass that does its job."""
    if row.covered_by:
        return path_of(registry.row(row.covered_by))
    return f"passes/{row.stage}/{row.name}.md"


def linked(row: PassRow) -> str:
    """The name of a row, with a link from `passes.md`; a line may break after each part of it."""
    return f"[<code>{row.name.replace('_', '_<wbr>')}</code>]({path_of(row)})"


def pages() -> Iterator[tuple[str, str]]:
    """Path and text of all pages."""
    for row in registry.rows():
        if not row.covered_by:
            yield path_of(row), page(row)


def page(row: PassRow) -> str:
    """The text of the page of one row."""
    sections = [
        "---\nhide:\n  - navigation\n---",
        f"[Passes](../../passes.md) / [{STAGES[row.stage]}](../../passes.md#{_anchor(row)})",
        f"# `{row.name}`",
        row.summary,
        _facts(row),
        *_before_and_after(row),
        *_docstrings(row),
        *_differences(row),
        *_more(row),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _anchor(row: PassRow) -> str:
    """The section of `passes.md` about the stage of a row."""
    return STAGES[row.stage].lower()


def _facts(row: PassRow) -> str:
    of = len(registry.rows(row.stage))
    stands_for = ", ".join(map(name_of, _stands_for(row)))
    known = {
        "stage": f"{STAGES[row.stage]}, {place(row)} of {of}",
        "kind": _KINDS[row.kind],
        "in Inductor": _code(registry.inductor_of(row)) or "nowhere: it is ours",
        "runs if": _code(row.flag) or "always",
        "options": _code(row.options),
        "counter": _code(registry.counter_of(row)),
        "stands for": stands_for,
        "numerics": _numerics(row),
        "validated": registry.validation_of(row),
        "proof": registry.proof_of(row),
        "class": _code(row.factory),
    }
    lines = [f"| {name} | {text} |" for name, text in known.items() if text]
    table = "\n".join(["| | |", "| --- | --- |", *lines])
    return f'<div class="facts" markdown>\n\n{table}\n\n</div>'


def _stands_for(row: PassRow) -> list[PassRow]:
    return [other for other in registry.rows() if row.name == other.covered_by]


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _numerics(row: PassRow) -> str:
    if not row.factory:
        return ""
    text = numerics_text(registry.typed_class(row.name).numerics)
    return f"[{text}](../../writing-a-rewrite.md#numerics-and-policy)"


def _before_and_after(row: PassRow) -> Iterator[str]:
    """The first graph that the pass changes, as a picture, and what the other graphs show."""
    test = TESTS / f"{row.name}.mlir"
    if not row.factory or not test.exists():
        return
    found = examples(test, row.name)
    changed = [example for example in found if example.changed]
    if not changed:
        return
    yield "## Before and after"
    yield f"Graph `@{changed[0].name}` of `{test.relative_to(ROOT)}`, printed by `xductor-opt`."
    yield picture(changed[0])
    noted = [one for one in found if one is not changed[0] and one.comment]
    if noted:
        yield "The other graphs of that test:"
        yield "\n".join(
            f"- `@{one.name}`, {'changed' if one.changed else 'left as it is'}: {one.comment}"
            for one in noted
        )


def picture(example: Example) -> str:
    """Two blocks side by side, lines that differ marked."""
    blocks = [
        f'<div markdown>\n\n```{{.mlir title="{title}"{_marked(lines)}}}\n{text}\n```\n\n</div>'
        for title, text, lines in (
            ("before", example.before, example.gone),
            ("after", example.after, example.new),
        )
    ]
    return "\n".join(['<div class="before-after" markdown>', *blocks, "</div>"])


def _marked(lines: list[int]) -> str:
    return f' hl_lines="{" ".join(map(str, lines))}"' if lines else ""


def _docstrings(row: PassRow) -> Iterator[str]:
    if not row.factory:
        return
    found = registry._found(row.factory)
    said = [(one.__name__, _docstring(one)) for one in registry._classes(found)]
    said = [(name, text) for name, text in said if text]
    if not said:
        return
    yield "## What it does"
    if len(said) == 1:
        yield said[0][1]
        return
    for name, text in said:
        first, _, rest = text.partition("\n")
        yield f"- `{name}`: {first}\n{textwrap.indent(rest, '  ')}".rstrip()


def _docstring(cls: type) -> str:
    """The docstring of the class itself, not of one that it is derived from."""
    return inspect.cleandoc(vars(cls).get("__doc__") or "")


@cache
def _rows_of_differences() -> list[list[str]]:
    lines = (ROOT / "docs/differences.md").read_text(encoding="utf-8").splitlines()
    rows = [re.split(r"(?<!\\)\|", line.strip("|")) for line in lines if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows if len(row) == 4]


def differences_of(row: PassRow) -> list[list[str]]:
    """The lines of `differences.md` whose first column names the pass, or what it stands for."""
    names = {f"`{one.name}`" for one in (row, *_stands_for(row))}
    return [
        cells for cells in _rows_of_differences() if names & set(re.findall(r"`[^`]+`", cells[0]))
    ]


def _differences(row: PassRow) -> Iterator[str]:
    found = differences_of(row)
    if not found:
        return
    yield "## Where it differs from Inductor"
    lines = ["| Inductor | here | why |", "| --- | --- | --- |"]
    lines += [f"| {' | '.join(cells[1:])} |" for cells in found]
    yield _two_up("\n".join(lines))


def _two_up(text: str) -> str:
    """Links of a page in `docs` as seen from two folders below."""
    text = re.sub(r"\]\(#", "](differences.md#", text)
    return re.sub(r"\]\((?!\w+://)", "](../../", text)


def _more(row: PassRow) -> Iterator[str]:
    links: list[str] = []
    fragments = (ROOT / "docs/pre-grad-passes.md").read_text(encoding="utf-8")
    if row.stage == "pre_grad" and f"\n## `{row.name}`\n" in fragments:
        links.append(
            f"[A fragment of a model, and the spellings that are found]"
            f"(../../pre-grad-passes.md#{row.name.lower()})"
        )
    if row.name == "fuse_attention":
        links.append("[Attention](../../attention.md)")
    same = [one for one in registry.rows() if one.name == row.name and one.stage != row.stage]
    links += [
        f"[The same pass in the {one.stage} stage](../{one.stage}/{one.name}.md)" for one in same
    ]
    if links:
        yield "## More"
        yield "\n".join(f"- {link}" for link in links)
