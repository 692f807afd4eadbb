"""What the last compile did, as data: `xductor.last_compile()`.

A record is written with `save` and read with `load`; it is JSON, and holds no graph.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, overload

from rich.console import Console
from rich.table import Table
from rich.text import Text

from xductor.backend.records import stage_records
from xductor.backend.records.application_records import ApplicationRecord
from xductor.backend.records.counts import Counts
from xductor.backend.records.record_content import stage_content, stage_of
from xductor.backend.records.stage_records import PassRecord, StageRecord
from xductor.ir.text.html import fragment

FORMAT = 3

_HTML = """\
<table>
<tr><th>stage</th><th>nodes</th><th>pass</th><th>applied</th><th>your code</th><th>types</th></tr>
{% for stage in record.stages %}
<tr><td><b>{{ stage.title }}</b>
{%- if stage.cached %} (cached){% endif %}</td>
<td>{{ stage.nodes_before }} → {{ stage.nodes_after }}</td>
<td colspan="4">{% if stage.fallback %}<span class="bad">fell back: {{ stage.fallback }}</span>
{%- endif %}</td></tr>
{% for one in stage.passes if one.applications or one.changed %}
<tr><td></td><td></td><td>{{ one.name }}</td>
<td>{% if one.kind == "bridged" %}Inductor's own{% else %}{{ one.applications }}{% endif %}</td>
<td></td><td></td></tr>
{% for made in one.made %}
<tr><td></td><td></td><td></td><td>{{ made.rewrite }} at <code>{{ made.anchor }}</code></td>
<td title="{{ made.where or "" }}">{{ place(made) }}</td>
<td><code>{{ types(made) }}</code></td></tr>
{% endfor %}{% endfor %}{% endfor %}
</table>
"""


class NotARecord(ValueError):
    """A file that `save` did not write, or that has another format version."""


@dataclass(frozen=True)
class CompileRecord(Sequence[StageRecord]):
    """The stage calls of one compile, in the order in which they ended."""

    stages: tuple[StageRecord, ...] = ()

    @overload
    def __getitem__(self, index: int) -> StageRecord: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[StageRecord]: ...
    def __getitem__(self, index: int | slice) -> StageRecord | Sequence[StageRecord]:
        return self.stages[index]

    def __len__(self) -> int:
        return len(self.stages)

    def __iter__(self) -> Iterator[StageRecord]:
        return iter(self.stages)

    def stage(self, stage: str, direction: str | None = None) -> StageRecord:
        """The first record of a stage, in that direction if one is given.

        Raises LookupError if the stage did not run.
        """
        for one in self.stages:
            if one.stage == stage and direction in (None, one.direction):
                return one
        ran = ", ".join(one.title for one in self.stages) or "none"
        asked = stage_records.stage_title(stage, direction or "unknown")
        raise LookupError(f"no call of {asked}; the stages that ran: {ran}")

    @property
    def cached(self) -> bool:
        """Whether a part of the result came out of one of Inductor's caches, so that its stages
        did not run: the records are then those of the compile that stored it.
        """
        return any(one.cached for one in self.stages)

    @property
    def applications(self) -> list[ApplicationRecord]:
        """The applications of rewrites and of procedural passes, in order."""
        return [one for stage in self.stages for one in stage.applications_made]

    @property
    def numbers(self) -> list[int]:
        """The numbers of all applications, those of procedural passes included, in order."""
        return [n for stage in self.stages for one in stage.passes for n in one.numbers]

    def counts(self) -> Counts:
        """How often each rewrite and each procedural pass was applied, in all stages.

        Each application counts once, under the name of its rewrite if it has one, else of its pass.
        `counts()[name]` is 0 for a pass or rewrite that was not applied; a name that does not exist
        raises UnknownPass.
        """
        by_stage = [stage.counts() for stage in self.stages]
        found: Counter[str] = Counter()
        for counts in by_stage:
            found.update(counts)
        return Counts(found, frozenset().union(*[counts.ran for counts in by_stage]))

    def count(self, value: Any) -> int:
        """How often a rewrite or pass was applied, given its name: `counts()[value]`.

        Given a stage's record: how often it is among the records, as for any sequence.

        Raises UnknownPass for a name that does not exist.
        """
        return self.counts()[value] if isinstance(value, str) else super().count(value)

    def save(self, path: str | Path) -> None:
        """Write the record as JSON. Raises OSError if that fails."""
        content = {"xductor_compile": FORMAT, "stages": [stage_content(one) for one in self.stages]}
        Path(path).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> CompileRecord:
        """Read a record that `save` wrote; it equals the one that was written.

        Raises NotARecord for any other file, OSError for one that cannot be read.
        """
        try:
            content: Any = json.loads(Path(path).read_text(encoding="utf-8"))
        except ValueError as error:
            raise NotARecord(f"{path}: no JSON: {error}") from error
        if not isinstance(content, dict) or content.get("xductor_compile") != FORMAT:
            raise NotARecord(f"{path}: expected the record of a compile, format {FORMAT}")
        return cls(tuple(stage_of(one) for one in content["stages"]))

    def table(self) -> Table:
        """A table with a row for each pass that fired and each application of a rewrite."""
        title = "last compile"
        if self.cached:
            title += (
                "; what is marked as cached came out of Inductor's caches, and was recorded when "
                "it was compiled (TORCHINDUCTOR_FORCE_DISABLE_CACHES=1 runs every stage)"
            )
        made = Table(title=title, title_justify="left")
        for heading in ("stage", "pass", "number", "rewrite", "user code", "types"):
            made.add_column(heading, overflow="fold")
        for stage in self.stages:
            where = f"{stage.title}{' (cached)' if stage.cached else ''}"
            if stage.fallback:
                _add(made, where, "", "", f"fell back: {stage.fallback}", "", "")
            for one in stage.passes:
                if one.applications or one.changed:
                    _add(made, where, one.name, _numbers(one), *_counted(one))
                    where = ""
                for application in one.made:
                    number = str(application.number or "")
                    _add(made, "", "", number, *_application(application))
            if where:
                _add(made, where, "-", "", "", "", "")
        return made

    def _repr_html_(self) -> str:
        """What `table` shows, for notebooks."""
        return fragment(_HTML, record=self, place=_place, types=_types)

    def __str__(self) -> str:
        text = StringIO()
        Console(file=text, width=140).print(self.table())
        return text.getvalue()


def last_compile() -> CompileRecord:
    """What the last compile of this process did, forward and backward, in any thread.

    If a result came out of one of Inductor's caches no stage ran: the record is then that of the
    compile that stored it, and its stages are marked as `cached`. The record of a compile grows
    when its backward is compiled, at the first backward pass. Empty if nothing was compiled.
    """
    history = stage_records.recent()
    if not history:
        return CompileRecord()
    last = max(one.compile for one in history)
    return CompileRecord(tuple(one for one in history if one.compile == last))


def _add(table: Table, *cells: str) -> None:
    """Add a row of plain text: `[s0, 3]` in a type is no markup."""
    table.add_row(*map(Text, cells))


def _numbers(one: PassRecord) -> str:
    if not one.numbers:
        return ""
    first, last = one.numbers[0], one.numbers[-1]
    return str(first) if first == last else f"{first}-{last}"


def _counted(one: PassRecord) -> tuple[str, str, str]:
    if one.kind == "bridged":
        return "Inductor's own", "", ""
    text = f"{one.applications} application{'' if one.applications == 1 else 's'}"
    if one.unconverged:
        text += f"; no convergence of {', '.join(one.unconverged)}"
    return text, "", ""


def _application(one: ApplicationRecord) -> tuple[str, str, str]:
    bindings = ", ".join(f"{name}: {text}" for name, text in one.bindings.items())
    text = f"{one.rewrite} at {one.anchor} ({'; '.join((one.numerics, *one.checks))})"
    return f"{text}\n{bindings}".rstrip(), _place(one), _types(one)


def _place(one: ApplicationRecord) -> str:
    return "" if one.where is None else f"{Path(one.where[0]).name}:{one.where[1]}"


def _types(one: ApplicationRecord) -> str:
    types = ", ".join(one.before)
    if one.after and one.before != one.after:
        types += f" -> {', '.join(one.after)}"
    return types


__all__ = ["CompileRecord", "NotARecord", "last_compile"]
