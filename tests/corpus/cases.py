"""The models of the corpus, in the modes the tests run them in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pytest

from tests.corpus import models
from tests.corpus.model_runs import Case, ModelRuns

#: Modes as `(train, dynamic)`.
EVAL_STATIC, EVAL_DYNAMIC, TRAIN_STATIC, TRAIN_DYNAMIC = ALL_MODES = tuple(
    (train, dynamic) for train in (False, True) for dynamic in (False, True)
)

#: Models that take long to compile.
LARGE = frozenset(name for name in models.names() if models.META[name]["needs"])

SMALL = tuple(name for name in models.names() if name not in LARGE)
#: Models that are worth every mode.
QUICK = (
    "feed_forward", "dropout", "attention", "loop_and_branch", "sizes", "writes", "custom_operator",
    "redundant", "size_from_data",
)  # fmt: skip


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
    names: Iterable[str], modes: Iterable[tuple[bool, bool]], *, codegen: bool = False
) -> list[pytest.ParameterSet]:
    """Parameters called `case`: each model in each of the modes it has."""
    modes = tuple(modes)
    found = [
        CorpusCase(name, train, dynamic, codegen=codegen)
        for name in names
        for train, dynamic in modes
        if models.META[name]["train"] or not train
    ]
    return [pytest.param(case, id=case.id) for case in found]


def one_case(name: str, mode: tuple[bool, bool]) -> CorpusCase:
    """A single case."""
    return CorpusCase(name, *mode)


def usual_cases(*, every_mode: bool) -> list[pytest.ParameterSet]:
    """Every model in training with static and in inference with dynamic shapes; the large ones
    in training alone but for one. With `every_mode` the quick ones the other way round too.
    """
    rest = [name for name in SMALL if name not in QUICK]
    return [
        *cases(["gpt2", *rest], [EVAL_DYNAMIC, TRAIN_STATIC]),
        *cases(sorted(LARGE - {"gpt2"}), [TRAIN_STATIC]),
        *cases(QUICK, ALL_MODES if every_mode else [EVAL_DYNAMIC, TRAIN_STATIC]),
    ]
