"""The graphs of a FileCheck test before and after its pass, as `xductor-opt` prints them."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from xductor.backend.cli.opt.main import main as xductor_opt

_RUN = re.compile(r"^// RUN: (xductor-opt [^|]*)", re.MULTILINE)
_GRAPH = re.compile(r"^  fx\.graph @([\w$.]+).*?^  }$", re.MULTILINE | re.DOTALL)
_COMMENTED = re.compile(r"((?:^//.*\n)+)fx\.graph @([\w$.]+)", re.MULTILINE)
_DIRECTIVE = re.compile(r"^// ?[A-Z][A-Z-]+:")


@dataclass(frozen=True)
class Example:
    """A graph before and after a pass, and the comment above it in the test."""

    name: str
    comment: str
    before: str
    after: str

    @property
    def changed(self) -> bool:
        return self.before != self.after

    @property
    def gone(self) -> list[int]:
        """The lines of `before` that are not in `after`, from 1."""
        return self._differing(0)

    @property
    def new(self) -> list[int]:
        """The lines of `after` that are not in `before`, from 1."""
        return self._differing(1)

    def _differing(self, side: int) -> list[int]:
        lines = self.before.splitlines(), self.after.splitlines()
        matcher = SequenceMatcher(a=lines[0], b=lines[1], autojunk=False)
        return [
            number + 1
            for kind, *ends in matcher.get_opcodes()
            if kind != "equal"
            for number in range(ends[2 * side], ends[2 * side + 1])
        ]


def examples(test: Path, name: str) -> list[Example]:
    """The graphs of a test, in order; none if its first command does not run the pass alone.

    Raises:
        RuntimeError: the command of the test fails.
    """
    text = test.read_text(encoding="utf-8")
    run = _RUN.search(text)
    if run is None or "--disable-verify" in run[1]:
        return []
    words = [str(test) if word == "%s" else word for word in shlex.split(run[1])[1:]]
    at = words.index("-p")
    if words[at + 1].partition("{")[0] != name:
        return []
    before = _graphs(words[:at] + words[at + 2 :])
    after = _graphs(words)
    comments = {symbol: _words(comment) for comment, symbol in _COMMENTED.findall(text)}
    return [
        Example(symbol, comments.get(symbol, ""), graph, after[symbol])
        for symbol, graph in before.items()
        if symbol in after
    ]


def _graphs(words: list[str]) -> dict[str, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = xductor_opt(words)
    if status:
        raise RuntimeError(f"xductor-opt {' '.join(words)}: exit status {status}\n{err.getvalue()}")
    return {
        match[1]: "\n".join(line[2:] for line in match[0].splitlines())
        for match in _GRAPH.finditer(out.getvalue())
    }


def _words(comment: str) -> str:
    lines = [line for line in comment.splitlines() if not _DIRECTIVE.match(line)]
    return " ".join(line.removeprefix("//").strip() for line in lines).strip()
