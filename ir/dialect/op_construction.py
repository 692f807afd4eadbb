"""A short way to make ops that have no regions and no successors, and to append them to a block.

They do what xDSL's `Operation.create` and `Block.add_op` do, less what a new op of ours cannot need
(about a quarter of the time that lowering a graph takes). They know how xDSL 0.75 lays out its ops
and values: the package pins that version, and a test compares both ways field by field.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue, SSAValues, Use

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
    results = [OpResult(result, op, index) for index, result in enumerate(result_types)]
    op.results = SSAValues(results)
    op.properties = properties
    op.attributes = attributes
    op.location = UNKNOWN_LOC
    op._successors = op._successor_uses = op.regions = _NONE
    return op


def append_op(block: Block, op: Operation) -> None:
    """Add an op that is in no block, and has no regions, at a block's end."""
    end: Any = block._last_op
    new: Any = op
    if end is None:
        block._first_op = op
    else:
        end._next_op = op
        new._prev_op = end
    block._last_op = op
    op.parent = block
