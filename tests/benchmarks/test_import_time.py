"""`import xductor` is next to free, and the first use is short."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.benchmarks.import_times import LIMITS, import_seconds


@pytest.fixture(scope="module")
def seconds() -> dict[str, float]:
    return import_seconds()


@pytest.mark.parametrize("what", LIMITS)
def test_what_is_added_to_the_import_of_torch(what: str, seconds: dict[str, float]):
    assert 0 < seconds[what] <= LIMITS[what]


def test_the_import_loads_neither_torch_nor_xdsl():
    program = "import sys, xductor; print(*{'torch', 'xdsl', 'sympy'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []
