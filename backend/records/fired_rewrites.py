"""How often a rewrite or pass was applied, from the records of stage calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from xductor.backend.config import placement
from xductor.backend.records.counts import Counts
from xductor.backend.records.stage_records import StageRecord


def times_fired(records: Iterable[StageRecord], rewrite: Any) -> tuple[int, str]:
    """How often `rewrite` was applied, and a text that says so and what else was applied.

    A rewrite or pass is given as a class or an instance, or by its name. Classes of the same name
    are told apart.

    Raises UnknownPass for a name that no pass or rewrite has.
    """
    fired: Counter[str] = Counter()
    sources: Counter[str] = Counter()
    ran: set[str] = set()
    for record in records:
        counts = record.counts()
        fired.update(counts)
        ran |= counts.ran
        sources.update(one.source for one in record.applications_made)
    name = _name(rewrite)
    qualified = getattr(rewrite, "qualified_name", None)
    found = sources[str(qualified())] if callable(qualified) else Counts(fired, ran)[name]
    others = [f"{one} {count}" for one, count in fired.items()]
    return found, f"{name} {found} times; what fired: {', '.join(others) or 'nothing'}"


def _name(rewrite: Any) -> str:
    if isinstance(rewrite, str):
        return rewrite
    return getattr(rewrite, "name", None) or placement.shown(rewrite)


__all__ = ["times_fired"]
