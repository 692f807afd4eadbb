"""The stage before autograd on random programs with symbolic sizes: nobody can tell."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.before_autograd.random_sized_programs import SizedProgram, check

pytestmark = pytest.mark.filterwarnings("ignore")

#: Programs with views of which the ShapeEnv cannot say whether they are contiguous, and one with
#: calls that record no value.
UNKNOWN = (1033, 1068, 1112, 21823)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Fake kernels log what the programs are refused."""
    logging.disable(logging.ERROR)
    yield
    logging.disable(logging.NOTSET)


def test_nobody_can_tell() -> None:
    applied: Counter[str] = Counter()
    compared = 0
    for seed in range(30):
        found = check(seed)
        compared += found is not None
        applied += found or Counter()
    assert compared >= 25
    assert sum(count > 0 for count in applied.values()) > 3, applied


@pytest.mark.parametrize("seed", UNKNOWN)
def test_nothing_is_asked_of_the_shape_env(seed: int) -> None:
    assert check(seed) is not None


def test_what_the_programs_have() -> None:
    """Symbolic sizes, empty ones and ones, other dtypes, regions, and writes into pieces."""
    programs = [SizedProgram(seed) for seed in range(60)]
    texts = "\n".join(one.text for one in programs)
    for part in ("no_grad", "autocast", "[0].add_", "[-1].mul_", "out=", "requires_grad_", "split"):
        assert part in texts, part
    assert {one.dynamic for one in programs} == {one.duck for one in programs} == {True, False}
    inputs = [tensor for one in programs for tensor in one.inputs]
    assert {0, 1} <= {size for one in inputs for size in one.shape}
    assert len({one.dtype for one in inputs}) >= 4
