"""The short way of making an op gives what xDSL's own does."""

from __future__ import annotations

import dataclasses
from typing import Any

import torch
from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.ir import Block, Operation, SSAValue

from xductor.ir import ArgsAttr, NodeMeta, Ref, TensorType, op_class
from xductor.ir.dialect.op_construction import append_op, new_argument, new_op, set_arguments

F32 = TensorType.get(torch.float32, (2, 3))
ADD: Any = op_class(torch.ops.aten.add.Tensor)
ARGS = ArgsAttr((Ref(0), Ref(1), 1))


def by_xdsl(block: Block, operands: list[SSAValue], results: int) -> Operation:
    op = ADD.create(
        operands=operands,
        result_types=[F32] * results,
        properties={"args": ARGS},
        attributes={"node": NodeMeta(("",) * results)},
    )
    block.add_op(op)
    return op


def by_us(block: Block, operands: list[SSAValue], results: int) -> Operation:
    node = NodeMeta(("",) * results)
    op = new_op(ADD, operands, [F32] * results, {"args": ARGS}, {"node": node})
    append_op(block, op)
    return op


def built(make: Any) -> Block:
    """A block in which values have several uses, also in one op, and ops several or no results."""
    if make is by_us:
        block = Block()
        set_arguments(block, [new_argument(index, F32, block) for index in range(2)])
    else:
        block = Block(arg_types=[F32, F32])
    x, y = block.args
    first = make(block, [x, y], 2)
    make(block, [first.results[0], first.results[0]], 1)
    make(block, [x, first.results[1]], 0)
    return block


def description(thing: Any, names: dict[int, str]) -> Any:
    """All fields of an IR object, with other IR objects by name; a tuple keeps its very class."""
    if id(thing) in names:
        return names[id(thing)]
    if isinstance(thing, tuple):
        return type(thing), [description(part, names) for part in thing]
    if isinstance(thing, dict):
        return {key: description(part, names) for key, part in thing.items()}
    return thing


def fields(block: Block) -> dict[str, Any]:
    """The fields of a block and of everything in it."""
    ops = list(block.ops)
    named: dict[str, Any] = {"block": block}
    named |= {f"op {i}": op for i, op in enumerate(ops)}
    named |= {f"argument {i}": value for i, value in enumerate(block.args)}
    for i, op in enumerate(ops):
        named |= {f"op {i} result {j}": value for j, value in enumerate(op.results)}
        named |= {f"op {i} use {j}": use for j, use in enumerate(op._operand_uses)}
    names = {id(thing): name for name, thing in named.items()}
    return {name: description(values_of(thing), names) for name, thing in named.items()}


def values_of(thing: Any) -> dict[str, Any]:
    """Its own fields, and those it leaves to the class."""
    declared = {field.name for field in dataclasses.fields(thing)}
    return {name: getattr(thing, name) for name in declared | vars(thing).keys()}


def test_every_field_is_as_xdsl_sets_it():
    ours, theirs = fields(built(by_us)), fields(built(by_xdsl))
    assert len(theirs) == 1 + 3 + 2 + 3 + 6
    assert ours == theirs


def test_what_the_fields_mean_to_xdsl():
    block = built(by_us)
    first, second, third = block.ops
    assert list(reversed(block.ops)) == [third, second, first]
    assert first.parent is block
    assert first.location == UNKNOWN_LOC
    assert [use.index for use in first.results[0].uses] == [1, 0]
    assert {use.operation for use in block.args[0].uses} == {first, third}
    second.detach()
    second.erase()
    assert not list(first.results[0].uses)
    assert list(block.ops) == [first, third]
