"""Code generation makes some functional ops a copy and a write to it: a later write is the second.

Of two writes to one buffer, Inductor does not see that a read between them must not share the loop
of the second.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from xductor.backend.records import stage_records
from xductor.backend.run_as_fx.without_codegen import without_codegen

Program = Callable[[Any, Any], Any]
ROWS = torch.tensor([4, 1, 2])


def _diagonal(x: Any, y: Any) -> Any:
    z = x * 2
    z.diagonal().copy_(y[0])
    return z


def _element(x: Any, y: Any) -> Any:
    z = _diagonal(x, y)
    z.diagonal()[::2].copy_(y[0, :3] + z[0, 0])
    return z


def _reversed(x: Any, y: Any) -> Any:
    part = _diagonal(x, y).diagonal()[::2]
    part.copy_(y[0, :3] + part.flip(0))
    return part


def _copied_back(x: Any, y: Any) -> None:
    z = _diagonal(x, y)
    z.diagonal().copy_(y[0] + z.diagonal().flip(0)[2:3])
    x.copy_(z)


def _strided(x: Any, y: Any) -> None:
    z = x * 2
    z.as_strided((4,), (7,), 1).copy_(y[0, :4])
    z.as_strided((2,), (14,), 1).copy_(y[0, :2] + z[0, 1])
    x.copy_(z)


def _rows(x: Any, y: Any) -> Any:
    x.index_put_((ROWS,), y[:3])
    x[1:] = y[1:] + x[:-1]


READ_BETWEEN = (_element, _reversed, _copied_back, _strided, _rows)


def _nothing_read(x: Any, y: Any) -> Any:
    z = _diagonal(x, y)
    z.diagonal()[::2].copy_(y[0, :3])
    return z


def _rows_twice(x: Any, y: Any) -> Any:
    z = x * 2
    z.index_put_((ROWS,), y[:3])
    z.index_put_((ROWS,), y[3:])
    return z


def _read_apart(x: Any, y: Any) -> Any:
    z = torch.mm(x, y)
    z[:3].diagonal().copy_(y[0, :3])
    z[3:].diagonal().copy_(y[0, :3] + z[0, 0])
    return z


def _inputs() -> list[torch.Tensor]:
    return [torch.arange(36.0).view(6, 6).sin() + place for place in range(2)]


def test_generated_code() -> None:
    programs = READ_BETWEEN
    inputs = [one for _ in programs for one in _inputs()]
    wanted = [one.clone() for one in inputs]

    def function(*given: Any) -> Any:
        return [
            program(*given[2 * place : 2 * place + 2]) for place, program in enumerate(programs)
        ]

    options: Any = {"xductor.on_error": "raise", "fx_graph_cache": False, "cpp.simdlen": 1}
    torch._dynamo.reset()
    with torch.no_grad():
        expected = function(*wanted)
        found = torch.compile(function, backend="xductor", options=options)(*inputs)
    for program, one, other in zip(programs, found, expected, strict=True):
        if other is not None:
            torch.testing.assert_close(one, other, msg=lambda text, p=program: f"{p}: {text}")
    torch.testing.assert_close(inputs, wanted)


def _written_in_place(program: Program) -> int:
    with torch.no_grad(), stage_records.record() as records, without_codegen():
        torch.compile(program, backend="xductor")(*_inputs())
    return sum(one.applications("reinplace_inplaceable_ops") for one in records)


@pytest.mark.parametrize(
    ("program", "count"), [(_nothing_read, 1), (_rows_twice, 2), (_read_apart, 1), (_element, 1)]
)
def test_what_may_write_in_place_still_does(program: Program, count: int) -> None:
    assert _written_in_place(program) == count
