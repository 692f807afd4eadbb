"""Rebuilds values for the nodes of a graph raised from text, from the types."""

from __future__ import annotations

from typing import Any

import torch.fx as fx
from xdsl.ir import SSAValue

from xductor.backend.fx.call_arguments import ValueNodes
from xductor.backend.fx.node_text import restore_textual
from xductor.ir import GraphOp, TorchOp, result_aliases
from xductor.ir.dialect.results import LEAF, Structure
from xductor.ir.dialect.schema import SchemaTable
from xductor.ir.inference.fake_values import FakeEnvironment, NoFakeValue, fake_value


def rebuild_values(source: GraphOp, nodes: ValueNodes, key: str) -> None:
    """Record a value of each result's type under `key`, in a ShapeEnv of the graph's own.

    Results that share storage by the graph's alias facts share it here too. Values that no type
    describes (objects) are not recorded.
    """
    env = FakeEnvironment.from_table(source.symbols.data)
    storages: dict[SSAValue, dict[Any, Any]] = {}
    for argument, node in zip(source.arguments, nodes.arguments, strict=True):
        _record(node, key, _value(argument, env, storages.setdefault(argument, {})))
    for op in source.block.ops:
        assert isinstance(op, TorchOp)
        node = nodes.of_op.get(op)
        if node is not None:
            restore_textual(op.node, node)
        if node is None or not op.results:
            continue
        for result, fact in zip(op.results, result_aliases(op), strict=False):
            shared = storages.get(op._operands[fact[0]], {}) if fact is not None else {}
            storages[result] = shared
        values = [_value(result, env, storages[result]) for result in op.results]
        structure = _structure(op)
        if structure == LEAF:
            _record(node, key, values[0])
        elif MISSING not in values:
            _record(node, key, _nested(structure, iter(values)))
            _record_items(op, nodes, key, values)


MISSING = object()


def _value(value: SSAValue, env: FakeEnvironment, storage: dict[Any, Any]) -> Any:
    try:
        return fake_value(value.type, env, storage)
    except NoFakeValue:
        return MISSING


def _record(node: fx.Node, key: str, value: Any) -> None:
    if value is not MISSING:
        node.meta[key] = value


def _record_items(op: TorchOp, nodes: ValueNodes, key: str, values: list[Any]) -> None:
    for result, value in zip(op.results, values, strict=True):
        item = nodes.of_value.get(result)
        if item is not None:
            item.meta[key] = value
            restore_textual(op.node, item)


def _structure(op: TorchOp) -> Structure:
    if op.structure is not None:
        return op.structure.data
    table: SchemaTable | None = getattr(op, "table", None)
    if table is not None and table.is_tuple:
        return (LEAF,) * len(op.results)
    return LEAF


def _nested(structure: Structure, values: Any) -> Any:
    if structure == LEAF:
        return next(values)
    return tuple(_nested(part, values) for part in structure)
