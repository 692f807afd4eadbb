"""Each spelling is fused, and gives what eager gives; look-alikes stay as they are."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tests.transforms.attention.fused import compare
from tests.transforms.attention.look_alikes import LOOK_ALIKES
from tests.transforms.attention.more_spellings import SPELLINGS
from tests.transforms.attention.spelling import Spelling
from tests.transforms.attention.stock_spellings import HALF_PATTERNS, PATTERNS

_ARGUMENTS = ("spelling", "training", "why", "fuses")
ALL = (*PATTERNS, *HALF_PATTERNS, *SPELLINGS)


def _cases(spellings: tuple[Spelling, ...], *, fuse: bool) -> Any:
    """Each spelling in inference and in training, with what the pass is to say."""
    for one in spellings:
        for training, why in ((False, one.inference), (True, one.training)):
            if why is not None:
                name = f"{one.name}, {'training' if training else 'inference'}"
                yield pytest.param(one, training, why, fuse and why == "", id=name)


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


@pytest.mark.parametrize(_ARGUMENTS, _cases(ALL, fuse=True))
def test_spelling(spelling: Spelling, training: bool, why: str, fuses: bool) -> None:
    found = compare(spelling.call(training), spelling.inputs(), grad=training)
    assert found.outcome.count == int(fuses), found.outcome.reasons
    if not fuses:
        assert any(why in reason for reason in found.outcome.reasons)
        return
    assert found.forward <= spelling.error
    assert (found.backward or 0.0) <= spelling.error
    assert ("is_causal" in found.outcome.text) == spelling.causal
    assert ("enable_gqa" in found.outcome.text) == spelling.grouped


@pytest.mark.parametrize(_ARGUMENTS, _cases(LOOK_ALIKES, fuse=False))
def test_look_alike(spelling: Spelling, training: bool, why: str, fuses: bool) -> None:
    found = compare(spelling.call(training), spelling.inputs(), grad=training)
    assert found.outcome.count == 0
    assert not why or any(why in reason for reason in found.outcome.reasons)


def test_there_are_enough_of_both() -> None:
    assert len(ALL) >= 60
    assert len(LOOK_ALIKES) >= 25
    assert len({one.name for one in (*ALL, *LOOK_ALIKES)}) == len(ALL) + len(LOOK_ALIKES)
