"""Certificates: what was proved of which code, in a form that can be stored and checked."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch

from xductor.transforms.proving.code_hashes import hash_of, hash_of_meaning, hash_of_sources
from xductor.transforms.proving.results import FAILED, Proof
from xductor.transforms.proving.subjects import Subject
from xductor.transforms.semantics.registry import meaning_of

#: The version of the prover: proofs by other versions do not count.
PROVER = 3

_PROVER = "xductor.transforms.proving.prover"

#: The certificates of this project's own rewrites.
OURS = Path(__file__).resolve().parents[1] / "rows" / "proofs.json"

_KEPT = tuple(
    one.name
    for one in fields(Proof)
    if one.name not in ("counter_example", "cached", "seconds", "not_taken")
)


def certificate_of(subject: Subject, proof: Proof) -> dict[str, Any]:
    """What is kept of a proof, with hashes of everything it depends on."""
    entry: dict[str, Any] = {name: _plain(getattr(proof, name)) for name in _KEPT}
    entry["seconds"] = round(proof.seconds, 1)
    entry["prover"] = PROVER
    entry["z3"] = _z3_version()
    entry["code"] = hash_of(subject.code())
    entry["meanings"] = {op: _hash_of_meaning(op) for op in proof.ops}
    if proof.counter_example is not None:
        entry["problem"] = proof.counter_example.problem
    return entry


def _plain(item: Any) -> Any:
    return list(item) if isinstance(item, tuple) else item


def _hash_of_meaning(op: str) -> str | None:
    """The hash of an operator's meaning; None for one without, which it may get later."""
    return None if meaning_of(op) is None else hash_of_meaning(op)


def _z3_version() -> str:
    from xductor.transforms.proving.solving.solver import z3_module

    return str(z3_module().get_version_string())


def is_current(subject: Subject, entry: Mapping[str, Any]) -> bool:
    """Whether a certificate is about the code as it is now."""
    return (
        entry.get("prover") == PROVER
        and entry.get("code") == hash_of(subject.code())
        and all(_hash_of_meaning(op) == known for op, known in entry.get("meanings", {}).items())
    )


def proof_of(entry: Mapping[str, Any]) -> Proof:
    """The proof that a certificate describes."""
    items: dict[str, Any] = {
        name: tuple(entry[name]) if isinstance(entry[name], list) else entry[name]
        for name in _KEPT
        if name in entry
    }
    proof = Proof(**items)
    proof.seconds = entry.get("seconds", 0.0)
    proof.cached = True
    return proof


def read(path: Path) -> dict[str, dict[str, Any]]:
    """The certificates of a file by the identity of their subjects; empty if there is no file."""
    return json.loads(path.read_text()) if path.exists() else {}


def write(path: Path, entries: Mapping[str, Mapping[str, Any]]) -> None:
    """Write a file of certificates, sorted, so that a diff shows only what changed."""
    path.write_text(json.dumps(dict(sorted(entries.items())), indent=1, sort_keys=True) + "\n")


#: The statuses that more time would not change.
WHOLE = ("proved", "proved up to re-association")


def _versions() -> str:
    return f"z3 {_z3_version()}, torch {torch.__version__}"


class Cache:
    """Certificates kept between runs, except for what is refuted, vacuous or undecided.

    Anything but a whole proof depends on the time it was given, on the solver and, if it was run,
    on PyTorch: it is reused only with the same versions, and if no more time is given.

    The key includes the prover's sources, so that no result of another prover is reused. The folder
    is the one that `XDUCTOR_PROOFS` names, or one in the user's cache folder.
    """

    def __init__(self, folder: Path | None = None) -> None:
        home = os.environ.get("XDUCTOR_PROOFS") or Path.home() / ".cache" / "xductor" / "proofs"
        self.folder = Path(home) if folder is None else folder

    def _path(self, subject: Subject) -> Path:
        code = subject.code()
        homes = {getattr(one, "__module__", None) for one in code} | {__name__, _PROVER}
        sources = hash_of_sources(tuple(sorted(name for name in homes if name)))
        return self.folder / f"{hash_of((subject.identity, sources, *code))}.json"

    def get(self, subject: Subject, seconds: float) -> Proof | None:
        """The proof of exactly this code, if one was kept that is whole or was given that time."""
        path = self._path(subject)
        try:
            entry = json.loads(path.read_text())
        except (OSError, ValueError):
            return None
        whole = entry.get("status") in WHOLE
        if not whole and (entry.get("given", 0.0) < seconds or entry.get("with") != _versions()):
            return None
        return proof_of(entry) if is_current(subject, entry) else None

    def put(self, subject: Subject, proof: Proof, seconds: float) -> None:
        """Keep a proof that was given so much time."""
        if proof.status in FAILED:
            return
        path = self._path(subject)
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(f".{os.getpid()}")
        entry = certificate_of(subject, proof)
        entry |= {"given": seconds, "with": _versions(), "seconds": round(proof.seconds, 1)}
        partial.write_text(json.dumps(entry))
        partial.replace(path)


def missing(subjects: Iterable[Subject], entries: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The identities of subjects that have no certificate of the code as it is now."""
    return [
        one.identity
        for one in subjects
        if one.identity not in entries or not is_current(one, entries[one.identity])
    ]


__all__ = [
    "OURS",
    "Cache",
    "certificate_of",
    "is_current",
    "missing",
    "proof_of",
    "read",
    "write",
]
