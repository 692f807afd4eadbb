"""All wrong rewrites, as a table: `python -m tests.wrong_rewrites`."""

from __future__ import annotations

from collections import Counter

from tests.wrong_rewrites import (  # noqa: F401  each adds its cases
    arithmetic,
    classes,
    dims,
    dtypes,
    effects,
    indexing,
    layout,
    matching,
    symbols,
)
from tests.wrong_rewrites.case import CASES


def table() -> str:
    """One line for each: kind, level, name; then the counts."""
    rows = sorted(CASES, key=lambda case: (case.level, case.kind, case.name))
    width = max(len(case.kind) for case in rows)
    lines = [f"{case.kind:{width}}  {case.level:8}  {case.name}" for case in rows]
    counts = Counter(case.level for case in rows)
    total = ", ".join(f"{level} {count}" for level, count in sorted(counts.items()))
    kinds = len({case.kind for case in rows})
    return "\n".join([*lines, f"{len(rows)} wrong rewrites of {kinds} kinds; refused by: {total}"])


__all__ = ["CASES", "table"]
