"""The listeners behind `xductor-opt`'s flags: printing between passes, timing, counting ops."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xductor.ir import print_ir
from xductor.ir.text.printing import Locations
from xductor.transforms.passes.instrumentation import PassListener


@dataclass
class PrintIR(PassListener):
    """Prints the module around passes, on stderr.

    - `before`, `after`: names of passes, or None for every pass.
    - `after_change`: print after each pass that changed the text.
    - `on_failure`: print what a failing pass left.
    - `locations`: as for `print_ir`.
    """

    before: Collection[str] | None = ()
    after: Collection[str] | None = ()
    after_change: bool = False
    on_failure: bool = False
    locations: Locations = True
    _text: str = field(default="", init=False)

    def before_pass(self, one: ModulePass, module: ModuleOp) -> None:
        if _chosen(one, self.before):
            self._print(f"before {one.name}", self._shown(module))
        if self.after_change:
            self._text = self._shown(module)

    def after_pass(self, one: ModulePass, module: ModuleOp, applications: int | None) -> None:
        if not self.after_change:
            if _chosen(one, self.after):
                self._print(f"after {one.name}", self._shown(module))
            return
        text = self._shown(module)
        changed = text != self._text
        if changed or _chosen(one, self.after):
            self._print(f"after {one.name}{_count_text(applications)}", text)
        if changed and applications == 0:
            print(f"warning: pass '{one.name}' says that it changed nothing", file=sys.stderr)

    def after_failure(self, one: ModulePass, module: ModuleOp, error: Exception) -> None:
        if self.on_failure:
            self._print(f"after {one.name} failed", self._shown(module))

    def _shown(self, module: ModuleOp) -> str:
        return print_ir(module, locations=self.locations)

    def _print(self, when: str, text: str) -> None:
        print(f"// -----// IR {when} //----- //\n{text}", file=sys.stderr)


def _chosen(one: ModulePass, names: Collection[str] | None) -> bool:
    return names is None or one.name in names


def _count_text(applications: int | None) -> str:
    if applications is None:
        return ""
    return f" ({applications} application{'' if applications == 1 else 's'})"


@dataclass
class _Row:
    pass_ns: int = 0
    check_ns: int = 0
    applications: int | None = None


@dataclass
class TimePasses(PassListener):
    """Thread CPU time of parsing, of each pass, of the checks, and of printing.

    A pass that appears twice in the pipeline has two rows; chunks of a split file are summed.
    """

    clock: Callable[[], int] = time.thread_time_ns
    rows: dict[tuple[int, str], _Row] = field(default_factory=dict[tuple[int, str], _Row])
    phases: Counter[str] = field(default_factory=Counter[str])
    _started: int = 0
    _position: int = 0

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Count the time inside the block for `name`."""
        start = self.clock()
        try:
            yield
        finally:
            self.phases[name] += self.clock() - start

    def before_pass(self, one: ModulePass, module: ModuleOp) -> None:
        self._position += 1
        self._started = self.clock()

    def before_check(self, one: ModulePass | None, module: ModuleOp) -> None:
        now = self.clock()
        if one is None:
            self._position = 0
        else:
            self._row(one).pass_ns += now - self._started
        self._started = self.clock()

    def after_check(self, one: ModulePass | None, module: ModuleOp) -> None:
        elapsed = self.clock() - self._started
        if one is None:
            self.phases["verify input"] += elapsed
        else:
            self._row(one).check_ns += elapsed
        self._started = 0

    def after_pass(self, one: ModulePass, module: ModuleOp, applications: int | None) -> None:
        row = self._row(one)
        if self._started:  # nothing was checked
            row.pass_ns += self.clock() - self._started
        if applications is not None:
            row.applications = (row.applications or 0) + applications

    def _row(self, one: ModulePass) -> _Row:
        return self.rows.setdefault((self._position, one.name), _Row())

    def table(self) -> str:
        """The times as aligned columns, with a line for the total."""
        lines = [("cpu ms", "%", "verify ms", "applied", "")]
        total = sum(self.phases.values()) + sum(r.pass_ns + r.check_ns for r in self.rows.values())
        share = 100 / total if total else 0.0

        def phase(name: str) -> None:
            spent = self.phases[name]
            lines.append((f"{spent / 1e6:.3f}", f"{spent * share:.1f}", "", "", name))

        for name in ("parse", "verify input"):
            phase(name)
        for (_, name), row in self.rows.items():
            spent = row.pass_ns + row.check_ns
            applied = "" if row.applications is None else str(row.applications)
            cells = f"{row.pass_ns / 1e6:.3f}", f"{spent * share:.1f}", f"{row.check_ns / 1e6:.3f}"
            lines.append((*cells, applied, name))
        phase("print")
        lines.append((f"{total / 1e6:.3f}", "100.0", "", "", "total"))
        return "thread CPU time\n" + _aligned(lines)


def op_stats(before: Counter[str], after: Counter[str]) -> str:
    """Counts of ops before and after a pipeline, by dialect and by name."""
    dialects: dict[str, list[str]] = {}
    for name in sorted(before | after):
        dialects.setdefault(name.partition(".")[0], []).append(name)
    lines = [("before", "after", "")]
    for dialect, names in dialects.items():
        totals = [sum(counts[name] for name in names) for counts in (before, after)]
        lines.append((str(totals[0]), str(totals[1]), dialect))
        lines += [(str(before[name]), str(after[name]), f"  {name}") for name in names]
    lines.append((str(before.total()), str(after.total()), "total"))
    return "ops\n" + _aligned(lines)


def count_ops(module: ModuleOp) -> Counter[str]:
    """How many ops of each name a module holds in all its graphs, without the module itself."""
    return Counter(op.name for op in module.walk() if op is not module)


def _aligned(lines: list[tuple[str, ...]]) -> str:
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]) - 1)]
    rows: list[str] = []
    for line in lines:
        cells = [cell.rjust(width) for cell, width in zip(line, widths, strict=False)]
        rows.append("  ".join(["", *cells, line[-1]]).rstrip())
    return "\n".join(rows)
