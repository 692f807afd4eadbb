"""Models of a file in both directions, without code generation: the numbers of eager."""

from __future__ import annotations

from types import ModuleType

import pytest

from tests.corpus.model_runs import Case, ModelRuns, Report, check_numbers


def direction(name: str, train: bool, *, slow: bool) -> pytest.ParameterSet:
    """Parameters called `name` and `train`: a model in training or in inference."""
    marks = pytest.mark.slow if slow else ()
    return pytest.param(
        name, train, id=f"{name}-{'training' if train else 'inference'}", marks=marks
    )


def assert_numbers_are_those_of_eager(models: ModuleType, case: Case) -> None:
    """Outputs, gradients, and what was written to inputs and buffers; types after each pass."""
    report = Report(case.name, case.mode, case.shapes)
    check_numbers(ModelRuns(models, case), report)
    assert (report.status, report.notes) == ("ok", [])
