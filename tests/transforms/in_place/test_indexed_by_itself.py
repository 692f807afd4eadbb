"""Values are put in place only where no index is computed of what is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from xductor.backend.records import stage_records
from xductor.backend.run_as_fx.without_codegen import without_codegen

Program = Callable[[Any, Any], Any]


def _drawn_elsewhere(x: Any, y: Any) -> None:
    rows = torch.randperm(6)[:4]
    x.index_put_((rows,), x[rows] + x[1:5])


def _drawn_twice(x: Any, y: Any) -> None:
    rows = torch.randperm(6)
    x.index_put_((rows,), x[rows] * 2)
    again = torch.randperm(6)[:4]
    y.index_put_((again,), y[again] + y[1:5])


#: Some index or value is read of what the loop may have written.
READ: dict[str, Program] = {
    "rows by a column": lambda x, y: x.index_put_(((x.flip(0) % 6)[:, 0],), y),
    "columns by a column": lambda x, y: x.t().index_put_((x[:3, 0] % 6,), x[:3] * 2),
    "summed by a column": lambda x, y: x.index_put_((x[:, 0] % 6,), y, accumulate=True),
    "elements by rows": lambda x, y: x.index_put_((x[0] % 6, x[1] % 6), y[0]),
    "rows drawn": lambda x, y: x.index_put_((torch.randperm(6),), x + 1),
    "rows drawn, and others": _drawn_elsewhere,
    "a copy of it": lambda x, y: x.index_put_((y[0].argsort(),), x.clone()),
    "a copy of it, summed": lambda x, y: x.index_put_((y[0] % 6,), x.clone(), accumulate=True),
    "a copy in other sizes": lambda x, y: x.index_put_(
        (y[0].argsort(),), x.view(-1).clone().view(6, 6)
    ),
    "a copy by index_copy_": lambda x, y: x.index_copy_(0, y[0].argsort(), x.clone()),
}


def _picked(x: Any, y: Any) -> None:
    rows = torch.randperm(6)[:4]
    x.index_put_((rows,), x[rows] + y[:4])


#: Nothing is, or Inductor realizes it.
APART: dict[str, Program] = {
    "rows of a cache": lambda x, y: x.index_put_((torch.tensor([3, 1]),), y[:2]),
    "by another tensor": lambda x, y: x.index_put_((y[:, 0] % 6,), y),
    "values of the tensor": lambda x, y: x.index_put_((torch.tensor([3, 1]),), x[4:] + 1),
    "summed": lambda x, y: x.index_put_((y[:, 0] % 6,), x.flip(1), accumulate=True),
    "rows drawn and picked": _picked,
}


def _inputs() -> list[torch.Tensor]:
    return [(torch.arange(36).view(6, 6) * 7 + place).remainder(41) for place in range(2)]


def _written_in_place(program: Program) -> int:
    with torch.no_grad(), stage_records.record() as records, without_codegen():
        torch.compile(program, backend="xductor")(*_inputs())
    return sum(one.applications("reinplace_inplaceable_ops") for one in records)


@pytest.mark.parametrize("name", READ)
def test_stays_functional(name: str) -> None:
    assert _written_in_place(READ[name]) == 0


@pytest.mark.parametrize("name", APART)
def test_writes_in_place(name: str) -> None:
    assert _written_in_place(APART[name]) == 1


def test_generated_code() -> None:
    """Where draws are kept in order, those after the first are hidden in bodies."""
    programs = [*READ.values(), *APART.values(), _drawn_twice]
    inputs = [one for _ in programs for one in _inputs()]
    wanted = [one.clone() for one in inputs]

    def function(*given: Any) -> None:
        for place, program in enumerate(programs):
            program(*given[2 * place : 2 * place + 2])

    options: Any = {
        "xductor.on_error": "raise", "fx_graph_cache": False, "cpp.simdlen": 1,
        "fallback_random": True,
    }  # fmt: skip
    torch._dynamo.reset()
    for run, given in (
        (function, wanted),
        (torch.compile(function, backend="xductor", options=options), inputs),
    ):
        torch.manual_seed(5)
        run(*given)
    torch.testing.assert_close(inputs, wanted)
