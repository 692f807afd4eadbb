"""What is collected of the compiles of a test."""

from __future__ import annotations

from pathlib import Path

import pytest

from xductor.backend.config.warn_once import forget_warnings
from xductor.backend.report import collector
from xductor.backend.report.compile_data import CompileData
from xductor.backend.report.page_files import write_page


@pytest.fixture(autouse=True)
def _warn_afresh() -> None:
    forget_warnings()


@pytest.fixture
def collected(monkeypatch: pytest.MonkeyPatch) -> list[CompileData]:
    """The compiles for which pages were written, in the order in which they began."""
    found: list[CompileData] = []

    def note(data: CompileData, folder: str | Path) -> Path:
        if data not in found:
            found.append(data)
        return write_page(data, folder)

    monkeypatch.setattr(collector, "write_page", note)
    return found
