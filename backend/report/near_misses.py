"""What nearly matched in a stage call: for each rewrite, and for passes that give reasons, the
candidates that were left alone, what stood in the way, and what would help.

It is `xductor.explain`, asked of each graph on which a pass runs, or would run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from xductor.backend.explained_graphs import explained_part, parts_of
from xductor.transforms import Rewrite, TypedPass, graphs_of
from xductor.transforms.explaining.explain import SHOWN, Entry
from xductor.transforms.passes.numerics import Policy, admits

#: From how many found calls on a pattern of ours counts as begun: one call alone is in any graph.
_BEGUN = 2

#: From how many ops on a graph is looked through for the user's own rewrites only.
_LARGE = 10_000


@dataclass
class Candidate:
    """A candidate that did not match, with those that read the same: how many, and where."""

    entry: Entry
    op: str
    count: int = 0
    places: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])


@dataclass
class NearMisses:
    """What a rewrite or pass did not apply to in one graph.

    - `pattern`: as text; empty for a procedural pass.
    - `ours`: whether it is one of this package.
    - `notes`: what keeps it from running at all.
    - `left_out`: how many candidates are farther off than those that are listed.
    """

    rewrite: str
    pattern: str
    ours: bool
    notes: tuple[str, ...]
    candidates: list[Candidate]
    left_out: int = 0

    @property
    def count(self) -> int:
        """How many candidates are listed, those that read the same included."""
        return sum(one.count for one in self.candidates)


def gives_reasons(one: TypedPass, policy: Policy) -> bool:
    """Whether there is something to say of what a pass leaves alone.

    That is so for declared rewrites, and for procedural passes that report it. Of passes of ours
    that do not run under the settings, nothing is told.
    """
    if is_ours(one) and not admits(policy, one.numerics):
        return False
    return type(one).explained is not TypedPass.explained or any(
        isinstance(part, Rewrite) for part in parts_of(one)
    )


def is_ours(one: Any) -> bool:
    """Whether a pass or rewrite, or each that it is made of, is one of this package."""
    return all(type(part).__module__.partition(".")[0] == "xductor" for part in parts_of(one))


def near_misses(one: TypedPass, module: ModuleOp) -> Iterator[NearMisses]:
    """What each rewrite of a pass leaves alone in a module, which is not changed."""
    if is_ours(one) and (_is_large(module) or not one.has_work(module)):
        return
    for part in parts_of(one):
        ours = is_ours(part)
        why = explained_part(part, module)
        close = [entry for entry in why.near if _is_close(entry, ours)]
        notes = () if ours else why.notes
        kept = _alike(close)
        if kept or notes:
            shown = kept[:SHOWN]
            rest = 0 if ours else len(why.near) - sum(one.count for one in shown)
            yield NearMisses(why.rewrite, why.pattern, ours, notes, shown, rest)


def _is_large(module: ModuleOp) -> bool:
    return sum(len(graph.block.ops) for graph in graphs_of(module)) >= _LARGE


def _is_close(entry: Entry, ours: bool) -> bool:
    """Whether a candidate is worth a line: graphs hold many calls with which patterns begin."""
    if entry.outcome == "left alone" or (ours and entry.of == 1):
        return False
    if entry.outcome != "near miss":
        return True
    if ours:
        return entry.calls >= max(_BEGUN, entry.of - 1)
    return bool(entry.remedies) or 2 * entry.calls >= entry.of


def _alike(entries: list[Entry]) -> list[Candidate]:
    """The entries in their order; those that read the same, as in each layer of a model, as one."""
    found: dict[Any, Candidate] = {}
    for entry in entries:
        op = _op_of(entry.root)
        differs = entry.difference
        there = None if entry.obstacle is None else _op_of(entry.obstacle.root)
        why = None if differs is None else (differs.pattern, _op_of(differs.graph), differs.why)
        key = (entry.outcome, op, entry.calls, entry.reason, why, entry.remedies, there)
        one = found.setdefault(key, Candidate(entry, op))
        one.count += 1
        if entry.location is not None and entry.location not in one.places:
            one.places.append(entry.location)
    return list(found.values())


def _op_of(text: str) -> str:
    """The name of the op of a line, without the values, which differ from layer to layer."""
    head, equals, rest = text.partition(" = ")
    call = rest if equals and head.startswith("%") else text
    return call.split(" ", 1)[0]


__all__ = ["Candidate", "NearMisses", "gives_reasons", "is_ours", "near_misses"]
