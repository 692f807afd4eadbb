"""Collects ``*.mlir`` files with ``RUN:`` lines, and runs each line as a test."""

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.filecheck.run_lines import RunLineFailed, run_lines, run_pipeline, split_pipeline


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.File | None:
    if file_path.suffix == ".mlir":
        return MlirFile.from_parent(parent, path=file_path)
    return None


class MlirFile(pytest.File):
    def collect(self) -> Iterator[pytest.Item]:
        lines = run_lines(self.path.read_text(encoding="utf-8"))
        if not lines:
            raise self.CollectError(f"{self.path}: no RUN: line")
        for index, line in enumerate(lines):
            yield RunLine.from_parent(self, name=f"run{index}", line=line)


class RunLine(pytest.Item):
    def __init__(self, *, line: str, **kwargs: object) -> None:
        super().__init__(**kwargs)  # type: ignore[arg-type]
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
    """Scratch files named ``%t``, removed with the session."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="xductor-filecheck-")

    def file_for(self, item: RunLine) -> str:
        stem = re.sub(r"\W+", "_", str(item.path))
        return str(Path(self._folder.name) / stem)


_SCRATCH = pytest.StashKey[Scratch]()
