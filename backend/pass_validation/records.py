"""Records of validations: how much of which code agreed, kept and checked.

Entries of `transforms/validations.json` are by the name of a procedural pass or row, the qualified
name of a declared rewrite, or `remove_noop_ops:OPERATOR` for a rule.
"""

from __future__ import annotations

import ast
import importlib.util
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch

from xductor.backend.pass_validation.passes import SPECIMENS, owner
from xductor.backend.pass_validation.validation import PassValidation
from xductor.transforms import registry
from xductor.transforms.noop_registry import NOOP_RULES
from xductor.transforms.proving.code_hashes import hash_of
from xductor.transforms.proving.noop_cases import NoopCase
from xductor.transforms.proving.subjects import RewriteSubject, Subject
from xductor.transforms.rewriting.validation import ValidationResult

OURS = Path(registry.__file__).with_name("validations.json")
"""The records of this project's own passes."""

#: The families of passes, and the graphs for them. What all passes stand on is not part of a hash:
#: a sample of each record is run again by the tests.
_ROOMS = (
    "xductor.transforms.pre_grad.",
    "xductor.transforms.joint_graph.",
    "xductor.transforms.post_grad.",
    "xductor.transforms.attention.",
    "xductor.backend.pass_validation.",
)


def read(path: Path | None = None) -> dict[str, dict[str, Any]]:
    """The records of a file, ours if none is given; none if it is absent."""
    path = path or OURS
    return json.loads(path.read_text()) if path.exists() else {}


def write(entries: Mapping[str, Mapping[str, Any]], path: Path | None = None) -> None:
    """Write a file of records, in order, so that a change shows as what it is."""
    text = json.dumps(dict(sorted(entries.items())), indent=1, sort_keys=True)
    (path or OURS).write_text(f"{text}\n")


def names() -> Iterator[str]:
    """All that has a record."""
    yield from SPECIMENS
    yield from (one.identity for one in _subjects())


def _subjects() -> Iterator[Subject]:
    yield from (RewriteSubject(one()) for one in registry.declared_rewrites())
    yield from (NoopCase(op) for op in NOOP_RULES)


def record_of_pass(result: PassValidation) -> dict[str, Any]:
    """What is kept of a procedural pass's validation."""
    found = {
        "graphs": result.graphs,
        "runs": result.runs,
        "idle": result.idle,
        "what": result.what,
        "proofs": dict(sorted(result.proofs.items())),
        "unproved": SPECIMENS[result.name].unproved,
    }
    return found | _about(result.name)


def record_of_rewrite(identity: str, result: ValidationResult) -> dict[str, Any]:
    """What is kept of the validation of a declared rewrite, or of a rule."""
    return {"graphs": result.instances, "runs": result.runs} | _about(identity)


def _about(name: str) -> dict[str, Any]:
    return {"code": code_of(name), "torch": torch.__version__.partition("+")[0]}


def code_of(name: str) -> str:
    """A hash of the code that a record is about.

    Of a rewrite or a rule it is that of its certificate; of a procedural pass that of its module,
    of the modules of passes which that imports, and of the graphs that it is run on.
    """
    if name in SPECIMENS:
        specimens = SPECIMENS[name]
        functions = (getattr(specimens.make, "func", specimens.make), specimens.agree)
        starts = [registry.typed_class(owner(name)).__module__]
        starts += [one.__module__ for one in functions]
        return _hash_of_modules(tuple(starts))
    subject = next(one for one in _subjects() if one.identity == name)
    return hash_of(subject.code())


def missing(entries: Mapping[str, Mapping[str, Any]], names: Iterable[str]) -> list[str]:
    """What has no record of the code as it is now."""
    return [name for name in names if entries.get(name, {}).get("code") != code_of(name)]


@cache
def _hash_of_modules(starts: tuple[str, ...]) -> str:
    found: dict[str, str] = {}
    pending = list(starts)
    while pending:
        name = pending.pop()
        tree = None if name in found or not name.startswith(_ROOMS) else _tree(name)
        if tree is not None:
            found[name] = ast.unparse(tree)
            pending += _imported(tree)
    text = "\n".join(f"{name}\n{found[name]}" for name in sorted(found))
    return sha256(text.encode()).hexdigest()[:20]


@cache
def _tree(name: str) -> ast.Module | None:
    """A module without comments and docstrings; None of what is no module."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    if spec is None or spec.origin is None:
        return None
    tree = ast.parse(Path(spec.origin).read_text())
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_docstring(body[0]):
            node.body = body[1:] or [ast.Pass()]  # type: ignore[attr-defined]
    return tree


def _is_docstring(node: object) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{one.name}" for one in node.names)


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
