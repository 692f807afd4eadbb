"""A call is recalled by its spelling only where every constant is the same, type and bits."""

from __future__ import annotations

import itertools
import math
import operator
from typing import Any

import pytest
import torch
import torch.fx as fx

from xductor.frontend import from_fx, known_calls
from xductor.ir import entry_graph

aten = torch.ops.aten


def _args(target: Any, *args: Any, **kwargs: Any) -> Any:
    """The lowered arguments of a call over one input."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    x.meta["val"] = torch.empty(4, 4, device="meta")
    given = [x if arg is ... else arg for arg in args]
    node = graph.call_function(target, tuple(given), kwargs)
    node.meta["val"] = torch.empty(4, 4, device="meta")
    graph.output((node,))
    module = from_fx(fx.GraphModule(torch.nn.Module(), graph), "joint")
    return next(op for op in entry_graph(module).block.ops if op.name != "fx.output").args  # type: ignore[attr-defined]


@pytest.mark.parametrize("repeat", [1, 2], ids=["first", "again"])
@pytest.mark.parametrize(
    ("target", "values"),
    [
        (aten.add.Tensor, (1, 1.0, True, 0, False, 0.0, -0.0, math.nan, math.inf)),
        (aten.view.default, ([4, 4], [16], [-1], [2, 8])),
        (aten.clone.default, ()),
    ],
)
def test_other_constants_are_other_arguments(
    target: Any, values: tuple[Any, ...], repeat: int
) -> None:
    found = [_args(target, ..., value) for value in values * repeat][-len(values) :]
    for one, other in itertools.combinations(found, 2):
        assert one is not other
    for value, args in zip(values, found, strict=True):
        kept = args.data[1]
        if isinstance(value, list):
            assert list(kept) == value
        else:
            assert type(kept) is type(value)
            assert math.copysign(1, kept) == math.copysign(1, value)


def test_a_keyword_is_no_positional_argument() -> None:
    by_keyword = _args(aten.sum.dim_IntList, ..., [0], keepdim=True)
    assert by_keyword is _args(aten.sum.dim_IntList, ..., [0], True)
    assert by_keyword is not _args(aten.sum.dim_IntList, ..., [0])
    plain, other = (_args(aten.clone.default, ..., **one) for one in ({}, _CONTIGUOUS))
    assert plain is not other


_CONTIGUOUS = {"memory_format": torch.contiguous_format}


def test_what_is_kept_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_calls, "LIMIT", 3)
    monkeypatch.setattr(known_calls, "_known", {})
    for size in range(1, 9):
        _args(aten.view.default, ..., [size])
        assert len(known_calls._known) <= 3


def _raw_args(function: Any, *args: Any, **kwargs: Any) -> tuple[Any, list[int]]:
    """The lowered arguments of a torch-level call over three inputs, and which these are."""
    graph = fx.Graph()
    inputs = [graph.placeholder(f"x{number}") for number in range(3)]
    node = graph.call_function(
        function, *fx.node.map_aggregate((args, kwargs), lambda one: _input(one, inputs))
    )
    for one in (*inputs, node):
        one.meta["example_value"] = torch.empty(4, 4, device="meta")
    graph.output((node,))
    module = from_fx(fx.GraphModule(torch.nn.Module(), graph), "pre_grad")
    op: Any = next(iter(entry_graph(module).block.ops))
    return op.args, [operand.index for operand in op.operands]


class Input(int):
    """Stands for an input of that number."""


def _input(one: Any, inputs: list[fx.Node]) -> Any:
    return inputs[one] if type(one) is Input else one


_A, _B, _C = Input(0), Input(1), Input(2)


@pytest.mark.parametrize("repeat", [1, 2], ids=["first", "again"])
def test_calls_without_a_schema(repeat: int) -> None:
    """Alike are calls of one spelling, whatever values they have."""
    calls = [
        (torch.stack, ([_A, _B],), {}, [0, 1]),
        (torch.stack, ((_A, _B),), {}, [0, 1]),
        (torch.stack, (), {"tensors": [_A, _B]}, [0, 1]),
        (torch.add, (_A,), {"other": _B, "alpha": 1}, [0, 1]),
        (torch.add, (_A,), {"alpha": 1, "other": _B}, [0, 1]),
        (torch.add, (_A,), {"other": _B, "alpha": True}, [0, 1]),
        (torch.add, (_A,), {"other": 1, "alpha": 1}, [0]),
        (operator.getitem, (_A, (slice(None), None)), {}, [0]),
        (operator.getitem, (_A, (slice(0, 1), None)), {}, [0]),
        (operator.getitem, (_A, (slice(0, True), None)), {}, [0]),
        (operator.getitem, (_A, (..., 0)), {}, [0]),
        (operator.getitem, (_A, [..., 0]), {}, [0]),
        (operator.getitem, (_A, (slice(_C, 1, _B), None)), {}, [0, 2, 1]),
    ]
    found = []
    for function, args, kwargs, operands in calls * repeat:
        lowered, given = _raw_args(function, *args, **kwargs)
        assert given == operands
        found.append((function, lowered))
    for one, other in itertools.combinations(found[-len(calls) :], 2):
        assert one != other
    swapped, given = _raw_args(torch.add, _C, other=_A, alpha=1)
    assert given == [2, 0]
    assert swapped is found[-len(calls) + 3][1]
