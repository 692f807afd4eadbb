"""Every test here has caches of its own, and the records of the stages that really ran."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.backend.paths.through_stages import StageRecords
from xductor.backend.config.warn_once import forget_warnings
from xductor.backend.records import stage_records
from xductor.backend.seam import dispatch


@pytest.fixture(autouse=True)
def _own_caches(empty_cache: Path) -> None:
    forget_warnings()


@pytest.fixture
def stages() -> Iterator[StageRecords]:
    """The stage calls of the test; none of them may have fallen back."""
    with stage_records.record() as records:
        yield StageRecords(records)
    dispatch.uninstall()
    assert [record.fallback for record in records if record.fallback] == []
