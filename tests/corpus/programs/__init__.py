"""Programs of the kinds that people write with PyTorch, each small and with no package but torch.

    python tests/corpus/run_models.py --models-file tests/corpus/programs/__init__.py --no-codegen

A models file as `tests/corpus/models.py` is.
"""

from __future__ import annotations

from typing import Any

import torch

from tests.corpus.models import loss_of
from tests.corpus.programs import (
    estimators,
    fields,
    losses,
    routing,
    sequences,
    states,
    training_steps,
)
from tests.corpus.programs.program import BUILDERS, META, as_module

MODULES = (losses, sequences, training_steps, fields, routing, states, estimators)


def names() -> list[str]:
    """The programs, in order of their definition."""
    return list(BUILDERS)


def build(name: str, *, layers: int = 1, batch: int = 3, seed: int = 0) -> Any:
    """A module with inputs for it; the same for the same seed. `layers` is of no effect."""
    torch.manual_seed(seed)
    made, args = BUILDERS[name](batch)
    return as_module(made), args, {}


__all__ = ["BUILDERS", "META", "MODULES", "build", "loss_of", "names"]
