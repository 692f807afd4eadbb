"""Explains why a rewrite did not apply: for each op that may be its root, how near it came.

Nothing is changed: what would be applied is built, checked and thrown away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from xdsl.dialects.builtin import ModuleOp

from xductor.ir import GraphOp, InferenceEnv, OutputOp, TorchOp
from xductor.ir.functions.torch_calls import aten_name
from xductor.ir.text.diagnostics import keeping_names, op_line
from xductor.ir.text.html import fragment
from xductor.transforms.analysis.graphs import graphs_of
from xductor.transforms.analysis.op_effects import Bodies
from xductor.transforms.explaining.near_matches import (
    Difference,
    TracingMatcher,
    call_count,
    calls_below,
    remedies,
)
from xductor.transforms.explaining.pattern_text import pattern_text
from xductor.transforms.explaining.where_answers import refusal
from xductor.transforms.matching.matcher import Match, Matcher
from xductor.transforms.matching.spellings import ALL_SPELLINGS, Spellings
from xductor.transforms.passes.debug_counters import counting
from xductor.transforms.passes.events import listening
from xductor.transforms.rewriting.driver import (
    Application,
    ContractViolation,
    Driver,
    Report,
    RewriteIndex,
    attempt,
    watching,
)
from xductor.transforms.rewriting.graph_state import GraphState
from xductor.transforms.rewriting.rewrite import Rewrite, calls_of

Outcome = Literal["matched", "declined", "refused", "near miss", "left alone"]

#: How many near misses are printed; `entries` has all.
SHOWN = 8

_LOOKED_AT = 24

_HTML = """\
<p><b>{{ why.rewrite }}</b>: {{ why.matched | length }} matched, {{ why.near | length }} did not</p>
<p>{% if why.pattern %}pattern: <code>{{ why.pattern }}</code>
{%- else %}a pass without a pattern{% endif %}</p>
{% for note in why.notes %}<p class="bad">{{ note }}</p>{% endfor %}
{% for entry in why.entries %}
<details{% if loop.index0 < why.shown and entry.outcome != "matched" %} open{% endif %}>
<summary><span class="{{ "good" if entry.outcome == "matched" else "bad" }}">{{ entry.outcome }}
</span> <code>{{ entry.root }}</code> <span class="quiet">{{ entry.place }}</span></summary>
<pre>{{ (entry | string).split("\\n")[1:] | join("\\n") }}</pre>
</details>
{% endfor %}
"""


@dataclass(frozen=True)
class Entry:
    """The outcome at one op that may be the root of the pattern.

    - `outcome`: `matched` if it would be replaced; `declined` if it fits but a contract objects;
      `refused` if `where` or `pays` does, or a pass; `left alone` if a pass may begin there and
      does not say why it does not; else `near miss`.
    - `root`: the op's text; `graph`: the graph it is in; `location`: the user's file and line.
    - `calls`, `of`: how many of the pattern's calls were found, and how many it has.
    - `reason`: the objection of the contract, `where` or `pays`.
    - `difference`: the first difference of pattern and graph.
    - `obstacle`: the op that stands in the way, if a pass says so and it is another.
    - `remedies`: what would let it match, one change each; or one text with several changes.
    """

    outcome: Outcome
    root: str
    graph: str
    location: tuple[str, int] | None
    calls: int
    of: int
    reason: str = ""
    difference: Difference | None = None
    remedies: tuple[str, ...] = ()
    obstacle: Entry | None = None

    @property
    def place(self) -> str:
        """The user's line in parentheses, if it is known."""
        return f"  ({self.location[0]}:{self.location[1]})" if self.location else ""

    def __str__(self) -> str:
        lines = [f"{self.outcome}: {self.root}{self.place}"]
        if self.outcome == "matched":
            return lines[0]
        if self.of:
            lines.append(f"  {self.calls} of {self.of} calls of the pattern are there")
        if self.difference is not None:
            lines.append(f"  pattern: {self.difference.pattern}")
            where = self.difference.location
            shown = f"  ({where[0]}:{where[1]})" if where and where != self.location else ""
            lines.append(f"  graph:   {self.difference.graph}{shown}")
            lines.append(f"  why:     {self.difference.why}")
        if self.reason:
            lines.append(f"  {self.reason}")
        if self.obstacle is not None:
            lines.append(f"  there: {self.obstacle.root}{self.obstacle.place}")
        lines += [f"  would match with {text}" for text in self.remedies]
        return "\n".join(lines)


@dataclass(frozen=True)
class Explanation:
    """Why a rewrite did or did not apply, readable as `str`.

    - `pattern`: as text; empty for a procedural pass, which has none.
    - `entries`: the nearest misses first, and matches last.
    - `notes`: what keeps the rewrite from running at all.
    """

    rewrite: str
    pattern: str
    entries: tuple[Entry, ...]
    notes: tuple[str, ...] = ()
    shown: int = field(default=SHOWN, compare=False)

    @property
    def matched(self) -> list[Entry]:
        """The entries of roots at which the rewrite applies to the graph as it is."""
        return [one for one in self.entries if one.outcome == "matched"]

    @property
    def near(self) -> list[Entry]:
        """The entries that did not match, the nearest first."""
        return [one for one in self.entries if one.outcome != "matched"]

    def _repr_html_(self) -> str:
        """All entries, for notebooks; those that are not near are folded up."""
        return fragment(_HTML, why=self)

    def __str__(self) -> str:
        near, matched = self.near, self.matched
        lines = [
            f"{self.rewrite}: {len(matched)} matched, {len(near)} did not",
            f"  pattern: {self.pattern}" if self.pattern else "  a pass without a pattern",
            *(f"  {note}" for note in self.notes),
        ]
        if not self.entries and self.pattern:
            lines.append("  no op of the graphs is a root of the pattern, or near to one")
        elif not self.entries and not self.notes:
            lines.append("  it does nothing to these graphs")
        close = [one for one in near if 2 * one.calls >= one.of or one.remedies] or near
        shown = close[: self.shown]
        lines += [str(one) for one in shown]
        if len(near) > len(shown):
            lines.append(f"... and {len(near) - len(shown)} that are farther off")
        lines += [str(one) for one in matched]
        return "\n".join(lines)


def explain_module(one: Rewrite, module: ModuleOp, notes: Sequence[str] = ()) -> Explanation:
    """Explain why `one` does or does not apply at each op of a module that may be its root.

    `notes` say what keeps it from running at all.
    """
    compiled = one.compiled
    entries: list[Entry] = []
    bodies = Bodies(module)
    for graph in graphs_of(module):
        with InferenceEnv.of(graph) as env, keeping_names():
            entries += _Search(one, GraphState(graph, bodies, env)).entries()
    order: dict[str, int] = {"refused": 0, "declined": 0, "near miss": 1, "matched": 2}
    entries.sort(key=lambda entry: (order[entry.outcome], not entry.remedies, -entry.calls))
    shown = ", ".join(pattern_text(output, 8) for output in compiled.outputs)
    return Explanation(one.name, shown, tuple(entries), tuple(notes))


class _WouldApply(BaseException):
    """Raised in place of connecting a replacement that passed all checks."""


class _Search:
    """The search over the possible roots of one graph."""

    def __init__(self, one: Rewrite, state: GraphState) -> None:
        self.one = one
        self.state = state
        self.outputs = one.compiled.outputs
        self.spellings = one.compiled.spellings
        self.every_spelling = Spellings(ALL_SPELLINGS)
        self.total = sum(call_count(output) for output in self.outputs)
        self.roots = self._roots()

    def entries(self) -> list[Entry]:
        """The outcome at each op that may be the root, or nearly."""
        found: list[tuple[int, TorchOp, Entry]] = []
        for op in self.state.graph.block.ops:
            if not isinstance(op, TorchOp) or type(op) is OutputOp:
                continue
            if op.name in self.roots:
                entry = self._at_root(op)
            else:
                entry = self._at_another(op)
            if entry is not None:
                found.append((entry.calls, op, entry))
        matched = {op for _, op, entry in found if entry.outcome == "matched"}
        # An op that uses a match is not a root spelled differently.
        found = [
            item for item in found if item[1].name in self.roots or not _uses(item[1], matched)
        ]
        near = [item for item in found if item[2].outcome == "near miss"]
        near.sort(key=lambda item: -item[0])
        advised = {op: self._with_remedies(op, entry) for _, op, entry in near[:_LOOKED_AT]}
        return [advised.get(op, entry) for _, op, entry in found]

    def _roots(self) -> set[str]:
        names = set(self.one.compiled.roots)
        synonyms = self.every_spelling.synonyms
        return names | {here for here, wanted in synonyms if wanted in names}

    def _entry(self, outcome: Outcome, op: TorchOp, calls: int, **details: Any) -> Entry:
        graph: GraphOp = self.state.graph
        location = op.node.location()
        return Entry(
            outcome, op_line(op), graph.sym_name.data, location, calls, self.total, **details
        )

    def _at_root(self, op: TorchOp) -> Entry | None:
        matcher = TracingMatcher(self.state.facts, self.spellings, self.state.order.before)
        match = matcher.match_at(self.outputs, op, lambda _: True)
        if match is None:
            nearest = matcher.nearest
            if nearest.difference is None and op.name not in self.one.compiled.roots:
                return None
            # The search depends on the order of operands; the count of what is there does not.
            there = [
                1 + calls_below(call, op, self.spellings)
                for output in self.outputs
                for call in calls_of(output)
                if any(aten_name(op) == head.cls.name for head in call.heads)
            ]
            calls = max(nearest.calls, 0, *there)
            return self._entry("near miss", op, calls, difference=nearest.difference)
        first = self._refusal(match)
        accepted = first is None or self._matcher().match_at(
            self.outputs, op, lambda other: self._refusal(other) is None
        )
        if not accepted:
            return self._entry("refused", op, self.total, reason=first or "")
        reason = self._objection(op)
        outcome: Outcome = "matched" if reason is None else "declined"
        return self._entry(outcome, op, self.total, reason=reason or "")

    def _matcher(self) -> Matcher:
        return Matcher(self.state.facts, self.spellings, self.state.order.before)

    def _refusal(self, match: Match) -> str | None:
        return refusal(self.one, match, self.state)

    def _objection(self, op: TorchOp) -> str | None:
        """The contracts' objection to the application at `op`; None if it would be made."""
        told: list[Exception] = []

        def stop(_: Application) -> None:
            raise _WouldApply

        report: Report = lambda *said: told.append(said[2])  # noqa: E731
        with counting({}), listening(Application, stop), watching(report=report):
            try:
                attempt(Driver(RewriteIndex([self.one]), "fast"), self.state, self.one, op)
            except _WouldApply:
                return None
        # Reports before the last come from `where`, about other ways to match.
        error = told[-1] if told else None
        if isinstance(error, ContractViolation):
            return f"a contract is broken: {str(error.__cause__ or '') or error}"
        return f"declined: {error}"

    def _at_another(self, op: TorchOp) -> Entry | None:
        """An op of another kind that has what the pattern has below its root."""
        if len(self.outputs) != 1 or self.total < 2:
            return None
        best, root = 0, None
        for call in calls_of(self.outputs[0]):
            below = calls_below(call, op, self.spellings)
            if below > best and 2 * below >= self.total - 1:
                best, root = below, call
        if root is None:
            return None
        difference = Difference(pattern_text(root), op_line(op), "another op", op.node.location())
        return self._entry("near miss", op, best, difference=difference)

    def _with_remedies(self, op: TorchOp, entry: Entry) -> Entry:
        found = remedies(
            self.outputs,
            tuple(self.one.through),
            op,
            self.state.facts,
            self.state.order.before,
            self._refusal,
        )
        return replace(entry, remedies=tuple(found))


def _uses(op: TorchOp, ops: set[TorchOp]) -> bool:
    return any(operand.owner in ops for operand in op.operands)


__all__ = ["Entry", "Explanation", "explain_module"]
