"""Programs before autograd, compiled with rewrites and without: nobody can tell."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

import pytest
import torch

from tests.before_autograd import random_programs
from tests.before_autograd.observation import Observation
from tests.before_autograd.programs import Program, program
from tests.before_autograd.random_programs import Outcome, _alike, run


def test_nobody_can_tell() -> None:
    outcome = run(60, seed=20_000)
    assert not outcome.mismatches, "\n".join(
        f"{one.text}\n{what}" for one, what in outcome.mismatches
    )
    # Most of the rewrites had something to do.
    assert sum(count > 0 for count in outcome.applications.values()) > 8, outcome.applications
    assert len(outcome.stock) < 6


def test_a_seed_is_a_program() -> None:
    assert program(7).text == program(7).text != program(8).text


def _seeds_that(what: Callable[[], None]) -> Callable[[Program, Outcome], None]:
    def compare(one: Program, outcome: Outcome) -> None:
        outcome.compared += 1
        if one.seed == 2:
            what()

    return compare


@pytest.mark.parametrize(
    ("what", "says"),
    [
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "was killed by SIGKILL"),
        (lambda: os._exit(3), "exited with 3"),
        (lambda: time.sleep(30), "was killed by SIGALRM"),
    ],
)
def test_a_process_that_dies_is_reported(
    what: Callable[[], None], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a mismatch of the program it was at; the others are compared all the same."""
    monkeypatch.setattr(random_programs, "compare", _seeds_that(what))
    monkeypatch.setattr(random_programs, "_SECONDS", 2)
    outcome = random_programs.run_in_children(6, seed=0)
    assert outcome.compared == 6
    assert [(one.seed, how) for one, how in outcome.mismatches] == [(2, f"the process {says}")]


def test_alike_is_asked_part_by_part() -> None:
    """What stock has wrong in one part excuses nothing in another."""
    a = torch.zeros(2)
    ours = Observation([a + 1, a + 2], [], [], [], [])
    stock = Observation([a + 1, a], [], [], [], [])
    faults = {"tensor 0": "off", "tensor 1": "off"}
    known = {"tensor 0": "off"}
    alike = [_alike(part, faults, known, ours, stock, 1e-4) for part in faults]
    assert alike == [True, False]
    assert not _alike("raises", {"raises": "x"}, {"raises": "y"}, ValueError(), ValueError(), 0)


def test_checkpoints_are_left_out() -> None:
    one = next(one for seed in range(50) if "checkpoint(f" in (one := program(seed)).text)
    plain = one.without_checkpoints().text
    assert "checkpoint(f" not in plain
    plain_lines, lines = plain.splitlines(), one.text.splitlines()
    assert len(plain_lines) == len(lines)
    compile(plain, "plain", "exec")
