"""Collects `*.mlir` files with `RUN:` lines for pytest, and runs each line as a test.

A part of the pytest plugin. Files whose `RUN:` lines call nothing of ours are another tool's, and
are left to it.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from xductor.backend.cli.run_lines import (
    RunLineFailed,
    calls_ours,
    run_lines,
    run_pipeline,
    split_pipeline,
)

_OPTION = "xductor_filecheck"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(
        _OPTION,
        "whether .mlir files with RUN: lines that call xductor-opt or xductor are tests",
        type="bool",
        default=True,
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.File | None:
    if file_path.suffix != ".mlir" or not parent.config.getini(_OPTION):
        return None
    if not calls_ours(file_path.read_text(encoding="utf-8", errors="replace")):
        return None
    return MlirFile.from_parent(parent, path=file_path)


class MlirFile(pytest.File):
    def collect(self) -> Iterator[pytest.Item]:
        try:
            lines = run_lines(self.path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise self.CollectError(f"{self.path}: {error}") from error
        for index, line in enumerate(lines):
            yield RunLine.from_parent(self, name=f"run{index}", line=line)


class RunLine(pytest.Item):
    def __init__(self, *, line: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.line = line

    def runtest(self) -> None:
        scratch = self.config.stash.setdefault(_SCRATCH, Scratch())
        run_pipeline(split_pipeline(self.line), self.path, scratch.file_for(self))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> str:  # type: ignore[override]
        if isinstance(excinfo.value, RunLineFailed):
            return f"{self.path}\nRUN: {self.line}\n\n{excinfo.value}"
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"RUN: {self.line}"


class Scratch:
    """Scratch files named `%t`, removed with the session."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="xductor-filecheck-")

    def file_for(self, item: RunLine) -> str:
        stem = re.sub(r"\W+", "_", str(item.path))
        return str(Path(self._folder.name) / stem)


_SCRATCH = pytest.StashKey[Scratch]()
