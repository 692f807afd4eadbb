"""What is said of a tensor from positions is what the tensor holds."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch

from xductor.frontend import from_fx
from xductor.ir import Facts, InferenceEnv, entry_graph
from xductor.transforms.analysis.op_effects import Bodies
from xductor.transforms.attention.known import Choice
from xductor.transforms.attention.known_calls import known_values
from xductor.transforms.attention.predicates import (
    ALWAYS,
    NEVER,
    Affine,
    AllOf,
    AnyOf,
    AtLeastZero,
    Condition,
    Unknown,
    affine,
    all_of,
    any_of,
    is_causal,
    keeps_each_row,
    shortened,
)
from xductor.transforms.attention.reading import Reader
from xductor.transforms.attention.versions import WrittenVersions
from xductor.transforms.rewriting.graph_state import GraphState

_INF = float("inf")


def _holds(condition: Condition, index: tuple[int, ...]) -> bool | None:
    if isinstance(condition, AtLeastZero):
        return _value(condition.form, index) >= 0
    if isinstance(condition, Unknown):
        return None
    assert isinstance(condition, AllOf | AnyOf)
    parts = [_holds(part, index) for part in condition.parts]
    decisive = isinstance(condition, AnyOf)
    if decisive in parts:
        return decisive
    return None if None in parts else not decisive


def _value(known: Any, index: tuple[int, ...]) -> Any:
    if isinstance(known, Affine):
        assert isinstance(known.constant, int)
        return known.constant + sum(c * index[dim] for dim, c in known.terms)
    if isinstance(known, Choice):
        holds = _holds(known.condition, index)
        return None if holds is None else known.yes if holds else known.no
    return _holds(known, index)


def _range(x: torch.Tensor) -> Any:
    place = torch.arange(5)
    return place, place + 3, place * 2 - 1, -place, torch.arange(2, 12, 2), place.float()


def _comparisons(x: torch.Tensor) -> Any:
    row, column = torch.arange(4)[:, None], torch.arange(5)[None, :]
    near = (row - column <= 1) & (column - row < 2)
    return (
        row >= column, row > column, row == column, row != column, row < column + 1, near,
        ~near, near | (row == 0), torch.logical_not(near), (row >= column).logical_and(near),
    )  # fmt: skip


def _triangles(x: torch.Tensor) -> Any:
    ones = torch.ones(4, 5)
    return (
        ones.tril(), ones.triu(1), torch.tril(ones, diagonal=-1), torch.full((4, 4), -_INF).triu(1),
        torch.ones(4, 4, dtype=torch.bool).tril(), torch.ones(4, 4, dtype=torch.uint8).tril(),
        (1 - ones.tril()) * -10000.0, ones.tril() == 0, ones.tril().bool(), ones.tril() > 0.5,
        torch.zeros(4, 4).masked_fill(torch.ones(4, 4).triu(1).bool(), -_INF),
    )  # fmt: skip


def _numbers(x: torch.Tensor) -> Any:
    return (
        torch.tensor(3.0), torch.full((), -_INF), torch.tensor(16.0).sqrt(), torch.ones(3) / 4,
        torch.full((2,), 1e9, dtype=torch.bfloat16), torch.tensor(8.0) ** 0.5,
        x.new_full((2,), 2.0), torch.zeros_like(x), x.new_ones((2, 3), dtype=torch.bool),
        torch.full((2, 2), 3), torch.full((2, 2), 1e-3).to(torch.bfloat16),
    )  # fmt: skip


def _selections(x: torch.Tensor) -> Any:
    row, column = torch.arange(4)[:, None], torch.arange(4)[None, :]
    causal = row >= column
    mask = torch.where(causal, 0.0, -_INF)
    return (
        mask, torch.where(row < 2, mask, 0.0), torch.where(row < 2, -_INF, mask),
        mask.masked_fill(column == 0, 0.0), torch.where(causal, row == 0, column == 0),
        mask[None, None].expand(2, 3, 4, 4), mask.view(1, 1, 4, 4), mask.t(), mask[1:],
        mask[..., 2], mask[:2, 1:].unsqueeze(0), mask.permute(1, 0)[None], mask.reshape(16),
        mask + mask,
    )  # fmt: skip


def _gathers(x: torch.Tensor) -> Any:
    table = (torch.arange(6) + 2).unsqueeze(0).expand(3, -1)
    batch = torch.arange(3)[:, None, None]
    row, column = torch.arange(6)[None, :, None], torch.arange(6)[None, None, :]
    packed = (torch.diff(table, prepend=table[:, :1] - 1, dim=-1) != 1).cumsum(-1)
    return (
        table[batch, row], table[batch, column] <= table[batch, row], packed,
        packed[batch, row] == packed[batch, column], table.diff(), torch.ones(3, 4).cumsum(dim=1),
        torch.diff(table, prepend=table[:, :1], dim=-1),
    )  # fmt: skip


def _unknown(x: torch.Tensor) -> Any:
    causal = torch.ones(3, 3, dtype=torch.bool).tril()
    keep = causal & (x > 0)
    return keep, ~keep, torch.where(keep, 0.0, -_INF), keep | causal, x + 1.0


def _writes(x: torch.Tensor) -> Any:
    first = torch.ones(3, 3).tril()
    second = torch.ones(3, 3).tril()
    second[1, 0] = 0.0
    third = torch.zeros(3, 3)
    third += 2.0
    fourth = torch.zeros(3, 3)
    view = fourth[0]
    view.fill_(5.0)
    return first, second, third * 1.0, fourth, fourth + 0.0


@pytest.mark.parametrize(
    "program",
    [_range, _comparisons, _triangles, _numbers, _selections, _gathers, _unknown, _writes],
    ids=lambda program: program.__name__.strip("_"),
)
def test_known_is_true(program: Callable[..., Any]) -> None:
    seen: list[Any] = []
    values: dict[str, Any] = {}

    class Recording(torch.fx.Interpreter):
        def run_node(self, n: torch.fx.Node) -> Any:
            value = super().run_node(n)
            values[n.name] = value.clone() if isinstance(value, torch.Tensor) else value
            return value

    def backend(gm: torch.fx.GraphModule, inputs: list[Any]) -> Any:
        seen.extend((gm, inputs))
        return Recording(gm).run

    x = torch.randn(3, 3)
    torch._dynamo.reset()
    torch.compile(program, backend=backend, dynamic=False, fullgraph=True)(x)
    module = from_fx(seen[0], "pre_grad", example_inputs=seen[1])
    graph = entry_graph(module)
    with InferenceEnv.of(graph) as env:
        state = GraphState(graph, Bodies(module), env)
        versions = WrittenVersions(graph, state.writes, state.bodies)
    known = known_values(Reader(versions), state.facts)
    checked = 0
    for op in graph.block.ops:
        tensor = values.get(op.node.node)  # type: ignore[attr-defined]
        said = known.of(op.results[0]) if len(op.results) == 1 else None
        if said is None or not isinstance(tensor, torch.Tensor):
            continue
        for index in itertools.product(*map(range, tensor.shape)):
            wanted = _value(said, index)
            assert wanted is None or tensor[index].item() == wanted, (op.name, index)
        checked += 1
    assert checked >= 4


def test_what_data_decides_is_not_known() -> None:
    facts = Facts.from_table(entry_graph(_empty()).symbols.data)
    causal = AtLeastZero(affine(0, {0: 1, 1: -1}))
    assert is_causal(shortened(all_of([causal, ALWAYS]), (4, 4), facts), 0, 1)
    assert not is_causal(all_of([causal, Unknown()]), 0, 1)
    assert all_of([causal, NEVER]) == NEVER
    assert any_of([causal, causal.negated()]) != ALWAYS
    assert not Unknown().holds((4, 4), facts)


@pytest.mark.parametrize(
    ("form", "sizes", "kept"),
    [
        ({0: 1, 1: -1}, (4, 4), True),
        ({0: 1, 1: -1}, (4, 2), True),
        ({0: -1, 1: 1}, (4, 4), True),
        ({0: -1, 1: 1}, (4, 2), False),
        ({1: -1}, (4, 4), True),
        ({0: -1}, (4, 4), False),
    ],
)
def test_rows_that_keep_a_column(form: dict[int, int], sizes: tuple[int, ...], kept: bool) -> None:
    facts = Facts.from_table(entry_graph(_empty()).symbols.data)
    assert keeps_each_row(AtLeastZero(affine(0, form)), 0, 1, sizes, facts) is kept


def _empty() -> Any:
    from xductor.ir import parse_ir

    return parse_ir(
        "fx.graph @forward stage(pre_grad) symbols() (%x : !fx.tensor<f32[4], cpu>) {\n"
        "  fx.output (%x)\n}\n"
    )
