"""One small program: its graphs at all three stages, each through the IR and back."""

from __future__ import annotations

import torch

from tests.corpus.capture import StageCall, passes_only, stage_calls
from tests.corpus.round_trip import Outcome, check_round_trip
from tests.corpus.small_programs import Program
from xductor.ir.verification.verifier import Level


def outcomes(program: Program) -> list[Outcome]:
    """Compile the program, and check the round trip of each graph that a stage is given.

    Raises what `check_round_trip` raises, and what compiling raises.
    """
    found: list[Outcome] = []

    def before(call: StageCall) -> None:
        found.append(check_round_trip(call))

    def after(call: StageCall) -> None:
        if program.after and call.stage == "post_grad":
            # Inductor leaves stale values behind, so the types are not compared.
            level: Level = "structure"
            found.append(check_round_trip(call, level))

    torch._dynamo.reset()
    with passes_only(), stage_calls(before, after):
        try:
            program.step()
        except Exception:
            if not found or found[-1].stage != program.ends_early:
                raise
    torch._dynamo.reset()
    return found
