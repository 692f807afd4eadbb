"""Every test here has caches of its own, and the records of the stages that really ran."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.backend.paths.through_stages import StageRecords
from xductor.backend import ledger, not_covered, seam


@pytest.fixture(autouse=True)
def _own_caches(empty_cache: Path) -> None:
    not_covered.forget()


@pytest.fixture
def stages() -> Iterator[StageRecords]:
    """The stage calls of the test; none of them may have fallen back."""
    with ledger.record() as records:
        yield StageRecords(records)
    seam.uninstall()
    assert [record.fallback for record in records if record.fallback] == []
