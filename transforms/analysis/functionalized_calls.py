"""Functionalized calls, and what they will write once Inductor turns them into writes again.

`auto_functionalized` and its like carry an op that writes to its arguments, and return the new
content of each as a result. Inductor later lets the op write to the argument itself if nobody
reads its old content afterwards, whatever else the op itself reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple, TypeGuard

from torch._ops import OpOverload
from xdsl.ir import OpResult, SSAValue

from xductor.ir import Facts, RawOp, TensorType, TorchOp, aliases_through
from xductor.ir.dialect.arguments import FunctionArg
from xductor.ir.dialect.operations import results_of
from xductor.ir.python import targets
from xductor.ir.storage.overlap import may_overlap
from xductor.ir.symbolic.expressions import add, mul, sub
from xductor.transforms.analysis.graphs import integer

_V1 = "higher_order.auto_functionalized"
_V2 = "higher_order.auto_functionalized_v2"
_TRITON = "higher_order.triton_kernel_wrapper_functional"
_GETITEM = "pyfn._operator.getitem"
#: The names of functionalized calls.
FUNCTIONALIZED = frozenset((_V1, _V2, _TRITON))


class Written(NamedTuple):
    """An operand that a call may write to, and the type of the part that it writes."""

    value: SSAValue
    part: Any


def is_functionalized(op: object) -> TypeGuard[RawOp]:
    """Whether an op is a functionalized call."""
    return isinstance(op, RawOp) and op.name in FUNCTIONALIZED


def written_by(op: RawOp) -> list[Written]:
    """What the op carried by a functionalized call may write to."""
    if op.name != _V2:
        return [Written(value, value._type) for value in _contents(op) if value is not None]
    keywords = op.keywords
    bases = [value if isinstance(value, SSAValue) else None for value in keywords["_all_bases"]]
    prefixes = [name.removesuffix("_base_index") for name in keywords if _is_base(name)]
    views = [_view(prefix, keywords, bases) for prefix in prefixes]
    return [view for view in views if view is not None]


def read_by(op: RawOp) -> list[SSAValue]:
    """The operands of a functionalized call that it does not write to."""
    written = {one for one in _contents(op) if one is not None}
    return [operand for operand in op._operands if operand not in written]


def old_content(result: OpResult) -> list[SSAValue] | None:
    """The operands of which a result of a functionalized call may be the new content.

    None for the results of other ops.
    """
    op: object = result.op
    if isinstance(op, RawOp) and op.name == _GETITEM:  # picks a kernel's result by its name
        owner = op._operands[0].owner if op._operands else None
        return old_content(op._operands[0]) if is_functionalized(owner) else None  # type: ignore[arg-type]
    if not is_functionalized(op):
        return None
    contents = _contents(op)
    if op.name == _TRITON:
        return [one for one in contents if one is not None]
    # They come after what the op itself returns; a None among the arguments has a result too.
    place = result.index - (len(op.results) - len(contents))
    value = contents[place] if place >= 0 else None
    return [] if value is None else [value]


def _contents(op: RawOp) -> list[SSAValue | None]:
    """The arguments, None among them, whose new content the call's last results are."""
    keywords = op.keywords
    if op.name == _V2:
        arguments: Any = [keywords["_all_bases"]]
    elif op.name == _V1:
        arguments = [keywords.get(name) for name in _written_names(op.positional[0])]
    else:
        given = dict(keywords["kwargs"])
        arguments = [given.get(name) for name in keywords["tensors_to_clone"]]
    return list(_leaves(arguments))


def _leaves(tree: Any) -> Iterator[SSAValue | None]:
    for item in tree:
        if isinstance(item, tuple | list):
            yield from _leaves(item)
        else:
            yield from results_of(item) or (None,)


def _written_names(function: FunctionArg) -> tuple[str, ...]:
    target = targets.resolve(function.name)  # each time: the name may have another owner by now
    assert isinstance(target, OpOverload)
    return _written_arguments(target)


@cache
def _written_arguments(target: OpOverload) -> tuple[str, ...]:
    arguments: Any = target._schema.arguments
    return tuple(one.name for one in arguments if one.alias_info and one.alias_info.is_write)


def _is_base(name: str) -> bool:
    return name.startswith("_") and name.endswith("_base_index")


def _view(prefix: str, keywords: Any, bases: list[SSAValue | None]) -> Written | None:
    """The view of a base that an argument was, as the call records it in its keywords.

    A view that is recorded by strides lacks its dtype, so it may be any part of the base.
    """
    index = keywords[f"{prefix}_base_index"]
    base = bases[index] if isinstance(index, int) else None
    if base is None:
        return None
    whole = Written(base, base._type)
    if f"{prefix}_slice_dim" not in keywords or type(base._type) is not TensorType:
        return whole
    names = ("slice_dim", "slice_start", "slice_end")
    dim, start, end = (integer(keywords[f"{prefix}_{name}"]) for name in names)
    if not isinstance(dim, int) or start is None or end is None:
        return whole
    fields = base._type.data
    shape = (*fields.shape[:dim], sub(end, start), *fields.shape[dim + 1 :])
    offset = add(fields.offset, mul(start, fields.stride[dim]))
    return Written(base, TensorType(fields._replace(shape=shape, offset=offset)))


def reads_what_it_writes(
    value: SSAValue, source: SSAValue, in_storage: Callable[[SSAValue], bool], facts: Facts
) -> bool:
    """Whether a call would read what it overwrites if `source` stood for `value`, its copy.

    That is so if only the copy separates what the call reads from what it writes. `in_storage`
    says what shares the storage of `source`. Both have the same offset, unless `value` has no
    views.
    """
    types = {value: source._type}
    pending = [value]
    while pending:
        one = pending.pop()
        for use in one.uses:
            user = use.operation
            if not isinstance(user, TorchOp):
                continue
            if is_functionalized(user):
                if _clash(user, one, types[one], in_storage, facts):
                    return True
                continue
            new = [result for result in aliases_through(use) if result not in types]
            types.update({result: result._type for result in new})
            pending += new
    return False


def _clash(
    op: RawOp, value: SSAValue, type_: Any, in_storage: Callable[[SSAValue], bool], facts: Facts
) -> bool:
    """Whether a call that writes `value` reads the same memory elsewhere, or the reverse."""
    written, read = written_by(op), read_by(op)
    parts = [(one.part, other._type) for one in written for other in read
             if one.value is value and in_storage(other)]  # fmt: skip
    parts += [(one.part, type_) for one in written if value in read and in_storage(one.value)]
    return any(
        type(one) is not TensorType
        or type(other) is not TensorType
        or may_overlap(one, other, facts)
        for one, other in parts
    )


__all__ = [
    "FUNCTIONALIZED",
    "Written",
    "is_functionalized",
    "old_content",
    "read_by",
    "reads_what_it_writes",
    "written_by",
]
