"""The stage before autograd with every option on, on random graphs: nobody can tell."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.before_autograd.random_graphs import check

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Fake kernels log what the graphs are not given."""
    logging.disable(logging.ERROR)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("part", range(3))
def test_nobody_can_tell(part: int) -> None:
    applied: Counter[str] = Counter()
    for seed in range(30 * part, 30 * part + 30):
        applied += check(seed) or Counter()
    assert sum(count > 0 for count in applied.values()) > 5, applied


def test_a_graph_of_which_every_call_is_replaced() -> None:
    """What its output records must not tell how the others record their values."""
    assert check(87)
