"""Other ways to write what a pattern writes: wrappers that keep a value, and synonyms of calls.

A rewrite names those that it looks through: `through = ALL_SPELLINGS`, or some of them. A wrapper
is an op whose result has the content, dtype and sizes of its operand; a synonym is a call of
another operator that means the same for these arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from xdsl.ir import SSAValue

from xductor.ir import Facts, ListArg, SchemaOp, TensorType
from xductor.ir.functions.torch_calls import AtenCall

AnyCall = SchemaOp | AtenCall
Unwrap = Callable[[AnyCall, Facts], bool]
Respell = Callable[[AnyCall], tuple[Any, ...] | None]


@dataclass(frozen=True)
class Spelling:
    """One kind of spelling.

    - `wrappers`: op names, each with the condition under which the op keeps its first operand.
    - `synonyms`: the op in the graph, the op in the pattern, and what gives the latter's arguments.
    """

    name: str
    wrappers: tuple[tuple[str, Unwrap], ...] = ()
    synonyms: tuple[tuple[str, str, Respell], ...] = ()

    def __repr__(self) -> str:
        return self.name


def _always(op: AnyCall, facts: Facts) -> bool:
    return True


def _same_type(op: AnyCall, facts: Facts) -> bool:
    """Whether the only result has the dtype, device and sizes of the first operand."""
    source, result = _tensor(op.operands[0]), _tensor(op.results[0])
    return (
        source is not None
        and result is not None
        and source.dtype is result.dtype
        and source.device == result.device
        and source.rank == result.rank
        and all(
            facts.known_equal(a, b) is True for a, b in zip(source.shape, result.shape, strict=True)
        )
    )


def _tensor(value: SSAValue) -> TensorType | None:
    return value.type if isinstance(value.type, TensorType) else None


def _as_written(op: AnyCall) -> tuple[Any, ...]:
    return op.items if isinstance(op, AtenCall) else op.argument_tree(op.args.data)


def _rank(op: AnyCall) -> int | None:
    type_ = _tensor(op.operands[0])
    return None if type_ is None else type_.rank


def _transpose_as_permute(op: AnyCall) -> tuple[Any, ...] | None:
    rank = _rank(op)
    first, second = op.argument("dim0"), op.argument("dim1")
    if rank is None or type(first) is not int or type(second) is not int:
        return None
    dims = list(range(rank))
    if rank:
        dims[first], dims[second] = dims[second], dims[first]
    return (op.argument("self"), ListArg(dims))


def _t_as_permute(op: AnyCall) -> tuple[Any, ...] | None:
    rank = _rank(op)
    return None if rank is None else (op.argument("self"), ListArg(reversed(range(rank))))


def _t_as_transpose(op: AnyCall) -> tuple[Any, ...] | None:
    return (op.argument("self"), 0, 1) if _rank(op) == 2 else None


def _last_two_as_transpose(op: AnyCall) -> tuple[Any, ...]:
    return (op.argument("self"), -2, -1)


def _last_two_as_permute(op: AnyCall) -> tuple[Any, ...] | None:
    rank = _rank(op)
    if rank is None:
        return None
    return (op.argument("self"), ListArg((*range(rank - 2), rank - 1, rank - 2)))


def _last_two_as_t(op: AnyCall) -> tuple[Any, ...] | None:
    return (op.argument("self"),) if _rank(op) == 2 else None


def _movedim_as_transpose(op: AnyCall) -> tuple[Any, ...] | None:
    """A dim that moves by one place changes places with the one that it passes."""
    rank, places = _rank(op), (op.argument("source"), op.argument("destination"))
    if not rank or not all(type(one) is int for one in places):
        return None
    source, target = (int(one) % rank for one in places)
    return (op.argument("self"), source, target) if abs(source - target) == 1 else None


def _movedim_as_permute(op: AnyCall) -> tuple[Any, ...] | None:
    rank, places = _rank(op), (op.argument("source"), op.argument("destination"))
    if not rank or not all(type(one) is int for one in places):
        return None
    source, target = (int(one) % rank for one in places)
    dims = [dim for dim in range(rank) if dim != source]
    dims.insert(target, source)
    return (op.argument("self"), ListArg(dims))


def _permute_as_transpose(op: AnyCall) -> tuple[Any, ...] | None:
    rank, dims = _rank(op), op.argument("dims")
    if rank is None or not all(type(dim) is int for dim in dims):
        return None
    moved = [place for place, dim in enumerate(dims) if dim % rank != place]
    if len(moved) != 2:
        return None
    return (op.argument("self"), *moved)


def _permute_as_t(op: AnyCall) -> tuple[Any, ...] | None:
    rank, dims = _rank(op), op.argument("dims")
    if rank != 2 or [dim % 2 for dim in dims if type(dim) is int] != [1, 0]:
        return None
    return (op.argument("self"),)


def _by_sizes(op: AnyCall) -> tuple[Any, ...] | None:
    """A call that gives its operand the sizes of its result, of which one may be unknown."""
    result = _tensor(op.results[0])
    sizes = [-1] if result is None else [one if type(one) is int else -1 for one in result.shape]
    if result is None or sizes.count(-1) > 1 or (-1 in sizes and 0 in sizes):
        return None
    return (op.argument("self"), ListArg(sizes))


_GIVES_SIZES = (
    "aten.flatten.using_ints",
    "aten.unflatten.int",
    "aten.ravel.default",
    "aten.view_as.default",
    "aten.reshape_as.default",
)


def _view_as(names: tuple[str, ...]) -> tuple[tuple[str, str, Respell], ...]:
    others = tuple((a, b, _by_sizes) for a in _GIVES_SIZES for b in names)
    return (*[(a, b, _as_written) for a in names for b in names if a != b], *others)


CLONE = Spelling("CLONE", (("aten.clone.default", _same_type), ("aten.alias.default", _always)))
EXPAND_OF_NOTHING = Spelling("EXPAND_OF_NOTHING", (("aten.expand.default", _same_type),))
SAME_DTYPE = Spelling(
    "SAME_DTYPE",
    (
        ("prims.convert_element_type.default", _same_type),
        ("aten._to_copy.default", _same_type),
        ("aten.to.dtype", _same_type),
    ),
)
VIEW_OF_NOTHING = Spelling(
    "VIEW_OF_NOTHING",
    (
        ("aten.view.default", _same_type),
        ("aten.reshape.default", _same_type),
        ("aten._unsafe_view.default", _same_type),
    ),
)
VIEW_OR_RESHAPE = Spelling(
    "VIEW_OR_RESHAPE",
    synonyms=_view_as(("aten.view.default", "aten.reshape.default", "aten._unsafe_view.default")),
)
PERMUTE_OR_TRANSPOSE = Spelling(
    "PERMUTE_OR_TRANSPOSE",
    synonyms=(
        ("aten.transpose.int", "aten.permute.default", _transpose_as_permute),
        ("aten.t.default", "aten.permute.default", _t_as_permute),
        ("aten.numpy_T.default", "aten.permute.default", _t_as_permute),
        ("aten.mT.default", "aten.permute.default", _last_two_as_permute),
        ("aten.movedim.int", "aten.permute.default", _movedim_as_permute),
        ("aten.t.default", "aten.transpose.int", _t_as_transpose),
        ("aten.numpy_T.default", "aten.transpose.int", _t_as_transpose),
        ("aten.mT.default", "aten.transpose.int", _last_two_as_transpose),
        ("aten.movedim.int", "aten.transpose.int", _movedim_as_transpose),
        ("aten.numpy_T.default", "aten.t.default", _last_two_as_t),
        ("aten.mT.default", "aten.t.default", _last_two_as_t),
        ("aten.permute.default", "aten.transpose.int", _permute_as_transpose),
        ("aten.permute.default", "aten.t.default", _permute_as_t),
    ),
)

ALL_SPELLINGS = (
    CLONE,
    EXPAND_OF_NOTHING,
    SAME_DTYPE,
    VIEW_OF_NOTHING,
    VIEW_OR_RESHAPE,
    PERMUTE_OR_TRANSPOSE,
)


class Spellings:
    """The spellings of one rewrite, by op name."""

    def __init__(self, spellings: tuple[Spelling, ...]) -> None:
        self.wrappers: dict[str, Unwrap] = {}
        self.synonyms: dict[tuple[str, str], Respell] = {}
        for spelling in spellings:
            self.wrappers.update(spelling.wrappers)
            self.synonyms.update(((a, b), respell) for a, b, respell in spelling.synonyms)

    def inside(self, op: AnyCall, facts: Facts) -> SSAValue | None:
        """The value that a wrapper keeps; None if the op is no wrapper here."""
        condition = self.wrappers.get(op.name)
        if condition is None or not op.operands or not condition(op, facts):
            return None
        # Only for dense layouts: memory read through a wrapper of another layout is not the same.
        return op.operands[0] if _is_strided(op) else None

    def respelled(self, op: AnyCall, wanted: str) -> tuple[Any, ...] | None:
        """The arguments of the call of `wanted` that means the same as `op`, or None."""
        respell = self.synonyms.get((op.name, wanted))
        return None if respell is None else respell(op)


def _is_strided(op: AnyCall) -> bool:
    type_ = _tensor(op.results[0])
    return type_ is not None and type_.data.layout == "strided" and type_.dtype != torch.complex32


__all__ = [
    "ALL_SPELLINGS",
    "CLONE",
    "EXPAND_OF_NOTHING",
    "PERMUTE_OR_TRANSPOSE",
    "SAME_DTYPE",
    "VIEW_OF_NOTHING",
    "VIEW_OR_RESHAPE",
    "Spelling",
    "Spellings",
]
