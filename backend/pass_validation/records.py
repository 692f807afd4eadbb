"""Records of validations: which code agreed on how many inputs, kept and checked.

Entries of `transforms/rows/validations.json` are keyed by the name of a procedural pass or row, the
pass and class of a declared rewrite, or `remove_noop_ops:OPERATOR` for a rule.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

from xductor.backend.pass_validation.specimen import Specimens
from xductor.backend.pass_validation.validation import PassValidation
from xductor.transforms.noops.noop_registry import NOOP_RULES
from xductor.transforms.proving.code_hashes import hash_of
from xductor.transforms.proving.noop_cases import NoopCase
from xductor.transforms.proving.subjects import RewriteSubject, Subject
from xductor.transforms.rows import registry
from xductor.transforms.validation.validate import ValidationResult

#: The records of this project's own passes.
OURS = Path(registry.__file__).with_name("validations.json")


def read(path: Path | None = None) -> dict[str, dict[str, Any]]:
    """The records of a file, by default ours; empty if the file does not exist."""
    path = path or OURS
    return json.loads(path.read_text()) if path.exists() else {}


def write(entries: Mapping[str, Mapping[str, Any]], path: Path | None = None) -> None:
    """Write a file of records, sorted, so that a diff shows only what changed."""
    text = json.dumps(dict(sorted(entries.items())), indent=1, sort_keys=True)
    (path or OURS).write_text(f"{text}\n")


def names(specimens: Mapping[str, Specimens]) -> Iterator[str]:
    """The names of everything that has a record, by the specimens of our procedural passes."""
    yield from specimens
    yield from (one.identity for one in _subjects())


def _subjects() -> Iterator[Subject]:
    yield from (RewriteSubject(one()) for one in registry.declared_rewrites())
    yield from (NoopCase(op) for op in NOOP_RULES)


def record_of_pass(result: PassValidation, specimens: Mapping[str, Specimens]) -> dict[str, Any]:
    """The record of the validation of a procedural pass on one of the `specimens`."""
    found = {
        "graphs": result.graphs,
        "runs": result.runs,
        "idle": result.idle,
        "what": result.what,
        "proofs": dict(sorted(result.proofs.items())),
        "unproved": specimens[result.name].unproved,
    }
    return found | _about(result.name, specimens)


def record_of_rewrite(identity: str, result: ValidationResult) -> dict[str, Any]:
    """The record of the validation of a declared rewrite, or of a rule."""
    return {"graphs": result.instances, "runs": result.runs} | _about(identity, {})


def _about(name: str, specimens: Mapping[str, Specimens]) -> dict[str, Any]:
    return {"code": code_of(name, specimens), "torch": torch.__version__.partition("+")[0]}


def code_of(name: str, specimens: Mapping[str, Specimens]) -> str:
    """A hash of what a record is about: a certificate's claim, or a procedural pass."""
    if name in specimens:
        return hash_of([registry.typed_class(specimens[name].owner or name)])
    subject = next(one for one in _subjects() if one.identity == name)
    return hash_of(subject.code())


def missing(
    entries: Mapping[str, Mapping[str, Any]],
    names: Iterable[str],
    specimens: Mapping[str, Specimens],
) -> list[str]:
    """The names that have no record of the code as it is now."""
    return [name for name in names if entries.get(name, {}).get("code") != code_of(name, specimens)]


__all__ = [
    "OURS",
    "code_of",
    "missing",
    "names",
    "read",
    "record_of_pass",
    "record_of_rewrite",
    "write",
]
