"""What follows from the form of a call is found once, and never for a call of another form."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from xductor.ir import aten
from xductor.ir.functions import torch_spellings
from xductor.ir.functions.call_forms import UNKNOWN, FormTable, form_of
from xductor.ir.functions.op_functions import building
from xductor.ir.functions.overload_resolution import BoundCall, fitting_calls
from xductor.ir.functions.torch_calls import Operand
from xductor.ir.functions.torch_spellings import torch_call


class _Kept:
    """A builder that keeps which calls fit."""

    def __init__(self) -> None:
        self.calls: list[list[BoundCall]] = []

    def call(self, name: str, calls: list[BoundCall]) -> Any:
        self.calls.append(calls)

    def raw_call(self, cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        raise AssertionError("no such call is made here")


def _tensor(number: int, rank: int = 2) -> Operand:
    return Operand(number, "tensor", rank)


X, Y = _tensor(0), _tensor(1)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((X, 0.0), (X, -0.0)),
        ((X, 1), (X, True)),
        ((X, 1), (X, 1.0)),
        ((X, X), (X, Y)),
        ((X, Y), (X, Operand(1, "int", -1))),
        ((X, [Y]), (X, (Y,))),
        ((X, None), (X,)),
    ],
)
def test_calls_of_two_forms(left: tuple[Any, ...], right: tuple[Any, ...]) -> None:
    one, other = form_of(left), form_of(right)
    assert one is not None
    assert other is not None
    assert one.key != other.key


def test_other_values_have_the_same_form() -> None:
    one, other = form_of((X, Y, 2), {"alpha": 1}), form_of((Y, X, 2), {"alpha": 1})
    assert one is not None
    assert other is not None
    assert one.key == other.key
    assert (one.values, other.values) == ([X, Y], [Y, X])


def test_an_object_has_no_form() -> None:
    assert form_of((X, object())) is None
    assert form_of((X, torch.zeros(1))) is None


def test_a_table_keeps_no_values() -> None:
    table = FormTable()
    form = form_of((X, 3))
    assert form is not None
    table.keep(*form, (X, 3))
    assert table.find(form.key, [Y]) == (Y, 3)
    table.keep("other", form.values, (X, object()))
    assert table.find("other", [X]) is UNKNOWN


def test_calls_are_bound_alike_again() -> None:
    kept = _Kept()
    given = [((X, Y), {}), ((Y, X), {"alpha": 2}), ((X, 1.5), {}), ((X, 1), {}), ((X, Y), {})]
    with building(kept):
        for args, kwargs in given:
            aten.add(*args, **kwargs)
    for calls, (args, kwargs) in zip(kept.calls, given, strict=True):
        assert calls == fitting_calls("aten.add", aten.add.overloads, args, kwargs)


def test_what_fits_nothing_is_refused_each_time() -> None:
    relu: Any = aten.relu
    with building(_Kept()):
        for _ in range(2):
            with pytest.raises(TypeError, match="fits no overload"):
                relu(X, X)


@pytest.mark.parametrize(
    "call",
    [
        fitting_calls("aten.add", aten.add.overloads, (X, Y), {"alpha": 2})[0],
        fitting_calls("aten.slice", aten.slice.overloads, (X, 1, 2, 3), {})[0],
        fitting_calls("aten.cat", aten.cat.overloads, ([X, Y], 1), {})[0],
    ],
)
def test_calls_are_written_alike_again(call: BoundCall) -> None:
    first = torch_spellings._find(call)
    assert first is not None
    assert torch_call(call) == torch_call(call) == first


def test_a_batch_norm_is_written_as_the_switch_of_cudnn_says() -> None:
    def call(cudnn: bool) -> BoundCall:
        args = (X, None, None, Y, Y, False, 0.1, 1e-5, cudnn)
        return fitting_calls("aten.batch_norm", aten.batch_norm.overloads, args, {})[0]

    for enabled in (True, False, True):
        with torch.backends.cudnn.flags(enabled=enabled):
            for asked in (True, False):
                assert torch_call(call(asked)) == torch_spellings._find(call(asked))
