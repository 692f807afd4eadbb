"""A fast way to make ops without regions and successors, and to append them to a block.

These functions do what xDSL's `Operation.create`, `Block.add_op` and `Block.insert_arg` do, except
for work that our new ops never need, which is about a quarter of the time of lowering a graph, and
for the copy of all arguments that xDSL makes for each. They depend on the
layout of ops and values in xDSL 0.75: the package pins that version, and a test compares both
ways field by field.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue, SSAValues, Use

OpT = TypeVar("OpT", bound=Operation)

_NONE: tuple[Any, ...] = ()


def new_op(
    cls: type[OpT],
    operands: Sequence[SSAValue],
    result_types: Sequence[Attribute],
    properties: dict[str, Attribute],
    attributes: dict[str, Attribute],
) -> OpT:
    """The op that `cls.create` makes; the two dicts become the op's own."""
    op: Any = object.__new__(cls)
    if type(operands) is not SSAValues:
        operands = SSAValues(operands)
    op._operands = operands
    uses: list[Use] = []
    for operand in operands:
        following = operand.first_use
        use = Use(op, len(uses), None, following)
        if following is not None:
            following._prev_use = use
        operand.first_use = use
        uses.append(use)
    op._operand_uses = tuple(uses)
    if len(result_types) == 1:  # as of most ops
        op.results = SSAValues((OpResult(result_types[0], op, 0),))
    else:
        results = [OpResult(result, op, index) for index, result in enumerate(result_types)]
        op.results = SSAValues(results)
    op.properties = properties
    op.attributes = attributes
    op.location = UNKNOWN_LOC
    op._successors = op._successor_uses = op.regions = _NONE
    return op


def new_argument(index: int, type_: Attribute, block: Block) -> BlockArgument:
    """An argument for a block, which has it once it is told of all (`set_arguments`)."""
    return BlockArgument(type_, block, index, UNKNOWN_LOC)


def set_arguments(block: Block, arguments: Iterable[BlockArgument]) -> None:
    """Give a block, which has none yet, the arguments that were made for it, in order."""
    block._args = tuple(arguments)


def append_op(block: Block, op: Operation) -> None:
    """Append an op without regions, which is in no block yet, to a block."""
    end: Any = block._last_op
    new: Any = op
    if end is None:
        block._first_op = op
    else:
        end._next_op = op
        new._prev_op = end
    block._last_op = op
    op.parent = block
