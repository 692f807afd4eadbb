"""Each rule for cutting an op, against the op: on pieces it gives pieces, or terms of a sum."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from xductor.frontend import from_fx
from xductor.ir import Ref, SchemaOp, entry_graph
from xductor.ir.dialect.arguments import map_tree
from xductor.transforms.auto_chunker import correspondences
from xductor.transforms.auto_chunker.axes import Axes
from xductor.transforms.auto_chunker.correspondences import (
    SIZE_ARGUMENTS,
    correspondence,
    has_rule,
    shape_of,
)

aten, prims = torch.ops.aten, torch.ops.prims
X = torch.arange(4 * 6 * 8).view(4, 6, 8).remainder(17).float()
M = X.view(24, 8)
INDEX = torch.arange(24).view(24, 1) % 8
SQUARE = X.reshape(4, 48)

CALLS: dict[str, tuple[Callable[..., Any], tuple[torch.Tensor, ...]]] = {
    "pointwise": (aten.mul.Tensor, (X, X[:1])),
    "pointwise of ranks": (aten.add.Tensor, (X, X[0])),
    "convert": (lambda x: prims.convert_element_type.default(x, torch.float64), (X,)),
    "where": (aten.where.self, (X > 3, X, X[0, 0])),
    "masked_fill": (aten.masked_fill.Tensor, (X, X > 3, torch.tensor(2.0))),
    "alias": (aten.alias.default, (X,)),
    "mm": (aten.mm.default, (M, M.t())),
    "bmm": (aten.bmm.default, (X, X.transpose(1, 2))),
    "addmm": (aten.addmm.default, (M[:, 0], M, M.t())),
    "addmm of rows": (aten.addmm.default, (M[:, :1], M, M.t())),
    "permute": (lambda x: aten.permute.default(x, [2, 0, -2]), (X,)),
    "t": (aten.t.default, (M,)),
    "transpose": (lambda x: aten.transpose.int(x, 0, -1), (X,)),
    "unsqueeze": (lambda x: aten.unsqueeze.default(x, -2), (X,)),
    "squeeze": (aten.squeeze.default, (X[:, :1],)),
    "squeeze dim": (lambda x: aten.squeeze.dim(x, 1), (X[:, :1],)),
    "squeeze dims": (lambda x: aten.squeeze.dims(x, [1, 2]), (X[:, :1],)),
    "expand": (lambda x: aten.expand.default(x, [2, 4, 6, 8]), (X[:, :1],)),
    "view apart": (lambda x: aten.view.default(x, [4, 6, 8]), (M,)),
    "view together": (lambda x: aten.view.default(x, [-1, 8]), (X,)),
    "view to one": (lambda x: aten.view.default(x, [-1]), (X,)),
    "view across": (lambda x: aten.view.default(x, [8, 3, 8]), (X,)),
    "view of ones": (lambda x: aten.view.default(x, [4, 1, 6, 8, 1]), (X,)),
    "reshape": (lambda x: aten.reshape.default(x, [24, 2, 4]), (X,)),
    "sum": (aten.sum.default, (X,)),
    "sum of dims": (lambda x: aten.sum.dim_IntList(x, [0, -1]), (X,)),
    "sum of dims kept": (lambda x: aten.sum.dim_IntList(x, [1], True), (X,)),
    "mean": (aten.mean.default, (X,)),
    "mean of a dim": (lambda x: aten.mean.dim(x, [-1]), (X,)),
    "amax": (lambda x: aten.amax.default(x, [1], True), (X,)),
    "amin": (lambda x: aten.amin.default(x, [1]), (X,)),
    "prod": (lambda x: aten.prod.dim_int(x, 1), (X,)),
    "logsumexp": (lambda x: aten.logsumexp.default(x, [2]), (X,)),
    "argmax": (lambda x: aten.argmax.default(x, 1), (X,)),
    "argmax of all": (aten.argmax.default, (X,)),
    "any": (lambda x: aten.any.dim(x, 1), (X > 15,)),
    "softmax": (lambda x: aten._softmax.default(x, 1, False), (X,)),
    "log_softmax": (lambda x: aten._log_softmax.default(x, -1, False), (X,)),
    "softmax backward": (
        lambda g, y: aten._softmax_backward_data.default(g, y, 1, torch.float32),
        (X, X / 9),
    ),
    "cumsum": (lambda x: aten.cumsum.default(x, 1), (X,)),
    "gather": (lambda x, i: aten.gather.default(x, 1, i), (M, INDEX)),
    "gather of fewer rows": (lambda x, i: aten.gather.default(x, 1, i), (M, INDEX[:12])),
    "scatter": (lambda x, i: aten.scatter.value(x, 1, i, -1.0), (M, INDEX)),
    "scatter of fewer rows": (lambda x, i: aten.scatter.value(x, 1, i, -1.0), (M, INDEX[:12])),
    "scatter src": (lambda x, i, s: aten.scatter.src(x, 1, i, s), (M, INDEX, M[:, :1] + 1)),
    "scatter_add": (lambda x, i, s: aten.scatter_add.default(x, 1, i, s), (M, INDEX, M[:, :2])),
    "select": (lambda x: aten.select.int(x, 1, -1), (X,)),
    "slice": (lambda x: aten.slice.Tensor(x, 1, 1, 5), (X,)),
    "slice_scatter": (lambda x, s: aten.slice_scatter.default(x, s, 1, 1, 5), (X, X[:, :4] + 1)),
    "select_scatter": (lambda x, s: aten.select_scatter.default(x, s, 1, 2), (X, X[:, 0] + 1)),
    "pad": (lambda x: aten.constant_pad_nd.default(x, [1, 0, 0, 2], 3.0), (X,)),
    "cat": (lambda x, y: aten.cat.default([x, y], 1), (X, X + 1)),
}
MEANS = ("aten.mean.default", "aten.mean.dim")


def _traced(name: str) -> tuple[SchemaOp, list[torch.Tensor]]:
    function, inputs = CALLS[name]
    graph = entry_graph(from_fx(make_fx(function, tracing_mode="fake")(*inputs), "joint"))
    (op,) = [one for one in graph.block.ops if one.name != "fx.output"]
    assert isinstance(op, SchemaOp)
    values = dict(zip(graph.arguments, inputs, strict=True))
    return op, [values[operand] for operand in op.operands]  # type: ignore[index]


def _call(op: SchemaOp, operands: list[torch.Tensor], size: list[int] | None = None) -> Any:
    data = list(op.args.data)
    name = SIZE_ARGUMENTS.get(op.name)
    if name is not None and size is not None:
        data[op.table.index[name]] = size
    given = [
        list(item) if isinstance(item, tuple) else item
        for item in map_tree(
            tuple(data), lambda one: operands[one.index] if type(one) is Ref else one
        )
    ]
    named = {p.name: v for p, v in zip(op.table.params, given, strict=True) if p.kwarg_only}
    return op.target(*given[: op.table.positional], **named)


def _axes(op: SchemaOp) -> list[tuple[Any, int]]:
    """A dim of each axis that the rule lets be cut."""
    rule = correspondence(op)
    assert rule is not None
    result = op.results[0]
    found = [(op.operands[operand], dim) for operand, dim, _ in rule.links]
    found += [(op.operands[operand], dim) for operand, dim in rule.summed]
    found += [(result, dim) for dim in rule.made]
    return [(value, dim) for value, dim in found if value.type.shape[dim] > 1]  # type: ignore[union-attr]


@pytest.mark.parametrize("name", CALLS)
def test_pieces(name: str) -> None:
    op, operands = _traced(name)
    rule = correspondence(op)
    assert rule is not None
    whole = _call(op, operands)
    axes = Axes([op])
    result = op.results[0]
    for place in _axes(op):
        cut = [axes.on(value, place) for value in op.operands]
        made = axes.on(result, place)
        allowed = [
            all(
                (index, dim) in {(o, d) for o, d, _ in rule.links} | set(rule.summed)
                for dim in dims
            )
            for index, dims in enumerate(cut)
        ]
        if not all(allowed) or any(len(dims) > 1 for dims in (*cut, made)):
            continue
        values = [*zip(op.operands, cut, strict=True), (result, made)]
        sizes = [shape_of(value)[dims[0]] for value, dims in values if dims]
        assert math.gcd(*sizes) % 2 == 0
        parts = 2
        pieces = []
        for part in range(parts):
            given = [
                _piece(one, dims, part, parts) for one, dims in zip(operands, cut, strict=True)
            ]
            size = list(whole.shape)
            for dim in made:
                size[dim] //= parts
            pieces.append(_call(op, given, size))
        summed = any((i, d) in rule.summed for i, dims in enumerate(cut) for d in dims)
        if made:
            assert not summed
            found = torch.cat(pieces, made[0])
        else:
            assert summed, "a cut that does not show in the result"
            found = sum(pieces) / (parts if op.name in MEANS else 1)
        torch.testing.assert_close(found, whole, msg=f"{name} cut along {place[1]}")


def _piece(value: torch.Tensor, dims: list[int], part: int, parts: int) -> torch.Tensor:
    return value.chunk(parts, dims[0])[part] if dims else value


CUT = {
    "mm": 3, "bmm": 4, "view apart": 2, "view together": 2, "view to one": 1, "view across": 2,
    "expand": 4, "gather": 1, "gather of fewer rows": 0, "scatter of fewer rows": 0, "scatter": 1,
    "addmm": 2, "softmax": 2, "argmax of all": 0, "sum": 3, "cat": 2, "pad": 1, "reshape": 2,
}  # fmt: skip


@pytest.mark.parametrize("name", CUT)
def test_how_many_axes(name: str) -> None:
    """A rule that let nothing be cut would be right, and of no use."""
    op, _ = _traced(name)
    axes = Axes([op])
    places = _axes(op)
    roots = {axes._root(place) for place in places}
    assert len(roots) == CUT[name]


def test_every_rule_has_a_call() -> None:
    used = {_traced(name)[0].name for name in CALLS}
    used |= {"aten.full.default", "aten._unsafe_view.default", "aten.detach.default"}
    used |= {"aten._log_softmax_backward_data.default", "aten._to_copy.default", "aten.all.dim"}
    used |= {"aten.reshape.default", "aten.any.dims", "aten.all.dims", "aten.argmin.default"}
    assert set(correspondences._rules) <= used


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.sort(1)[0],
        lambda x: aten.rand_like.default(x),
        lambda x: aten.bernoulli.p(x, 0.5),
        lambda x: aten.flip.default(x, [0]),
        lambda x: aten.add_.Tensor(x, 1),
    ],
    ids=["sort", "rand_like", "bernoulli", "flip", "in-place"],
)
def test_no_rule(function: Any) -> None:
    graph = entry_graph(from_fx(make_fx(function, tracing_mode="fake")(X.clone()), "joint"))
    assert not any(has_rule(op) for op in graph.block.ops if op.name != "aten.clone.default")  # type: ignore[arg-type]
