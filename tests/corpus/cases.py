"""The models of the corpus, in the modes the tests run them in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pytest

from tests.corpus import models
from tests.corpus.model_runs import Case, ModelRuns

ALL_MODES = tuple((train, dynamic) for train in (False, True) for dynamic in (False, True))


@dataclass(frozen=True)
class CorpusCase(Case):
    """A case of this corpus."""

    @property
    def needs(self) -> str | None:
        """The package that the model needs, beside torch."""
        return models.META[self.name]["needs"]

    @property
    def id(self) -> str:
        return f"{self.name}-{self.mode}-{self.shapes}"

    def runs(self) -> ModelRuns:
        return ModelRuns(models, self)


def cases(
    names: Iterable[str] | None = None,
    modes: Iterable[tuple[bool, bool]] = ALL_MODES,
    *,
    codegen: bool = False,
) -> list[pytest.ParameterSet]:
    """Parameters called `case`: each model in each of the modes `(train, dynamic)` it has."""
    found = [
        CorpusCase(name, train, dynamic, codegen=codegen)
        for name in (names or models.names())
        for train, dynamic in modes
        if models.META[name]["train"] or not train
    ]
    return [pytest.param(case, id=case.id) for case in found]
