"""How the dims of a call's operands and of its result correspond, by family of ops.

To cut a dim of the result, the dims of the operands that are linked to it are cut, and the call on
the pieces returns a piece of the result. Dims that a rule does not mention must not be cut.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch

from xductor.ir import Ref, SchemaOp, TensorType, TorchOp
from xductor.ir.effects.target_effects import target_effects

Shape = tuple[int, ...]


@dataclass
class Correspondence:
    """The dims of one call that may be cut.

    - `links`: (operand, its dim, dim of the result): cut together, at the same fraction.
    - `summed`: (operand, its dim): if cut, then together; the calls on the pieces return terms of
      the result, which is their sum.
    - `made`: dims of the result that no operand has; their size is an argument of the call.
    """

    links: list[tuple[int, int, int]] = field(default_factory=list[tuple[int, int, int]])
    summed: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    made: set[int] = field(default_factory=set[int])


Rule = Callable[[SchemaOp], Correspondence | None]
_rules: dict[str, Rule] = {}

#: Ops that take the shape of their result, with the name of that argument.
SIZE_ARGUMENTS = {
    "aten.expand.default": "size",
    "aten.full.default": "size",
    "aten.view.default": "size",
    "aten._unsafe_view.default": "size",
    "aten.reshape.default": "shape",
}


def correspondence(op: TorchOp) -> Correspondence | None:
    """The dims of a call that may be cut; None if it has no rule, or the rule does not apply."""
    if not isinstance(op, SchemaOp) or len(op.results) != 1 or not _static(op):
        return None
    rule = _rules.get(op.name)
    if rule is not None:
        return rule(op)
    return _pointwise(op) if is_pointwise(type(op)) else None


def has_rule(op: TorchOp) -> bool:
    """Whether calls of this op can be cut at all."""
    return op.name in _rules or (isinstance(op, SchemaOp) and is_pointwise(type(op)))


@cache
def is_pointwise(cls: type[SchemaOp]) -> bool:
    """Whether each element of a result depends on only one element of each operand."""
    tags = cls.target.tags
    return torch.Tag.pointwise in tags and target_effects(cls.target).pure


def _static(op: SchemaOp) -> bool:
    types: list[Any] = [value.type for value in (*op._operands, *op.results)]
    return all(
        type(one) is TensorType and all(type(size) is int for size in one.shape) for one in types
    )


def shape_of(value: Any) -> Shape:
    return value.type.shape


def _rule(*names: str) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        for name in names:
            _rules[name] = rule
        return rule

    return register


def _operand(op: SchemaOp, name: str) -> int:
    """The number of the operand for an argument."""
    ref = op.args.data[op.table.index[name]]
    assert type(ref) is Ref
    return ref.index


def _dim(dim: int, rank: int) -> int:
    return dim + rank if dim < 0 else dim


def _broadcast(shape: Shape, result: Shape, operand: int) -> list[tuple[int, int, int]]:
    offset = len(result) - len(shape)
    return [
        (operand, dim, dim + offset)
        for dim, size in enumerate(shape)
        if size == result[dim + offset]
    ]


@_rule("aten.alias.default", "aten.detach.default", "aten._to_copy.default")
@_rule("aten.masked_fill.Tensor")
def _pointwise(op: SchemaOp) -> Correspondence:
    result = shape_of(op.results[0])
    found = Correspondence()
    for operand, value in enumerate(op._operands):
        found.links += _broadcast(shape_of(value), result, operand)
    return found


@_rule("aten.mm.default")
def _mm(op: SchemaOp) -> Correspondence:
    left, right = _operand(op, "self"), _operand(op, "mat2")
    return Correspondence([(left, 0, 0), (right, 1, 1)], [(left, 1), (right, 0)])


@_rule("aten.bmm.default")
def _bmm(op: SchemaOp) -> Correspondence:
    left, right = _operand(op, "self"), _operand(op, "mat2")
    links = [(left, 0, 0), (right, 0, 0), (left, 1, 1), (right, 2, 2)]
    return Correspondence(links, [(left, 2), (right, 1)])


@_rule("aten.addmm.default")
def _addmm(op: SchemaOp) -> Correspondence:
    """The contraction is not cut: each part would add the whole bias."""
    bias, left, right = _operand(op, "self"), _operand(op, "mat1"), _operand(op, "mat2")
    links = _broadcast(shape_of(op._operands[bias]), shape_of(op.results[0]), bias)
    return Correspondence([*links, (left, 0, 0), (right, 1, 1)])


@_rule("aten.permute.default")
def _permute(op: SchemaOp) -> Correspondence:
    order = op.argument("dims")
    return Correspondence([(0, _dim(dim, len(order)), place) for place, dim in enumerate(order)])


@_rule("aten.t.default")
def _t(op: SchemaOp) -> Correspondence:
    last = len(shape_of(op.results[0])) - 1
    return Correspondence([(0, dim, last - dim) for dim in range(last + 1)])


@_rule("aten.transpose.int")
def _transpose(op: SchemaOp) -> Correspondence:
    rank = len(shape_of(op.results[0]))
    order = list(range(rank))
    first, second = (_dim(op.argument(name), rank) for name in ("dim0", "dim1"))
    order[first], order[second] = order[second], order[first]
    return Correspondence([(0, dim, place) for place, dim in enumerate(order)])


@_rule("aten.unsqueeze.default")
def _unsqueeze(op: SchemaOp) -> Correspondence:
    rank = len(shape_of(op.results[0]))
    place = _dim(op.argument("dim"), rank)
    rest = [dim for dim in range(rank) if dim != place]
    return Correspondence([(0, dim, result) for dim, result in enumerate(rest)])


@_rule("aten.squeeze.default", "aten.squeeze.dim", "aten.squeeze.dims")
def _squeeze(op: SchemaOp) -> Correspondence:
    """A squeezed dim has size one and is not cut. Pieces must not have size one: `body` checks."""
    shape = shape_of(op._operands[0])
    asked = op.argument("dim") if "dim" in op.table.index else range(len(shape))
    asked = (asked,) if isinstance(asked, int) else asked
    gone = {dim for dim in (_dim(one, len(shape)) for one in asked) if shape[dim] == 1}
    kept = [dim for dim in range(len(shape)) if dim not in gone]
    return Correspondence([(0, dim, result) for result, dim in enumerate(kept)])


@_rule("aten.expand.default")
def _expand(op: SchemaOp) -> Correspondence:
    shape, result = shape_of(op._operands[0]), shape_of(op.results[0])
    links = _broadcast(shape, result, 0)
    linked = {dim for _, _, dim in links}
    return Correspondence(links, made={dim for dim in range(len(result)) if dim not in linked})


@_rule("aten.full.default")
def _full(op: SchemaOp) -> Correspondence:
    return Correspondence(made=set(range(len(shape_of(op.results[0])))))


@_rule("aten.view.default", "aten._unsafe_view.default", "aten.reshape.default")
def _view(op: SchemaOp) -> Correspondence:
    """Of dims that are split or merged, only the outermost can be cut, between whole inner ones."""
    shape, result = shape_of(op._operands[0]), shape_of(op.results[0])
    if 0 in shape:
        return Correspondence()
    return Correspondence([(0, old, new) for old, new in _outermost(shape, result)])


def _outermost(shape: Shape, result: Shape) -> list[tuple[int, int]]:
    """The outermost dims of each group of dims that hold the same elements in both shapes."""
    old = [(dim, size) for dim, size in enumerate(shape) if size != 1]
    new = [(dim, size) for dim, size in enumerate(result) if size != 1]
    found: list[tuple[int, int]] = []
    i = j = 0
    while i < len(old) and j < len(new):
        found.append((old[i][0], new[j][0]))
        left, right = old[i][1], new[j][1]
        i, j = i + 1, j + 1
        while left != right:
            if left < right:
                left, i = left * old[i][1], i + 1
            else:
                right, j = right * new[j][1], j + 1
    return found


def _reduced(op: SchemaOp, dims: Sequence[int] | None, *, terms: bool) -> Correspondence:
    """A reduction over dims (None: all); with `terms`, parts give terms of a sum."""
    rank = len(shape_of(op._operands[0]))
    gone = {_dim(dim, rank) for dim in dims} if dims else set(range(rank))
    keeps = "keepdim" in op.table.index and op.argument("keepdim")
    kept = [dim for dim in range(rank) if dim not in gone]
    links = [(0, dim, dim if keeps else place) for place, dim in enumerate(kept)]
    return Correspondence(links, [(0, dim) for dim in sorted(gone)] if terms else [])


@_rule("aten.sum.default", "aten.sum.dim_IntList", "aten.mean.default", "aten.mean.dim")
def _sum(op: SchemaOp) -> Correspondence:
    """A part of a mean is the sum of the part divided by the count of all: see `body`."""
    dims = op.argument("dim") if "dim" in op.table.index else None
    return _reduced(op, dims, terms=True)


@_rule("aten.amax.default", "aten.amin.default", "aten.prod.dim_int", "aten.logsumexp.default")
@_rule("aten.argmax.default", "aten.argmin.default", "aten.any.dim", "aten.all.dim")
@_rule("aten.any.dims", "aten.all.dims")
def _reduce(op: SchemaOp) -> Correspondence:
    dims = op.argument("dim")
    return _reduced(op, (dims,) if isinstance(dims, int) else dims, terms=False)


@_rule("aten._softmax.default", "aten._log_softmax.default", "aten.cumsum.default")
def _along(op: SchemaOp) -> Correspondence:
    """Each element needs the whole of one dim."""
    rank = len(shape_of(op.results[0]))
    along = _dim(op.argument("dim"), rank)
    return Correspondence([(0, dim, dim) for dim in range(rank) if dim != along])


@_rule("aten._softmax_backward_data.default", "aten._log_softmax_backward_data.default")
def _along_both(op: SchemaOp) -> Correspondence:
    rank = len(shape_of(op.results[0]))
    along = _dim(op.argument("dim"), rank)
    return Correspondence(
        [(operand, dim, dim) for operand in (0, 1) for dim in range(rank) if dim != along]
    )


@_rule("aten.gather.default")
def _gather(op: SchemaOp) -> Correspondence:
    """The indices may be cut along the dim, but the tensor that they index may not."""
    source, index = _operand(op, "self"), _operand(op, "index")
    shape, result = shape_of(op._operands[source]), shape_of(op.results[0])
    along = _dim(op.argument("dim"), len(result))
    found = Correspondence()
    for dim, size in enumerate(result):
        if dim == along:
            found.links.append((index, dim, dim))
        elif shape[dim] == size:
            found.links += [(index, dim, dim), (source, dim, dim)]
    return found


@_rule("aten.scatter.value", "aten.scatter.src", "aten.scatter_add.default")
def _scatter(op: SchemaOp) -> Correspondence:
    """Dims in which the indices and the source have the same size as the result."""
    shape = shape_of(op.results[0])
    along = _dim(op.argument("dim"), len(shape))
    found = Correspondence()
    for dim, size in enumerate(shape):
        if dim != along and all(shape_of(value)[dim] == size for value in op._operands):
            found.links += [(operand, dim, dim) for operand in range(len(op._operands))]
    return found


@_rule("aten.select.int", "aten.slice.Tensor")
def _part(op: SchemaOp) -> Correspondence:
    """A part is taken along one dim, which is not cut."""
    shape = shape_of(op._operands[0])
    along = _dim(op.argument("dim"), len(shape))
    kept = [dim for dim in range(len(shape)) if dim != along]
    if op.name == "aten.slice.Tensor":
        return Correspondence([(0, dim, dim) for dim in kept])
    return Correspondence([(0, dim, result) for result, dim in enumerate(kept)])


@_rule("aten.constant_pad_nd.default")
def _pad(op: SchemaOp) -> Correspondence:
    """Only dims without padding may be cut."""
    pad = op.argument("pad")
    last = len(shape_of(op.results[0])) - 1
    padded = {last - place // 2 for place, size in enumerate(pad) if size != 0}
    return Correspondence([(0, dim, dim) for dim in range(last + 1) if dim not in padded])


@_rule("aten.slice_scatter.default", "aten.select_scatter.default")
def _put(op: SchemaOp) -> Correspondence:
    """A part along one dim is overwritten; that dim is not cut."""
    rank = len(shape_of(op.results[0]))
    along = _dim(op.argument("dim"), rank)
    whole, part = _operand(op, "self"), _operand(op, "src")
    kept = [dim for dim in range(rank) if dim != along]
    found = Correspondence([(whole, dim, dim) for dim in kept])
    for place, dim in enumerate(kept):
        found.links.append((part, dim if op.name == "aten.slice_scatter.default" else place, dim))
    return found


@_rule("aten.cat.default")
def _cat(op: SchemaOp) -> Correspondence:
    """The dim of the concatenation is not cut."""
    shape = shape_of(op.results[0])
    along = _dim(op.argument("dim"), len(shape))
    if any(len(shape_of(value)) != len(shape) for value in op._operands):
        return Correspondence()
    return Correspondence(
        [
            (operand, dim, dim)
            for operand in range(len(op._operands))
            for dim in range(len(shape))
            if dim != along
        ]
    )


__all__ = [
    "SIZE_ARGUMENTS",
    "Correspondence",
    "correspondence",
    "has_rule",
    "is_pointwise",
    "shape_of",
]
