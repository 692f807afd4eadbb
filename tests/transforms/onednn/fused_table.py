"""Prints the table of what oneDNN computes with its products, beside Inductor's counts.

`python -m tests.transforms.onednn.fused_table` prints all of it; names of `ALL` choose parts.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch
from torch._inductor.exc import InductorError

from tests.transforms.onednn import fused_cases, fused_narrow_cases
from tests.transforms.onednn.fused_cases import Case, Row
from tests.transforms.onednn.generated_calls import Call, calls, values

TOLERANCE = {torch.float32: (1e-4, 1e-5), torch.bfloat16: (2e-2, 2e-2), torch.float16: (2e-3, 2e-3)}

POLICIES = ("default", "fast")
ALL = {**fused_cases.CASES, **fused_narrow_cases.CASES}


@dataclass(frozen=True)
class Cell:
    """How many of a row's layers are one kernel with what follows: Inductor's, and ours.

    - `stock`: None where Inductor's own compile fails.
    """

    row: Row
    column: str
    stock: int | None
    default: int
    fast: int

    def __str__(self) -> str:
        counts = ("fails" if self.stock is None else self.stock, self.default, self.fast)
        return str(counts[0]) if len(set(counts)) == 1 else "/".join(map(str, counts))


def measured(case: Case) -> list[Cell]:
    """Count what is fused in a case, after its values were compared with eager's."""
    given = {"dynamic": case.dynamic, **case.flags}
    with (
        warnings.catch_warnings(),
        torch.no_grad(),
        torch._dynamo.config.patch(allow_rnn=True),
    ):
        warnings.simplefilter("ignore")
        check_values(case)
        theirs = _of_stock(case)
        ours = [calls(case.model, *case.inputs, numerics=one, **given) for one in POLICIES]
    counted = [None if theirs is None else _of(row, theirs) for row in case.rows]
    return [
        Cell(row, case.column, stock, *[_of(row, each) for each in ours])
        for row, stock in zip(case.rows, counted, strict=True)
    ]


def _of_stock(case: Case) -> Counter[Call] | None:
    """What Inductor calls; None if it raises."""
    try:
        return calls(
            case.model, *case.inputs, backend="inductor", dynamic=case.dynamic, **case.flags
        )
    except InductorError:
        return None


def _of(row: Row, found: Counter[Call]) -> int:
    return sum(found[one] for one in row.kernels)


def check_values(case: Case) -> None:
    """Raises AssertionError where what is fused gives other values than eager."""
    expected = case.model(*case.inputs)
    rtol, atol = TOLERANCE[case.inputs[0].dtype]
    given = {"dynamic": case.dynamic, **case.flags}
    for numerics in POLICIES:
        found = values(case.model, *case.inputs, numerics=numerics, **given)
        torch.testing.assert_close(found, expected, rtol=rtol, atol=max(atol, 1.01 * case.step))


def table(cells: Iterable[Cell]) -> Iterator[str]:
    """The lines of a table in Markdown, a column for each dtype and layout."""
    by_row: dict[tuple[str, str, int], dict[str, Cell]] = {}
    for cell in cells:
        row = cell.row
        by_row.setdefault((row.handler, row.what, row.layers), {})[cell.column] = cell
    columns = list(dict.fromkeys(column for found in by_row.values() for column in found))
    yield " | ".join(["| ", "", "of", *columns]) + " |"
    yield "| --- | --- | ---: |" + " ---: |" * len(columns)
    for (handler, what, layers), found in by_row.items():
        counts = [str(found.get(one, "")) for one in columns]
        yield " | ".join([f"| {handler}", what, str(layers), *counts]) + " |"


def main(names: list[str]) -> None:
    for name in names or ALL:
        cells = [cell for case in ALL[name]() for cell in measured(case)]
        print(f"\n## {name}\n")
        print("\n".join(table(cells)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
