"""Each wrong rewrite is refused by the level it names, and would break its program without it."""

from __future__ import annotations

import logging
from collections import Counter
from typing import Any

import pytest
import torch
from torch._dynamo.exc import BackendCompilerFailed

from tests.before_autograd.observation import difference, observe, observe_compiled
from tests.before_autograd.wrong import CASES, WrongBefore
from xductor.backend.stage_runs import applications
from xductor.transforms.passes.debug_counters import Counter as Counted
from xductor.transforms.passes.debug_counters import counting
from xductor.transforms.rewriting.driver import watching


def _leaves() -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    one, two = (torch.rand(4, 4, generator=generator) + 0.25 for _ in range(2))
    return [one.requires_grad_(), two]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rewrite.__name__)
def test_is_refused(case: WrongBefore, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    refused: list[str] = []
    monkeypatch.setattr(applications, "_skip", lambda one, error: refused.append(str(error)))
    with caplog.at_level(logging.DEBUG, applications.__name__):
        found, records = observe_compiled(
            case.function, _leaves(), rewrites=[case.rewrite], on_error="fallback"
        )
    refused += [record.getMessage() for record in caplog.records if "declined" in record.msg]
    assert difference(observe(case.function, _leaves()), found) == ""
    assert not any(record.fallback for record in records)
    assert sum(record.applications(case.rewrite().name) for record in records) == 0
    if case.level == "match":
        assert refused == []
    else:
        assert any(case.says in one for one in refused), refused


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rewrite.__name__)
def test_is_wrong_with_the_checks_off(case: WrongBefore) -> None:
    expected = observe(case.function, _leaves())
    once = {case.rewrite().name: Counted(0, 1)}  # applied again it might never end
    with watching(unchecked=True), counting(once):
        try:
            found, records = observe_compiled(case.function, _leaves(), rewrites=[case.rewrite])
        except BackendCompilerFailed as error:
            if "NoConvergence" in str(error):  # which says nothing about values
                raise
            return  # raises where eager does not
    assert sum(record.applications(case.rewrite().name) for record in records) > 0
    assert difference(expected, found) != ""


def test_there_are_enough_of_them() -> None:
    kinds = Counter(case.kind for case in CASES)
    assert len(CASES) >= 20
    assert {"alias", "region", "order", "in place", "saved"} <= kinds.keys()
    assert all(case.level == "contract" for case in CASES)
