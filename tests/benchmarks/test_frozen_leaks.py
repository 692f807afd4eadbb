"""Frozen compiles in a row leave nothing in memory that belonged to one of them."""

import pytest
import torch

from tests.benchmarks.frozen_leaks import measure


@pytest.mark.slow
@pytest.mark.skipif(not torch._C._has_mkldnn, reason="no oneDNN")
def test_frozen_compiles_leave_nothing_behind() -> None:
    """`python -m tests.benchmarks.frozen_leaks` does 200 of them."""
    before, after = measure(10)
    assert after.more_than(before) == {}
