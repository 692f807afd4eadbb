"""Edits that make a graph smaller, whatever it computes, for a reducer to try.

Each takes a graph and positions in it, works in place, and says whether it changed anything. The
result is well-formed, but its values are not those of the graph before.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xductor.ir import (
    ArgsAttr,
    GraphOp,
    ListArg,
    NodeMeta,
    OutputOp,
    Ref,
    SymbolTable,
    TorchOp,
)
from xductor.ir.dialect.arguments import leaves
from xductor.ir.dialect.symbol_attr import SymbolTableAttr
from xductor.ir.dialect.types import symbols_of
from xductor.ir.text.printing import value_names


def body_ops(graph: GraphOp) -> list[TorchOp]:
    """The ops of a graph, except its output."""
    return [op for op in graph.block.ops if isinstance(op, TorchOp) and type(op) is not OutputOp]


def output_leaves(graph: GraphOp) -> list[Any]:
    """What a graph returns, flat: references to operands of the output, and constants."""
    return list(leaves(graph.output.tree))


def can_drop_outputs(graph: GraphOp) -> bool:
    """Whether a graph returns a list or tuple, whose length may change."""
    return isinstance(graph.output.tree, tuple)


def keep_outputs(graph: GraphOp, kept: Sequence[int], added: Sequence[SSAValue] = ()) -> bool:
    """Return only the leaves numbered `kept`, as a flat tuple, followed by the values `added`."""
    output = graph.output
    tree, found = output.tree, output_leaves(graph)
    if not isinstance(tree, tuple) or (len(kept) == len(found) and not added):
        return False
    operands: list[SSAValue] = []
    items: list[Any] = []
    for index in kept:
        leaf = found[index]
        if type(leaf) is Ref:
            operands.append(output.operands[leaf.index])
            leaf = Ref(len(operands) - 1)
        items.append(leaf)
    for value in added:
        operands.append(value)
        items.append(Ref(len(operands) - 1))
    flat = ListArg(items) if type(tree) is ListArg else tuple(items)
    made = OutputOp.make(ArgsAttr(((flat,), ())), operands, [], NodeMeta((), node="output"))
    graph.block.insert_op_before(made, output)
    graph.block.erase_op(output)
    return True


def cut_ops(graph: GraphOp, cut: Collection[int], *, promote: bool = False) -> bool:
    """Take ops out; what the rest uses of their results becomes an input of the graph.

    With `promote`, values whose only users were taken out are returned.
    """
    ops = body_ops(graph)
    removed = [ops[index] for index in cut]
    if not removed:
        return False
    inside = set(removed)
    orphans: dict[SSAValue, None] = {}
    if promote and can_drop_outputs(graph):
        for op in removed:
            for value in op.operands:
                if value.owner not in inside and all(u.operation in inside for u in value.uses):
                    orphans[value] = None
    names = _Names(graph)
    inputs: list[str] = []
    for op in removed:
        for index, result in enumerate(op.results):
            if any(use.operation not in inside for use in result.uses):
                argument = graph.block.insert_arg(result.type, len(graph.block.args))
                inputs.append(names.of_result(op, index))
                result.replace_all_uses_with(argument)
    _rename_arguments(graph, (*graph.argument_names, *inputs))
    for op in reversed(ops):
        if op in inside:
            graph.block.erase_op(op)
    made = [value for value in orphans if value.owner is not graph.block]
    if made:
        keep_outputs(graph, range(len(output_leaves(graph))), made)
    return True


def erase_unused(graph: GraphOp, positions: Collection[int] | None = None) -> bool:
    """Erase ops whose results nothing uses: those at `positions`, or all that have no effect."""
    ops = body_ops(graph)
    erased = False
    for index in reversed(range(len(ops))):
        op = ops[index]
        if any(result.first_use is not None for result in op.results):
            continue
        if index in positions if positions is not None else _is_removable(op):
            graph.block.erase_op(op)
            erased = True
    return erased


def _is_removable(op: TorchOp) -> bool:
    return op.fx_op != "call_module" and (op.effects.removable(False) or op.fx_op == "get_attr")


def bypass(graph: GraphOp, positions: Collection[int]) -> bool:
    """Replace the result of each op by an operand of the same type, if it has one."""
    changed = False
    ops = body_ops(graph)
    for index in positions:
        op = ops[index]
        if len(op.results) != 1:
            continue
        result = op.results[0]
        source = next((value for value in op.operands if value.type == result.type), None)
        if source is not None:
            result.replace_all_uses_with(source)
            graph.block.erase_op(op)
            changed = True
    return changed


def substitute(graph: GraphOp, positions: Collection[int]) -> bool:
    """Replace each result of the ops by the first value of the same type above it.

    Unlike `cut_ops` this adds no input, so it suits the body of a higher-order op.
    """
    first: dict[Any, SSAValue] = {}
    for argument in graph.block.args:
        first.setdefault(argument.type, argument)
    changed = False
    for index, op in enumerate(body_ops(graph)):
        if index in positions and all(r.type in first or not r.first_use for r in op.results):
            for result in op.results:
                if result.first_use is not None:
                    result.replace_all_uses_with(first[result.type])
            graph.block.erase_op(op)
            changed = True
            continue
        for result in op.results:
            first.setdefault(result.type, result)
    return changed


def drop_inputs(graph: GraphOp, positions: Collection[int]) -> bool:
    """Drop the inputs at `positions` that nothing uses."""
    names, changed = list(graph.argument_names), False
    for index in sorted(positions, reverse=True):
        argument = graph.block.args[index]
        if argument.first_use is None:
            graph.block.erase_arg(argument)
            del names[index]
            changed = True
    if changed:
        _rename_arguments(graph, tuple(names))
    return changed


def merge_inputs(graph: GraphOp, kept: int, other: int) -> bool:
    """Use input `kept` wherever input `other` is used."""
    values = graph.block.args
    if values[kept].type != values[other].type or values[other].first_use is None:
        return False
    values[other].replace_all_uses_with(values[kept])
    return drop_inputs(graph, [other])


def drop_symbols(graph: GraphOp) -> bool:
    """Drop the symbols that no type and no argument mentions."""
    table = graph.symbols.data
    used: set[str] = set()
    for argument in graph.block.args:
        used |= symbols_of(argument.type)
    for op in graph.block.ops:
        assert isinstance(op, TorchOp)
        used |= op.args.symbols
        for result in op.results:
            used |= symbols_of(result.type)
    if used >= set(table) and not table.replacements:
        return False
    kept = SymbolTable(info for info in table.values() if info.name in used)
    graph.properties["symbols"] = SymbolTableAttr(kept)
    return True


def drop_metadata(graph: GraphOp) -> bool:
    """Drop what ops say of where they come from, except what binds symbols."""
    changed = False
    for op in body_ops(graph):
        node = op.node
        items = node.text_items()
        kept = {key: text for key, text in items.items() if key == "unbacked_bindings"}
        if items != kept or node.location() is not None:
            op.attributes["node"] = NodeMeta(node.names, node=node.node, textual=kept)
            changed = True
    return changed


def referenced_graphs(graph: GraphOp) -> set[str]:
    """The names of the graphs that the ops of a graph refer to."""
    found: set[str] = set()
    for op in graph.block.ops:
        if isinstance(op, TorchOp):
            found.update(op.args.subgraphs)
    return found


def keep_reachable(module: ModuleOp, entry: str) -> bool:
    """Make the graph called `entry` the first, and drop those that it does not reach."""
    graphs = {op.sym_name.data: op for op in module.ops if isinstance(op, GraphOp)}
    if entry not in graphs:
        return False
    reached, agenda = set[str](), [entry]
    while agenda:
        name = agenda.pop()
        if name not in reached and name in graphs:
            reached.add(name)
            if not graphs[name].is_declaration:
                agenda += referenced_graphs(graphs[name])
    block = module.body.block
    first = graphs[entry]
    if len(reached) == len(graphs) and block.first_op is first:
        return False
    for name, graph in graphs.items():
        if name not in reached:
            block.erase_op(graph)
    if block.first_op is not first and block.first_op is not None:
        block.detach_op(first)
        block.insert_op_before(first, block.first_op)
    return True


def _rename_arguments(graph: GraphOp, names: tuple[str, ...]) -> None:
    graph.attributes["node"] = NodeMeta(names)


class _Names:
    """Names for new inputs: those of the values they stand for."""

    def __init__(self, graph: GraphOp) -> None:
        self._printed = value_names(graph)
        self._taken = {self._plain(text) for text in self._printed.values()}

    def of_result(self, op: TorchOp, index: int) -> str:
        name = op.node.names[index] if index < len(op.node.names) else ""
        if name:
            return name
        base = self._plain(self._printed[op.results[index]]).replace("#", "_")
        name, count = base, 0
        while name in self._taken:
            count += 1
            name = f"{base}_{count}"
        self._taken.add(name)
        return name

    @staticmethod
    def _plain(text: str) -> str:
        name = text.removeprefix("%")
        return json.loads(name) if name.startswith('"') and name.endswith('"') else name
