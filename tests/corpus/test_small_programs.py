"""Small programs of every kind of graph: each of their graphs goes through text and back."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.corpus.program_runs import outcomes
from tests.corpus.small_programs import KINDS, PROGRAMS, Program

STAGES = ["pre_grad", "joint", "post_grad"]


def test_every_kind_has_a_program() -> None:
    counts = Counter(program.kind for program in PROGRAMS.values())
    assert counts.keys() == KINDS.keys()
    assert counts.total() >= 60


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=lambda program: program.name)
def test_every_graph_survives(program: Program) -> None:
    """At each stage: text that parses to the same module, which computes the same values; types
    that hold; a graph module that lowering and raising leave as it was.
    """
    found = outcomes(program)
    stages = [outcome.stage for outcome in found]
    wanted = (
        STAGES if program.ends_early is None else STAGES[: STAGES.index(program.ends_early) + 1]
    )
    assert set(stages) == set(wanted)
    if program.train:
        assert stages.count("post_grad") >= 2
    text = "\n".join(outcome.text for outcome in found)
    assert [piece for piece in program.shows if piece not in text] == []
    reasons = [outcome.not_run for outcome in found if outcome.not_run is not None]
    assert [why for why in reasons if program.not_run is None or program.not_run not in why] == []
    if program.not_run is not None:
        assert reasons, "these graphs can be run after all"
