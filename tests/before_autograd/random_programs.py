"""Random programs, compiled and in eager: `python -m tests.before_autograd.random_programs`."""

from __future__ import annotations

import argparse
import os
import pickle
import sys
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field

from tests.before_autograd.observation import Observation, difference, observe, observe_compiled
from tests.before_autograd.programs import Program, program
from tests.before_autograd.rewrites import REWRITES

_NAMES = (*(rewrite().name for rewrite in REWRITES), "fuse_attention")
_EXACT, _ROUNDED = 1e-4, 4e-2


@dataclass
class Outcome:
    """What came of the programs that were tried.

    - `refused`: programs that eager does not take, most of them in their backward.
    - `stock`: those in which stock differs from eager in the same way.
    - `mismatches`: those in which only ours does, with what differs.
    - `raised`: compiles that raised, or whose backward did.
    """

    compared: int = 0
    refused: int = 0
    stock: list[tuple[Program, str]] = field(default_factory=list[tuple[Program, str]])
    mismatches: list[tuple[Program, str]] = field(default_factory=list[tuple[Program, str]])
    raised: int = 0
    applications: Counter[str] = field(default_factory=Counter[str])

    def __str__(self) -> str:
        return (
            f"{self.compared} compared, {self.refused} refused by eager, "
            f"{len(self.stock)} where stock differs from eager too, "
            f"{len(self.mismatches)} mismatches"
        )


def compare(one: Program, outcome: Outcome) -> None:
    """Compile a program and note how it differs from eager.

    Of three programs two are compiled with rewrites beside our own passes.
    """
    function = one.function()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = observe(function, one.leaves)
    except Exception:
        outcome.refused += 1
        return
    outcome.compared += 1
    tolerance = _ROUNDED if one.rounds else _EXACT
    rewrites = REWRITES if one.seed % 3 else ()

    def compiled(backend: str, without: str = "") -> Observation | Exception:
        try:
            found, records = observe_compiled(
                function, one.leaves, backend=backend, rewrites=rewrites, without=without
            )
        except Exception as error:
            outcome.raised += 1
            return error
        for name in _NAMES:
            count = sum(record.applications(name) for record in records)
            outcome.applications[name] += count
        fallen = [record.fallback for record in records if record.fallback]
        return RuntimeError(f"a stage fell back: {fallen[0]}") if fallen else found

    ours = compiled("xductor")
    fault = _fault(expected, ours, tolerance)
    if not fault:
        return
    stock = compiled("inductor")
    its_fault = _fault(expected, stock, tolerance)
    alike = fault == its_fault or (bool(its_fault) and _alike(ours, stock, tolerance))
    if its_fault and not alike:
        # Where stock goes wrong before attention, fused attention has other numbers to go on with.
        alike = _alike(compiled("xductor", without="fuse_attention"), stock, tolerance)
    what = f"{fault}\nstock: {its_fault}"
    (outcome.stock if alike else outcome.mismatches).append((one, what))


def _fault(expected: Observation, found: Observation | Exception, tolerance: float) -> str:
    """What differs from eager; "" if nothing does."""
    if isinstance(found, Exception):
        return f"{type(found).__name__}: {found}"
    return difference(expected, found, tolerance)


def _alike(ours: Observation | Exception, stock: Observation | Exception, tolerance: float) -> bool:
    """Whether two backends went wrong in the same way."""
    if isinstance(ours, Exception) or isinstance(stock, Exception):
        return type(ours) is type(stock)
    return not difference(stock, ours, tolerance)


def run(count: int, seed: int, attends: bool = False) -> Outcome:
    """Compare programs until `count` of them were compared; seeds go up from `seed`."""
    outcome = Outcome()
    while outcome.compared < count:
        compare(program(seed, attends), outcome)
        seed += 1
    return outcome


_BATCH = 250


def run_in_children(count: int, seed: int, attends: bool = False) -> Outcome:
    """As `run`, with a forked process for each few programs: a compile that fails within torch
    may leave the process unfit for others. What differs is printed as it is found.
    """
    total, started = Outcome(), time.monotonic()
    while total.compared < count:
        outcome, seed = _in_child(seed, attends)
        total.compared += outcome.compared
        total.refused += outcome.refused
        total.applications += outcome.applications
        for kind, known, new in (
            ("MISMATCH", total.mismatches, outcome.mismatches),
            ("STOCK TOO", total.stock, outcome.stock),
        ):
            known += new
            for one, what in new:
                print(f"--- {kind} seed {one.seed}\n{one.text}\n{what}", flush=True)
        print(f"below {seed}, {time.monotonic() - started:.0f} s: {total}", flush=True)
    return total


def _in_child(seed: int, attends: bool) -> tuple[Outcome, int]:
    """The outcome of some programs from a seed, and the next seed.

    A child stops at the first compile that raises, in stock too.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        outcome, last = Outcome(), seed + _BATCH
        with os.fdopen(writer, "wb") as pipe:
            for number in range(seed, last):
                compare(program(number, attends), outcome)
                pickle.dump((outcome, number + 1), pipe)
                pipe.flush()
                if outcome.raised:
                    break
        os._exit(0)
    os.close(writer)
    found: tuple[Outcome, int] = Outcome(), seed
    with os.fdopen(reader, "rb") as pipe:
        while True:
            try:
                found = pickle.load(pipe)
            except EOFError:
                break
    _, status = os.waitpid(child, 0)
    if status:
        found[0].mismatches.append((program(found[1], attends), f"the process died: {status}"))
        found = found[0], found[1] + 1
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000, help="programs to compare")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first")
    parser.add_argument("--attends", action="store_true", help="much attention in checkpoints")
    given = parser.parse_args()
    outcome = run_in_children(given.count, given.seed, given.attends)
    print(outcome)
    print(f"applications: {dict(outcome.applications)}")
    return 1 if outcome.mismatches else 0


if __name__ == "__main__":
    sys.exit(main())
