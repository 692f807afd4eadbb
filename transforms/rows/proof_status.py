"""What is known of a pass: on how many graphs it was validated, and what is proved of it.

Proofs are the certificates in `proofs.json`, which `xductor prove --write` keeps; validations the
records in `validations.json`, which `xductor validate --write` keeps.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from xductor.transforms.rows.pass_row import PassRow

#: What stands in the table for rows that are no passes of ours.
_NOT_OURS = {"hook": "the user's", "bridged": "Inductor's own"}


def proof_of(row: PassRow, rewrites: Iterable[str]) -> str:
    """What is proved of a pass: of its rewrites or rules, or of the graphs it was validated on.

    - `rewrites`: the keys in records of the declared rewrites that it is.

    Empty for a pass without proofs or records.
    """
    if row.kind == "hook":
        return _NOT_OURS["hook"]
    known = _entries("proofs.json")
    names = list(rewrites) or [name for name in known if name.startswith(f"{row.name}:")]
    if not names:
        return _proofs_of_graphs(_records_of(row))
    counts = Counter(known[name]["status"] if name in known else "not proved" for name in names)
    return _counted(counts)


def validation_of(row: PassRow, rewrites: Iterable[str]) -> str:
    """On how many inputs and graphs a pass agreed with what it replaced.

    Empty for a pass that has no record.
    """
    if row.kind in _NOT_OURS:
        return _NOT_OURS[row.kind]
    known = _entries("validations.json")
    found = [known[name] for name in rewrites if name in known] or _records_of(row)
    if not found:
        return ""
    runs, graphs = (sum(one[what] for one in found) for what in ("runs", "graphs"))
    said = dict.fromkeys(one["what"] for one in found if one.get("what"))
    return ", ".join([f"{runs} runs of {graphs} graphs", *said])


def _records_of(row: PassRow) -> list[dict[str, Any]]:
    """The validations of a procedural pass, of its rules, or of its parts."""
    known = _entries("validations.json")
    rules = [one for name, one in known.items() if name.startswith(f"{row.name}:")]
    if row.name in known:
        return [known[row.name]]
    return rules or [known[name] for name in row.parts if name in known]


def _proofs_of_graphs(records: list[dict[str, Any]]) -> str:
    counts: Counter[str] = Counter()
    for one in records:
        counts.update(one.get("proofs", {}))
    if counts:
        total, whole = sum(counts.values()), counts.pop("proved", 0)
        counts.pop("by values", None)
        others = [f"{count} {status}" for status, count in sorted(counts.items())]
        return ", ".join([f"{whole} of {total} graphs proved", *others])
    reasons = dict.fromkeys(one["unproved"] for one in records if one.get("unproved"))
    return "; ".join(f"none: {reason}" for reason in reasons)


def _counted(counts: Counter[str]) -> str:
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{count} {status}" for status, count in counts.most_common())


@cache
def _entries(file: str) -> dict[str, dict[str, Any]]:
    path = Path(__file__).with_name(file)
    return json.loads(path.read_text()) if path.exists() else {}


__all__ = ["proof_of", "validation_of"]
