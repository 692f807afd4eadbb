"""`fuse_seed_creation_pass`, `fuse_offset_creation_pass`: all seeds of a device at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from xdsl.ir import Block, Operation, OpResult, SSAValue

from xductor.ir import (
    ArgsAttr,
    GraphOp,
    ListArg,
    NodeMeta,
    Ref,
    SchemaOp,
    SymIntType,
    TensorType,
    TorchOp,
    op_class_by_name,
)
from xductor.transforms import EXACT
from xductor.transforms.passes.applications import applied
from xductor.transforms.random.random_draws import (
    LOOKUP_SEED,
    OFFSET,
    OFFSETS,
    SEED,
    SEEDS,
    SELECT,
    RedrawingPass,
    ops_of,
)


@dataclass(frozen=True)
class FuseSeedCreationPass(RedrawingPass):
    """The seeds of a device become one tensor, drawn where the first of them was.

    Counts the devices.
    """

    name = "fuse_seed_creation_pass"
    stage = "joint"
    inductor = "replace_random.py:fuse_seed_creation_pass"
    numerics = EXACT
    roots = frozenset((SEED,))

    def redraw(self, graph: GraphOp) -> int:
        groups = _by_device(ops_of(graph, SEED.__eq__))
        for seeds in groups.values():
            args = ArgsAttr((len(seeds), seeds[0].argument("device")))
            combined = _combined(graph, seeds[0], SEEDS, args, [], (len(seeds),))
            for number, seed in enumerate(seeds):
                _read(graph, seed, LOOKUP_SEED, ArgsAttr((Ref(0), number)), combined)
        return len(groups)


@dataclass(frozen=True)
class FuseOffsetCreationPass(RedrawingPass):
    """The offsets reserved from PyTorch's generator of a device become one list of reservations.

    Sizes that are computed later than the first of them are computed above it; those that cannot
    be (they are read from a tensor) begin a list of their own. Counts the lists.
    """

    name = "fuse_offset_creation_pass"
    stage = "joint"
    inductor = "replace_random.py:fuse_offset_creation_pass"
    numerics = EXACT
    roots = frozenset((OFFSET,))

    def redraw(self, graph: GraphOp) -> int:
        lists = 0
        for offsets in _by_device(ops_of(graph, OFFSET.__eq__)).values():
            for together in _hoisted(graph, offsets):
                self.fuse(graph, together)
                lists += 1
        return lists

    def fuse(self, graph: GraphOp, offsets: Sequence[SchemaOp]) -> None:
        operands: list[SSAValue] = []
        listed: list[Any] = []
        for op in offsets:
            offset = op.argument("offset")
            if isinstance(offset, SSAValue):
                listed.append(Ref(len(operands)))
                operands.append(offset)
            else:
                listed.append(offset)
        args = ArgsAttr((ListArg(listed), offsets[0].argument("device")))
        shape = (len(offsets), 2)
        combined = _combined(graph, offsets[0], OFFSETS, args, operands, shape)
        for number, op in enumerate(offsets):
            _read(graph, op, SELECT, ArgsAttr((Ref(0), 0, number)), combined)


def _by_device(ops: Iterable[SchemaOp]) -> dict[Any, list[SchemaOp]]:
    groups: dict[Any, list[SchemaOp]] = {}
    for op in ops:
        groups.setdefault(op.argument("device"), []).append(op)
    return groups


def _combined(
    graph: GraphOp,
    first: SchemaOp,
    name: str,
    args: ArgsAttr,
    operands: Sequence[SSAValue],
    shape: tuple[int, ...],
) -> SSAValue:
    """The tensor of all seeds. It is of no place: what is recomputed must not draw again."""
    cls: Any = op_class_by_name(name)
    device = _type(first).device
    made = cls.make(
        args, operands, [TensorType.get(torch.int64, shape, device=device)], NodeMeta(("",))
    )
    applied(first, made.results[0])
    graph.block.insert_op_before(made, first)
    return made.results[0]


def _read(graph: GraphOp, seed: SchemaOp, name: str, args: ArgsAttr, combined: SSAValue) -> None:
    """Read a seed out of the tensor of all."""
    cls: Any = op_class_by_name(name)
    type_ = _type(seed)
    number = args.data[-1]
    if name == SELECT:
        type_ = TensorType(type_.data._replace(offset=2 * number))
    made = cls.make(args, [combined], [type_], seed.node.inherited(seed.node.names, seed.node.node))
    graph.block.insert_op_before(made, seed)
    seed.results[0].replace_all_uses_with(made.results[0])
    graph.block.erase_op(seed)


def _type(op: SchemaOp) -> TensorType:
    type_ = op.results[0]._type
    assert type(type_) is TensorType
    return type_


# Sizes above the first offset.


def _hoisted(graph: GraphOp, offsets: Sequence[SchemaOp]) -> list[list[SchemaOp]]:
    """The offsets in lists, each of which can be reserved where its first one is."""
    position: dict[Operation, float] = {op: number for number, op in enumerate(graph.block.ops)}
    lists: list[list[SchemaOp]] = []
    for op in offsets:
        if lists and _hoist(graph, op, lists[-1][0], position):
            lists[-1].append(op)
        else:
            lists.append([op])
    return lists


def _hoist(graph: GraphOp, op: SchemaOp, first: SchemaOp, position: dict[Operation, float]) -> bool:
    """Move the arithmetic that an offset needs above `first`; False where it cannot all move."""
    needed: set[TorchOp] = set()
    pending = list(op._operands)
    while pending:
        value = pending.pop()
        if isinstance(value.owner, Block):
            continue
        assert isinstance(value, OpResult)
        owner = value.op
        assert isinstance(owner, TorchOp)
        if position[owner] < position[first] or owner in needed:
            continue
        if not _is_arithmetic(owner):
            return False
        needed.add(owner)
        pending += owner._operands
    for owner in sorted(needed, key=position.__getitem__):
        owner.detach()
        graph.block.insert_op_before(owner, first)
        position[owner] = position[first] - 0.5
    return True


def _is_arithmetic(op: TorchOp) -> bool:
    """Whether an op does nothing but compute an integer from integers, or read a size."""
    integers = all(type(result._type) is SymIntType for result in op.results)
    return integers and op.effects.pure and "unbacked_bindings" not in op.node.text_items()


__all__ = ["FuseOffsetCreationPass", "FuseSeedCreationPass"]
