"""Mutation, views, aliases, versions, modes, hooks and returned pieces around the patterns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch._inductor import config
from torch.fx import GraphModule

from tests.before_autograd.random_group_graphs import run
from tests.before_autograd.stages_with_all_options import STAGES
from tests.before_autograd.surrounded_programs import (
    PATTERNS,
    PROGRAMS,
    SURROUNDINGS,
    Surrounded,
    inputs,
)
from tests.corpus.capture import graph_copy
from xductor.backend.config import settings
from xductor.backend.records import stage_records
from xductor.backend.stages import pre_grad_passes
from xductor.transforms.rewriting.driver import watching

pytestmark = pytest.mark.filterwarnings("ignore")


def _compiled(one: Surrounded, applied: Counter[str]) -> list[Callable[..., Any]]:
    """The program with graphs that went through no stage, or one of the stages."""
    chosen: list[int] = [0]
    made: list[GraphModule] = []

    def compiler(gm: GraphModule, given: Sequence[Any]) -> Callable[..., Any]:
        made.append(gm)
        for flags, added in STAGES.values():
            now = settings.current().replace(numerics="fast", on_error="raise")
            with settings.use(now), config.patch(flags), stage_records.record() as records:
                made.append(pre_grad_passes(graph_copy(gm), given, added))
            for record in records:
                applied.update({name: n for name, n in record.counts().items() if n})
        return lambda *args: made[chosen[0]](*args)

    compiled = torch.compile(one.function(), backend=compiler, fullgraph=True, dynamic=False)

    def choose(place: int) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            chosen[0] = place
            return compiled(*args)

        return call

    return [choose(place) for place in range(len(STAGES) + 1)]


def seen(function: Callable[..., Any]) -> Any:
    """What a program sees of a call; the kind of the error where it raises."""
    try:
        return run(function, inputs())  # type: ignore[arg-type]
    except RuntimeError as error:
        return type(error).__name__, "leaf" in str(error)


def compare(one: Surrounded, applied: Counter[str]) -> str:
    """How the program differs from eager behind a stage; "" if it does not."""
    torch._dynamo.reset()
    expected = seen(one.function())
    if isinstance(expected[0], str):
        return ""  # eager refuses the program
    for name, function in zip(("no stage", *STAGES), _compiled(one, applied), strict=True):
        found = seen(function)
        if found[0] == "InternalTorchDynamoError":
            return ""  # Dynamo makes no graph of it
        if found[0] != expected[0]:
            return f"{name}: expected {expected[0]}, found {found[0]}\n{one.text}"
        try:
            torch.testing.assert_close(found[1], expected[1], rtol=1e-9, atol=1e-9)
        except AssertionError as error:
            return f"{name}: {error}\n{one.text}"
    return ""


def _some(pattern: str) -> list[Surrounded]:
    """Of the surroundings of a pattern every third; each stands around every third pattern."""
    first = list(PATTERNS).index(pattern)
    own = [one for one in PROGRAMS if one.pattern == pattern]
    return [one for place, one in enumerate(own) if (place + first) % 3 == 0]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_nobody_can_tell(pattern: str) -> None:
    applied: Counter[str] = Counter()
    faults = [compare(one, applied) for one in _some(pattern)]
    assert not any(faults), "\n".join(faults)
    assert applied, pattern


def test_there_are_enough_of_them() -> None:
    chosen = [one for pattern in PATTERNS for one in _some(pattern)]
    assert len(chosen) >= 150
    assert {one.surrounding for one in chosen} == SURROUNDINGS.keys()
    refused = sum(isinstance(seen(one.function())[0], str) for one in chosen)
    assert len(chosen) - refused >= 150, refused


def test_they_break_where_nothing_is_checked() -> None:
    """Without contracts, rewrites that the programs are written against are made, and are wrong."""
    broken: set[str] = set()
    with watching(unchecked=True):
        for pattern in ("pieces in order", "views of nothing", "two transposes", "relu of a cat"):
            for one in PROGRAMS:
                if one.pattern == pattern and compare(one, Counter()):
                    broken.add(one.surrounding)
    assert len(broken) >= 8, broken
