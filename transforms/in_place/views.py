"""Views as steps: a canonical form of the part of a tensor that a view shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.ir import OpResult, SSAValue

from xductor.ir import Ref, SymIntType, TensorType, TorchOp, result_aliases
from xductor.ir.dialect.arguments import float_bits
from xductor.ir.dialect.types import Dim
from xductor.transforms.analysis.op_effects import never_writes
from xductor.transforms.in_place.terms import Step, Steps
from xductor.transforms.pieces.regions import KEEP_ORDER

#: The view that each view scatter writes its source to.
SCATTERED = {
    "aten.diagonal_scatter.default": "aten.diagonal.default",
    "aten.select_scatter.default": "aten.select.int",
    "aten.slice_scatter.default": "aten.slice.Tensor",
    "aten.as_strided_scatter.default": "aten.as_strided.default",
}

REINTERPRETED = "aten.view.dtype"
_SAME = frozenset(("aten.alias.default", "aten.detach.default"))
_WHOLE_END = 1 << 62


def step_of(name: str, arguments: tuple[Any, ...], base: Any, shape: tuple[Dim, ...]) -> Step:
    """The step of a view: its name, its further arguments, the type of its tensor, and its sizes.

    Values among the arguments are given by what stands for them.
    """
    if name == REINTERPRETED and type(base) is TensorType:
        return ("bits", (base.dtype, base.shape), (arguments[0], shape))
    if name in KEEP_ORDER and type(base) is TensorType:
        return ("reshape", base.shape, shape)
    if type(base) is TensorType:
        if name == "aten.permute.default":
            return ("permute", tuple([dim % base.rank for dim in arguments[0]]))
        if name in ("aten.transpose.int", "aten.t.default"):
            return _transposed(arguments, base.rank)
        if name == "aten.slice.Tensor":
            return _sliced(arguments, base)
        if name == "aten.select.int":
            return _selected(arguments, base)
    return ("other", name, frozen(arguments))


def _transposed(arguments: tuple[Any, ...], rank: int) -> Step:
    dims = list(range(rank))
    one, other = (arguments[0] % rank, arguments[1] % rank) if arguments else (0, rank - 1)
    dims[one], dims[other] = dims[other], dims[one]
    return ("permute", tuple(dims))


def _sliced(arguments: tuple[Any, ...], base: TensorType) -> Step:
    dim, start, end, step = arguments
    dim, size = dim % base.rank, base.shape[dim % base.rank]
    start = _bound(0 if start is None else start, size)
    end = size if end is None or (type(end) is int and end >= _WHOLE_END) else _bound(end, size)
    return ("rows", dim, start, end, step, "slice")


def _selected(arguments: tuple[Any, ...], base: TensorType) -> Step:
    dim, index = arguments
    dim = dim % base.rank
    index = _bound(index, base.shape[dim]) if type(index) is int else index
    return ("rows", dim, index, index + 1 if type(index) is int else None, 1, "select")


def _bound(bound: Any, size: Dim) -> Any:
    """The bound of a slice, wrapped and clamped to the size if both are numbers."""
    if type(bound) is not int or type(size) is not int:
        return bound
    return min(max(bound + size if bound < 0 else bound, 0), size)


def frozen(tree: Any) -> Any:
    """A key that is equal for equal trees of arguments only."""
    if isinstance(tree, tuple | list):
        return (type(tree).__name__, *[frozen(item) for item in tree])
    if type(tree) is float:
        return ("float", float_bits(tree))
    return (type(tree).__name__, tree)


def stands_for(value: SSAValue) -> Any:
    """What stands for a value among the arguments of a view: for an integer its expression."""
    return value._type.expr if type(value._type) is SymIntType else value


def arguments_behind(
    op: TorchOp, places: int, leaf: Callable[[SSAValue], Any] = stands_for
) -> tuple[Any, ...]:
    """The arguments of a call after the first few, with what stands for the values in them."""

    def of(item: Any) -> Any:
        if type(item) is Ref:
            return leaf(op._operands[item.index])
        if isinstance(item, tuple):
            return tuple([of(one) for one in item])
        return item

    return tuple([of(item) for item in op.args.data[places:]])


def viewed(value: SSAValue) -> SSAValue | None:
    """The value of which this is certainly a view, or which an in-place op returned; else None."""
    if not isinstance(value, OpResult) or not isinstance(value.op, TorchOp):
        return None
    facts = result_aliases(value.op)
    fact = facts[value.index] if value.index < len(facts) else None
    return None if fact is None or not fact[1] else value.op._operands[fact[0]]


def view_steps(value: SSAValue) -> Steps | None:
    """The steps of the one view from `viewed(value)` to `value`; None if unknown."""
    assert isinstance(value, OpResult)
    op: Any = value.op
    if op.name in _SAME or not never_writes(type(op)):
        return ()
    base = viewed(value)
    if base is None or op.raw_arguments or op._operands[0] is not base:
        return None
    if any(type(one._type) is TensorType for one in op._operands[1:]):
        return None
    type_ = value._type
    shape = type_.shape if type(type_) is TensorType else ()
    step = step_of(op.name, arguments_behind(op, 1), base._type, shape)
    if len(op.results) > 1 or op.tuple_valued:
        step = (*step, value.index)
    return (step,)


def chain_of(value: SSAValue) -> tuple[SSAValue, Steps | None]:
    """The value at the head of a chain of views, and the steps of the chain; None if unknown."""
    steps: Steps | None = ()
    while (base := viewed(value)) is not None:
        found = view_steps(value)
        steps = None if found is None or steps is None else (*found, *steps)
        value = base
    return value, steps


__all__ = [
    "REINTERPRETED",
    "SCATTERED",
    "arguments_behind",
    "chain_of",
    "frozen",
    "stands_for",
    "step_of",
    "view_steps",
    "viewed",
]
