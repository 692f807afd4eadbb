"""The user's source lines that ops come from, highlighted, with what became of them."""

from __future__ import annotations

import linecache
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import torch
from markupsafe import Markup
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from xductor.backend.report.compile_data import CompileData
from xductor.backend.report.op_lines import GraphText

_CONTEXT = 1
#: Where the packages are, wherever that is.
_INSTALLED = f"{Path(torch.__file__).parents[1]}/"
_SHOWN = 300


@dataclass(frozen=True)
class SourceLine:
    """A line of source: its number, its text as HTML, how many ops of the last graphs come from
    it, and what was applied at it. A gap in the text has number 0.
    """

    number: int
    html: Markup | None = None
    ops: int = 0
    applied: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class SourceFile:
    """The lines of a file that ops come from, with those around them."""

    path: str
    ops: int
    lines: tuple[SourceLine, ...]
    left_out: int = 0

    @property
    def name(self) -> str:
        return Path(self.path).name

    @property
    def is_installed(self) -> bool:
        """Whether it is a file of an installed package, which the user did not write."""
        parts = set(Path(self.path).parts)
        return bool({"site-packages", "dist-packages"} & parts) or self.path.startswith(_INSTALLED)


def source_files(data: CompileData) -> list[SourceFile]:
    """The files that the ops of a compile come from: the user's first, then by number of ops."""
    ops = Counter(place for text in _last_graphs(data) for place in _places(text))
    applied: dict[tuple[str, int], Counter[str]] = {}
    for _, step in data.steps():
        for one in step.applications if not step.undone else ():
            if one.where is not None:
                applied.setdefault(one.where, Counter())[one.rewrite] += 1
    known = {
        *ops,
        *applied,
        *(place for stage in data.stages if stage.before for place in _places(stage.before)),
    }
    found = [
        _source_file(path, sorted(line for file, line in known if file == path), ops, applied)
        for path in dict.fromkeys(file for file, _ in sorted(known))
    ]
    return sorted(found, key=lambda one: (one.is_installed, -one.ops))


def style(dark: bool) -> str:
    """The colors of highlighted source, as CSS."""
    formatter = HtmlFormatter(style="github-dark" if dark else "default")
    return "\n".join(
        line
        for line in formatter.get_style_defs(".source code").splitlines()
        if line.startswith(".source code .")
    )


def _last_graphs(data: CompileData) -> list[GraphText]:
    """The graphs that code is made from, or else those of the last stage."""
    last = [one for one in data.stages if one.stage == "post_grad"] or data.stages[-1:]
    return [one.after for one in last if one.after is not None]


def _places(text: GraphText) -> Iterable[tuple[str, int]]:
    return (line.location for line in text.lines if line.location is not None)


def _source_file(
    path: str,
    numbers: Sequence[int],
    ops: Counter[tuple[str, int]],
    applied: dict[tuple[str, int], Counter[str]],
) -> SourceFile:
    texts = _highlighted(path)
    total = sum(ops[path, number] for number in numbers)
    lines: list[SourceLine] = []
    last = 0
    for number in _around(numbers[:_SHOWN]):
        if number > len(texts):
            break
        if last and number > last + 1:
            lines.append(SourceLine(0))
        last = number
        at = tuple(applied.get((path, number), Counter()).items())
        lines.append(SourceLine(number, texts[number - 1], ops[path, number], at))
    return SourceFile(path, total, tuple(lines), max(len(numbers) - _SHOWN, 0))


def _around(numbers: Sequence[int]) -> list[int]:
    near = {one for number in numbers for one in range(number - _CONTEXT, number + _CONTEXT + 1)}
    return sorted(one for one in near if one > 0)


def _highlighted(path: str) -> list[Markup]:
    """The lines of a file as HTML; none if it cannot be read."""
    text = "".join(linecache.getlines(path))
    if not text:
        return []
    html = HtmlFormatter(nowrap=True)
    tokens = PythonLexer(stripnl=False).get_tokens(text)
    written = StringIO()
    html.format(tokens, written)
    # The formatter has escaped it, and has no span of a token go on over the end of a line.
    return [Markup(line) for line in written.getvalue().split("\n")]


__all__ = ["SourceFile", "SourceLine", "source_files", "style"]
