"""Compares how often rewrites are applied in each test with counts that were recorded in a file.

The file is JSON: for each test that applies something, by its node id, the rewrites with their
counts. A test that is not in it applies nothing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xductor.backend.records.stage_records import StageRecord

Counted = dict[str, int]


class NoCounts(ValueError):
    """A file that holds no counts; the message names it."""


class CountsFile:
    """The counts of a file, and those that were found in this run."""

    def __init__(self, path: Path, shown: str) -> None:
        """Raises NoCounts if the file is there, but holds no counts."""
        self.path = path
        self.shown = shown
        self.counts = _read(path)
        self.found: dict[str, Counted] = {}

    def difference(self, test: str, found: Mapping[str, int]) -> str:
        """What differs from the counts of a test, a line for each rewrite; "" if nothing does."""
        expected = self.counts.get(test, {})
        names = sorted(
            name for name in {*expected, *found} if expected.get(name, 0) != found.get(name, 0)
        )
        if not names:
            return ""
        lines = [
            f"  {one}: expected {expected.get(one, 0)}, found {found.get(one, 0)}" for one in names
        ]
        return "\n".join(
            [
                f"rewrites were not applied as often as {self.shown} says:",
                *lines,
                "If that is right, record it: pytest --xductor-update-counts",
            ]
        )

    def update(self, collected: Collection[str] | None) -> int:
        """Write the file with what was found; returns how many tests have other counts now.

        `collected` are the tests of the files that were collected whole, or None if that is not
        known: other tests of these files do not exist any more, and are left out.
        """
        kept = dict(self.counts) if collected is None else _without_gone(self.counts, collected)
        kept.update(self.found)
        written = {test: dict(sorted(one.items())) for test, one in sorted(kept.items()) if one}
        changed = sum(
            written.get(test, {}) != self.counts.get(test, {}) for test in {*written, *self.counts}
        )
        if changed or not self.path.exists():
            self.path.write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
        return changed


def counts_of(records: Iterable[StageRecord], patterns: Collection[str]) -> Counted:
    """How often each rewrite or pass whose name is one of the patterns (`silu_*`) was applied.

    Without patterns: all those that are no part of xductor.
    """
    from xductor.transforms.rows.registry import rows

    ours = {row.name for row in rows()}
    found: Counter[str] = Counter()
    for record in records:
        if patterns:
            found.update(record.counts())
            continue
        for one in record.passes:
            found.update(made.rewrite for made in one.made if not _is_ours(made.source))
            rest = (one.applications or 0) - len(one.made)
            if rest > 0 and one.name not in ours:
                found[one.name] += rest
    wanted = patterns or ("*",)
    return {
        name: count
        for name, count in found.items()
        if any(fnmatchcase(name, pattern) for pattern in wanted)
    }


def _is_ours(source: str) -> bool:
    return source.startswith("xductor.")


def _read(path: Path) -> dict[str, Counted]:
    if not path.exists():
        return {}
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise NoCounts(f"{path}: no JSON: {error}") from error
    if not isinstance(content, dict) or not all(map(_is_counted, content.values())):
        raise NoCounts(f'{path}: expected {{"test": {{"rewrite": count}}}}')
    return content


def _is_counted(one: object) -> bool:
    return isinstance(one, dict) and all(type(count) is int for count in one.values())


def _without_gone(counts: Mapping[str, Counted], collected: Collection[str]) -> dict[str, Counted]:
    files = {test.partition("::")[0] for test in collected}
    return {
        test: one
        for test, one in counts.items()
        if test in collected or test.partition("::")[0] not in files
    }


__all__ = ["Counted", "CountsFile", "NoCounts", "counts_of"]
