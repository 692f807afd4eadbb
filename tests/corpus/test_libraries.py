"""Programs of libraries, without code generation: the numbers of eager."""

from __future__ import annotations

import pytest

from tests.corpus import libraries
from tests.corpus.eager_numbers import assert_numbers_are_those_of_eager, direction
from tests.corpus.model_runs import Case

pytestmark = pytest.mark.filterwarnings("ignore")

#: Attention over the edges of a graph, a decoder, an image in other colours: in every run.
_FEW = ("graph_attention", "alibi", "hue_and_lightness")
_ALL = [
    direction(name, train, slow=name not in _FEW)
    for name in libraries.names()
    for train in (False, True)
]


@pytest.mark.parametrize(("name", "train"), _ALL)
def test_numbers_are_those_of_eager(name: str, train: bool) -> None:
    """Outputs, gradients and buffers; with symbolic sizes in inference."""
    pytest.importorskip(libraries.META[name]["needs"])
    case = Case(name, train, dynamic=not train)
    assert_numbers_are_those_of_eager(libraries, case)
