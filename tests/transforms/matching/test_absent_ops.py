"""A pattern that names an op which its stage does not have is warned of when the class is made."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from torch._inductor.decomposition import select_decomp_table

from xductor import Rewrite, Tensor, one_of
from xductor.ir import aten, ops
from xductor.transforms.matching.absent_ops import (
    NeverMatchedWarning,
    is_decomposed,
    may_be_decomposed,
)


def made(stages: Any, pattern: Any) -> list[str]:
    """The warnings of the making of a class."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")

        class Made(Rewrite):
            stage = stages

            def pattern(self, x: Tensor, y: Tensor) -> Any:
                return pattern(x, y)

            def replacement(self, x: Tensor, y: Tensor) -> Any:
                return aten.mul(x, y)

    ours = [one for one in given if one.category is NeverMatchedWarning]
    lines = Path(__file__).read_text().splitlines()
    assert all(one.filename == __file__ for one in ours)
    assert all("class Made" in lines[one.lineno - 1] for one in ours)
    return [str(one.message) for one in ours]


@pytest.mark.parametrize(
    ("stage", "pattern", "message"),
    [
        ("joint", lambda x, y: aten.mul(aten.silu(x), y), "aten.silu.default does not reach"),
        ("post_grad", lambda x, y: aten.add(aten.gelu(x), y), "aten.gelu.default does not reach"),
        (("joint", "post_grad"), lambda x, y: aten.mul(aten.rsub(x, y), y), "post_grad stage"),
        ("joint", lambda x, y: ops.pyfn.torch.mul(x, y), "behind autograd there are ATen ops"),
        ("pre_grad", lambda x, y: aten.sin(aten.copy(x, y)), "is no op of this stage"),
    ],
)
def test_it_is_warned_of(stage: Any, pattern: Any, message: str) -> None:
    (said,) = made(stage, pattern)
    assert message in said
    assert "test_absent_ops.py:" in said
    assert "pattern_from" in said


@pytest.mark.parametrize(
    ("stage", "pattern"),
    [
        ("pre_grad", lambda x, y: aten.mul(aten.silu(x), y)),
        (("pre_grad", "joint"), lambda x, y: aten.mul(aten.silu(x), y)),
        ("joint", lambda x, y: one_of(aten.mul(aten.silu(x), y), aten.mul(aten.sin(x), y))),
        ("post_grad", lambda x, y: aten.mm(x, y)),
    ],
)
def test_a_pattern_that_may_be_found_is_not(stage: Any, pattern: Any) -> None:
    assert made(stage, pattern) == []


def test_usual_patterns_do_not_import_inductor() -> None:
    program = """
import sys
from xductor import Rewrite, Tensor
from xductor.ir import aten

class Twice(Rewrite):
    stage = "joint"
    def pattern(self, x: Tensor):
        return aten.add(aten.mm(x, x), x)
    def replacement(self, x: Tensor):
        return aten.addmm(x, x, x)

assert "torch._inductor.decomposition" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)


def test_inductor_is_asked_of_all_that_it_decomposes() -> None:
    missed = [
        str(op)
        for op in select_decomp_table()
        if op.namespace == "aten" and is_decomposed(op) and not may_be_decomposed(op)
    ]
    assert missed == []
