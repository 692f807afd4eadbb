"""The record of a stage call as JSON content, and back."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

from xductor.backend.records.application_records import ApplicationRecord, Applications
from xductor.backend.records.stage_records import PassRecord, StageRecord


def stage_content(record: StageRecord) -> dict[str, Any]:
    """A stage's record as dicts, lists, text and numbers."""
    content = {one.name: getattr(record, one.name) for one in fields(record)}
    content["passes"] = [_pass_content(one) for one in record.passes]
    return content


def stage_of(content: dict[str, Any]) -> StageRecord:
    """The record that `stage_content` was given."""
    passes = [_pass_of(one) for one in content["passes"]]
    return StageRecord(**{**content, "passes": passes})


def _pass_content(record: PassRecord) -> dict[str, Any]:
    content = {one.name: getattr(record, one.name) for one in fields(record)}
    content["made"] = [asdict(one) for one in record.made]
    return content


def _pass_of(content: dict[str, Any]) -> PassRecord:
    made = Applications([_application_of(one) for one in content["made"]])
    tuples = {name: tuple(content[name]) for name in ("numbers", "unconverged")}
    return PassRecord(**{**content, **tuples, "made": made})


def _application_of(content: dict[str, Any]) -> ApplicationRecord:
    where = content["where"]
    tuples = {name: tuple(content[name]) for name in ("before", "after", "checks")}
    return ApplicationRecord(
        **{**content, **tuples, "where": None if where is None else tuple(where)}
    )


__all__ = ["stage_content", "stage_of"]
