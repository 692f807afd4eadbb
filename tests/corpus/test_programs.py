"""Programs of many kinds, without code generation: the numbers of eager."""

from __future__ import annotations

import pytest

from tests.corpus import programs
from tests.corpus.eager_numbers import assert_numbers_are_those_of_eager, direction
from tests.corpus.model_runs import Case

pytestmark = pytest.mark.filterwarnings("ignore")

#: They take more than a second in any direction.
_LONG = frozenset(
    (
        "adam_of_each",
        "advantages_and_corrected_returns",
        "curvature_of_a_net",
        "decayed_averages",
        "differential_equation",
        "experts_with_places",
        "gated_delta",
        "gradients_of_each_sample",
        "hashed_grid",
        "inner_loop",
        "jacobians_of_a_net",
        "matrix_memory",
        "optimisers_of_many_kinds",
        "penalty_of_gradients",
        "physics",
        "radiance_field",
        "retention",
        "rigid_alignment",
        "sampled_warp",
        "spectral_distance",
        "splats",
        "translation",
        "wave_in_steps",
    )
)


def _directions(name: str) -> list[pytest.ParameterSet]:
    """Training with static and inference with symbolic sizes; of two, the second is a slow test."""
    trains = (True, False) if programs.META[name]["train"] else (False,)
    return [
        direction(name, train, slow=bool(place) or name in _LONG)
        for place, train in enumerate(trains)
    ]


@pytest.mark.parametrize(
    ("name", "train"), [one for name in programs.names() for one in _directions(name)]
)
def test_numbers_are_those_of_eager(name: str, train: bool) -> None:
    """Outputs, gradients, inputs and buffers that were written; types hold after each pass."""
    case = Case(name, train, dynamic=not train)
    assert_numbers_are_those_of_eager(programs, case)
