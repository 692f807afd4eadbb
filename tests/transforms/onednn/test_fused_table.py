"""A part of the table of what oneDNN computes: ours fuses where Inductor does, and the values."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from tests.backend.pipelines.frozen_graphs import packing
from tests.transforms.onednn.fused_cases import Case
from tests.transforms.onednn.fused_table import ALL, measured, table

pytestmark = [
    pytest.mark.skipif(not torch._C._has_mkldnn, reason="no oneDNN"),
    pytest.mark.filterwarnings("ignore"),
]

#: What gives a number for NaN, so that it is computed by oneDNN under `fast` alone.
HIDING = ("relu", "relu6", "hardtanh", "hardsigmoid", "its relu too")

#: The parts of the table that are measured here, with the number of the case in each.
CHOSEN = (
    ("unary", 1),
    ("unary", -1),
    ("binary", 0),
    ("in place", 1),
    ("packing", 0),
    ("weight-only", 1),
    ("PT2E", 2),
    ("PT2E", 6),
)


@pytest.fixture(autouse=True)
def packs() -> Iterator[None]:
    with packing(True):
        yield
    torch._dynamo.reset()


def case_of(part: str, place: int) -> Case:
    return list(ALL[part]())[place]


@pytest.mark.parametrize(("part", "place"), CHOSEN)
def test_ours_fuses_where_inductor_does(part: str, place: int) -> None:
    cells = measured(case_of(part, place))
    assert cells
    for cell in cells:
        stock = cell.stock or 0
        assert cell.fast >= stock, cell
        assert cell.default >= (0 if cell.row.what.startswith(HIDING) else stock), cell
        assert max(cell.default, cell.fast) <= cell.row.layers, cell


def test_wrong_values_are_seen() -> None:
    case = case_of("packing", 0)

    class Changing(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * (1 if torch.compiler.is_compiling() else 2)

    with pytest.raises(AssertionError, match="not close"):
        measured(Case(case.column, case.rows, Changing().eval(), case.inputs))


def test_the_lines_of_a_table() -> None:
    lines = list(table(measured(case_of("recurrent", 0))))
    assert lines[0].startswith("|  |  | of | float32 contiguous |")
    assert lines[2] == "| packing | recurrent layers | 2 | 2 |"
