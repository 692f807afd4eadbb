"""Random programs, compiled and in eager: `python -m tests.before_autograd.random_programs`."""

from __future__ import annotations

import argparse
import os
import pickle
import re
import resource
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import IO, Any

from tests.before_autograd.observation import (
    Exact,
    Observation,
    differences,
    keeping_what_inputs_held,
    numbers,
    numbers_differ,
    observe,
    observe_compiled,
    observe_exact,
    observe_what_goes_to_autograd,
)
from tests.before_autograd.programs import Program, program
from tests.before_autograd.rewrites import REWRITES
from xductor.backend.records import stage_records

_NAMES = (*(rewrite().name for rewrite in REWRITES), "fuse_attention")
#: Of float32, and where values are rounded to bfloat16: four of its last places.
_EXACT, _ROUNDED = 1e-4, 4 * 2**-8


@dataclass
class Outcome:
    """What came of the programs that were tried.

    - `refused`: programs that eager does not take, most of them in their backward.
    - `mismatches`: those in which ours differs from eager where stock does not, or otherwise.
    - `stock`: those in which stock differs in all the parts that ours does, in the same way.
    - `other_faults`: those in which stock differs in other ways. The graph that we give to autograd
      is right in eager, and stock goes wrong with it as we do, its fault with written inputs aside.
    - `written_twice`: those in which eager has other gradients than without its checkpoints, and
      ours has those, or differs from them as stock does.
    - `raised`: compiles that raised, or whose backward did.
    """

    compared: int = 0
    refused: int = 0
    stock: list[tuple[Program, str]] = field(default_factory=list[tuple[Program, str]])
    other_faults: list[tuple[Program, str]] = field(default_factory=list[tuple[Program, str]])
    written_twice: list[tuple[Program, str]] = field(default_factory=list[tuple[Program, str]])
    mismatches: list[tuple[Program, str]] = field(default_factory=list[tuple[Program, str]])
    raised: int = 0
    applications: Counter[str] = field(default_factory=Counter[str])

    def __str__(self) -> str:
        return (
            f"{self.compared} compared, {self.refused} refused by eager, "
            f"{len(self.stock)} where stock differs from eager too, "
            f"{len(self.other_faults)} where it goes wrong with our graph, "
            f"{len(self.written_twice)} whose checkpoints write twice, "
            f"{len(self.mismatches)} mismatches"
        )


def compare(one: Program, outcome: Outcome) -> None:
    """Compile a program and note how it differs from eager.

    Of three programs two are compiled with rewrites beside our own passes.
    """
    expected = _eager(one)
    if expected is None:
        outcome.refused += 1
        return
    outcome.compared += 1
    compared = _Compared(one, outcome, expected)
    ours = compared.compiled("xductor")
    faults = compared.faults(ours)
    if not faults:
        return
    kind, what = compared.judged(ours, faults)
    plain = one.without_checkpoints()
    unclear = kind is outcome.mismatches and "raises" not in faults and plain.text != one.text
    expected = _eager(plain) if unclear else None
    if expected is not None:
        # A body that writes to what it is given, and hides it from autograd, writes twice.
        again = _Compared(plain, outcome, expected)
        faults = again.faults(ours)
        if not faults or again.judged(ours, faults)[0] is outcome.stock:
            kind = outcome.written_twice
    kind.append((one, what))


def _eager(one: Program) -> Observation | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return observe(one.function(), one.leaves)
    except RuntimeError:  # its backward, or a write to what overlaps itself
        return None


@dataclass
class _Compared:
    """A program, and how what was compiled of it differs from eager."""

    program: Program
    outcome: Outcome
    expected: Observation
    _exact: Exact | None = None

    def judged(
        self, ours: Observation | Exception, faults: dict[str, str]
    ) -> tuple[list[tuple[Program, str]], str]:
        """The list of the outcome that faults of ours belong to, and what is to be said of them."""
        stock = self.compiled("inductor")
        known = self.faults(stock)
        says = [f"{part}: {how}" for part, how in faults.items()]
        says += [f"stock, {part}: {how}" for part, how in known.items()]
        own = self._own(ours, faults, stock, known)
        kind = self.outcome.stock
        if own:
            is_stocks = self._is_stocks(ours, faults)
            kind = self.outcome.other_faults if is_stocks else self.outcome.mismatches
        return kind, "\n".join(says)

    def _own(
        self,
        ours: Observation | Exception,
        faults: dict[str, str],
        stock: Observation | Exception,
        known: dict[str, str],
    ) -> list[str]:
        """The parts in which one differs from eager, and the other not in the same way."""
        tolerance = _ROUNDED if self.program.rounds else _EXACT
        return [part for part in faults if not _alike(part, faults, known, ours, stock, tolerance)]

    def _is_stocks(self, ours: Observation | Exception, faults: dict[str, str]) -> bool:
        """Whether the graph that we give to autograd is right as it stands, and stock goes wrong
        with it as we do, or would if its fault with written inputs were mended.
        """
        if self.faults(self._from_autograd_on(by_stock=False)):
            return False
        for mended in (nullcontext, keeping_what_inputs_held):
            with mended():
                stock = self._from_autograd_on(by_stock=True)
            if not self._own(ours, faults, stock, self.faults(stock)):
                return True
        return False

    def _from_autograd_on(self, *, by_stock: bool) -> Observation | Exception:
        function, leaves = self.program.function(), self.program.leaves
        try:
            return observe_what_goes_to_autograd(
                function, leaves, self._rewrites, by_stock=by_stock
            )
        except Exception as error:  # whatever it is, it is compared with ours
            return error

    @property
    def _rewrites(self) -> Sequence[Any]:
        return REWRITES if self.program.seed % 3 else ()

    def compiled(self, backend: str) -> Observation | Exception:
        function, leaves = self.program.function(), self.program.leaves
        found: Observation | Exception
        with stage_records.record() as records:
            try:
                found, _ = observe_compiled(
                    function, leaves, backend=backend, rewrites=self._rewrites
                )
            except Exception as error:  # whatever it is, it is judged as a difference
                self.outcome.raised += 1
                found = error
        for name in _NAMES:
            count = sum(record.applications(name) for record in records)
            self.outcome.applications[name] += count
        fallen = [record.fallback for record in records if record.fallback]
        return RuntimeError(f"a stage fell back: {fallen[0]}") if fallen else found

    def faults(self, found: Observation | Exception) -> dict[str, str]:
        """The parts that differ from eager, and how."""
        if isinstance(found, Exception):
            says = re.sub(r"backend='\w+'", "the backend", str(found))
            says = re.sub(r"0x[0-9a-f]+", "an address", says.split("While executing")[0])
            return {"raises": f"{type(found).__name__}: {says}"}
        faults = dict(differences(self.expected, found, _EXACT))
        if not faults or not self.program.rounds:
            return faults
        if self._exact is None:
            self._exact = observe_exact(self.program.function(), self.program.leaves)
        return dict(differences(self.expected, found, _ROUNDED, self._exact))


def _alike(
    part: str,
    faults: dict[str, str],
    others: dict[str, str],
    found: Observation | Exception,
    other: Observation | Exception,
    tolerance: float,
) -> bool:
    """Whether two backends differ from eager in a part in the same way."""
    if part not in faults or part not in others:
        return False
    if isinstance(found, Exception) or isinstance(other, Exception) or " " not in part:
        return faults[part] == others[part]
    one, two = numbers(found)[part], numbers(other)[part]
    if one is None or two is None:
        return one is two
    return not numbers_differ(two, one, tolerance)


def run(count: int, seed: int, attends: bool = False) -> Outcome:
    """Compare programs until `count` of them were compared; seeds go up from `seed`."""
    outcome = Outcome()
    while outcome.compared < count:
        compare(program(seed, attends), outcome)
        seed += 1
    return outcome


_BATCH = 250
_SECONDS, _BYTES = 120, 8 << 30


def run_in_children(count: int, seed: int, attends: bool = False) -> Outcome:
    """As `run`, with a forked process for each few programs: a compile that fails within torch
    may leave the process unfit for others. What differs is printed as it is found.
    """
    total, started = Outcome(), time.monotonic()
    while total.compared < count:
        outcome, seed = _in_child(seed, min(_BATCH, count - total.compared), attends)
        total.compared += outcome.compared
        total.refused += outcome.refused
        total.applications += outcome.applications
        for kind, known, new in (
            ("MISMATCH", total.mismatches, outcome.mismatches),
            ("STOCK WITH OUR GRAPH", total.other_faults, outcome.other_faults),
            ("WRITTEN TWICE", total.written_twice, outcome.written_twice),
            ("STOCK TOO", total.stock, outcome.stock),
        ):
            known += new
            for one, what in new:
                print(f"--- {kind} seed {one.seed}\n{one.text}\n{what}", flush=True)
        print(f"below {seed}, {time.monotonic() - started:.0f} s: {total}", flush=True)
    return total


def _in_child(seed: int, count: int, attends: bool) -> tuple[Outcome, int]:
    """The outcome of some programs from a seed, and the next seed.

    A child stops at the first compile that raises, in stock too. One that dies, or takes too much
    time or memory, is a mismatch of the program it was at.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))
        with os.fdopen(writer, "wb") as pipe:
            _tell(pipe, seed, count, attends)
        os._exit(0)
    os.close(writer)
    found: tuple[Outcome, int] = Outcome(), seed
    with os.fdopen(reader, "rb") as pipe:
        while True:
            try:
                found = pickle.load(pipe)
            except (EOFError, pickle.UnpicklingError):  # the end, or a child that was killed
                break
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code:
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"exited with {code}"
        found[0].mismatches.append((program(found[1], attends), f"the process {how}"))
        found[0].compared += 1
        found = found[0], found[1] + 1
    return found


def _tell(pipe: IO[bytes], seed: int, count: int, attends: bool) -> None:
    """Compare programs, and send the outcome so far after each."""
    outcome = Outcome()
    for number in range(seed, seed + count):
        signal.alarm(_SECONDS)  # whose default is to kill
        compare(program(number, attends), outcome)
        pickle.dump((outcome, number + 1), pipe)
        pipe.flush()
        if outcome.raised:
            break


def _stopped(number: int, _: Any) -> None:
    raise SystemExit(f"stopped by {signal.Signals(number).name}: not all programs were compared")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000, help="programs to compare")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first")
    parser.add_argument("--attends", action="store_true", help="much attention in checkpoints")
    given = parser.parse_args()
    for one in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(one, _stopped)
    outcome = run_in_children(given.count, given.seed, given.attends)
    print(outcome)
    print(f"applications: {dict(outcome.applications)}")
    return 1 if outcome.mismatches else 0


if __name__ == "__main__":
    sys.exit(main())
