"""Programs before autograd, compiled with rewrites and without: nobody can tell."""

from __future__ import annotations

from tests.before_autograd.programs import program
from tests.before_autograd.random_programs import run


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
