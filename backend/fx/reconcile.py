"""Brings a GraphModule up to date with the module it was lowered to, editing as little as possible.

All edits go through FX's own methods, so observers and provenance see them. Nodes are erased last;
everything before that is undone from a journal if a later step fails.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cached_property
from typing import Any

import torch.fx as fx
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, OpResult, SSAValue

from xductor.backend.fx.call_arguments import RaisingError, ValueNodes, returns_tuple
from xductor.backend.fx.fresh_graph_module import new_child
from xductor.backend.fx.node_text import clones_of
from xductor.backend.fx.value_metadata import NewValues, record_new_values
from xductor.ir import GetAttrOp, GraphOp, OutputOp, TorchOp, verify
from xductor.ir.dialect.arguments import Pack
from xductor.ir.dialect.metadata import MetadataClass, keys_of
from xductor.transforms.analysis.block_order import ops_of

_OF_ARGUMENTS = keys_of(MetadataClass.ARGUMENTS)
_OF_ORDER = keys_of(MetadataClass.ORDER)


def reconcile(
    module: ModuleOp, source: GraphOp, gm: fx.GraphModule, values: NewValues = "run"
) -> bool:
    """Edit `gm` until it computes what the module's entry graph says; whether that took an edit.

    Its Python code is left as it was: `gm.recompile()` makes it anew. `values` as for
    `record_new_values`.

    Raises RaisingError if `gm` changed since it was lowered, VerifyException for a module that is
    not well-formed; `gm` is then as it was.
    """
    live = source.live
    if live is not None and live.gm is gm and len(gm.graph.nodes) != live.node_count:
        raise RaisingError(
            f"the graph has {len(gm.graph.nodes)} nodes, "
            f"it had {live.node_count} when it was lowered; "
            "lower it again before raising into it"
        )
    if live is not None and live.gm is gm and is_unchanged(source):
        return False
    verify(module, level="structure")
    _Reconciliation(module, source, gm, values).run()
    return True


def is_unchanged(source: GraphOp) -> bool:
    """True where every op is the one that was lowered, in its place, with its arguments."""
    op: Any = source.block.first_op
    for lowered, meta in source.live.ops:
        if op is not lowered:
            return False
        if op._operands is not meta.operands or op.properties["args"] is not meta.args:
            return False
        if op.attributes["node"] is not meta:
            return False
        op = op._next_op
    return op is None


class _Reconciliation:
    def __init__(
        self, module: ModuleOp, source: GraphOp, gm: fx.GraphModule, values: NewValues
    ) -> None:
        self.module = module
        self.values: NewValues = values
        self.source = source
        self.gm = gm
        self.graph = gm.graph
        self.kept: set[fx.Node] = set()
        self.new: list[tuple[TorchOp, fx.Node]] = []
        self.moved = False
        self.order = {node: index for index, node in enumerate(self.graph.nodes)}
        self.subgraph_nodes = self._subgraph_nodes()
        self.nodes = ValueNodes(self.graph, source, self.subgraph)
        self.undo: list[Callable[[], None]] = self.nodes.undo
        self.cursor: fx.Node | None = None

    @cached_property
    def by_name(self) -> dict[str, fx.Node]:
        return {node.name: node for node in self.order}

    def run(self) -> None:
        try:
            self.placeholders()
            last_index = len(self.nodes.arguments) - 1
            for op in ops_of(self.source.block):
                index = None if self.moved else self.index_where_it_stands(op, last_index)
                last_index = self.place(op, last_index) if index is None else index
            record_new_values(self.source, self.nodes, self.new, self.kept, self.values)
            doomed = self.doomed()
            _check_erasable(doomed)
        except BaseException:
            self.roll_back()
            raise
        self.erase(doomed)
        if self.moved or self.new:
            for node in self.graph.nodes:
                for key in _OF_ORDER:
                    node.meta.pop(key, None)

    def roll_back(self) -> None:
        for step in reversed(self.undo):
            step()

    def placeholders(self) -> None:
        """Placeholders are never touched: same nodes, same order."""
        found = [node for node in self.graph.nodes if node.op == "placeholder"]
        if len(found) != len(self.source.arguments):
            raise RaisingError(
                f"the graph takes {len(found)} inputs, the module {len(self.source.arguments)}; "
                "a pass must not add or remove inputs"
            )
        for argument, node in zip(self.source.arguments, found, strict=True):
            self.nodes.of_value[argument] = node
            self.nodes.arguments.append(node)
            self.cursor = node

    def origin(self, op: TorchOp) -> fx.Node | None:
        """The node of this graph that the op was lowered from, unless another op has it.

        An op of parsed text stands for the node of its name, if that makes the same call.
        """
        node = op.node.origin
        if node is None and op.node.textual is not None and "heir_of" not in op.node.__dict__:
            node = self.by_name.get(op.node.node)
            if node is not None and (node.op != op.fx_op or not _same_target(op, node)):
                return None
        if node is None or node not in self.order or node in self.kept:
            return None
        return node

    def index_where_it_stands(self, op: TorchOp, last_index: int) -> int | None:
        """The index of the node of an op that makes one value, if nothing is to be done there.

        `place` does the same for any op; most ops of most graphs are such.
        """
        meta: Any = op.attributes.get("node")
        if meta is None or meta.operands is not op._operands or meta.getitems is not None:
            return None
        node = meta.origin
        index = self.order.get(node)
        if index is None or index < last_index or op.properties["args"] is not meta.args:
            return None
        if node in self.kept or len(op.results) != 1 or returns_tuple(op):
            return None
        self.kept.add(node)
        self.nodes.standing.add(id(op))
        self.cursor = node
        return index

    def place(self, op: TorchOp, last_index: int) -> int:
        """Make sure the op's call stands at its place with its arguments; its original index."""
        if isinstance(op, OutputOp):
            self.output(op)
            return last_index
        node = self.origin(op)
        if node is None:
            self.create(op)
            return last_index
        index = self.order[node]
        self.kept.add(node)
        self.nodes.define(op, node)
        moved = index < last_index
        if moved:
            self.move_behind_cursor(node)
        self.keep_getitems(op, node)
        if self.update(op, node) or self.moved:
            self.precede(op, node)
        self.say_what_to_clone(op, node)
        self.cursor = node
        return last_index if moved else index

    def keep_getitems(self, op: TorchOp, node: fx.Node) -> None:
        """The `getitem` nodes of a surviving call stay with it."""
        for slot, items in _getitems(op, node).items():
            for item in items:
                if item not in self.order:
                    continue
                self.kept.add(item)
                if slot >= 0:
                    self.nodes.of_value.setdefault(op.results[slot], item)
                if item < node:
                    self.move(item, node)

    def create(self, op: TorchOp) -> None:
        opcode, target, args, kwargs = self.nodes.call(op)
        with self._behind_cursor():
            node = self.graph.create_node(opcode, target, args, kwargs, name=op.node.node or None)
        self.undo.append(lambda: self.graph.erase_node(node))
        self.nodes.define(op, node)
        self.new.append((op, node))
        self.precede(op, node)
        self.cursor = node

    def _behind_cursor(self) -> Any:
        if self.cursor is not None:
            return self.graph.inserting_after(self.cursor)
        return self.graph.inserting_before(next(iter(self.graph.nodes)))

    def move_behind_cursor(self, node: fx.Node) -> None:
        if self.cursor is not None:
            self.move(node, self.cursor)

    def move(self, node: fx.Node, behind: fx.Node) -> None:
        if behind.next is node:
            return
        previous = node.prev
        self.undo.append(lambda: previous.append(node))
        behind.append(node)
        self.moved = True

    def precede(self, op: TorchOp, node: fx.Node) -> None:
        """Bring up the `getitem` nodes of other calls that now stand behind this use of theirs."""
        for used in node.all_input_nodes:
            if node < used:
                producer = used.args[0] if used.args and isinstance(used.args[0], fx.Node) else None
                if producer is None:
                    self.move(used, self.nodes.arguments[-1] if self.nodes.arguments else used.prev)
                    continue
                if node < producer:
                    raise RaisingError(
                        f"{op.name}: '{used.name}' is computed after its use in '{node.name}'"
                    )
                self.move(used, producer)

    def update(self, op: TorchOp, node: fx.Node) -> bool:
        """Give a surviving call its arguments, in its own spelling where only values changed.

        Whether it has other ones now.
        """
        meta = op.node
        if op.args is meta.args and meta.operands is not None:
            if op._operands is meta.operands or tuple(op._operands) == tuple(meta.operands):
                return False
            renamed = self.renamed(op, node)
            if renamed == {}:
                return False
            if renamed is not None:
                self.remember_arguments(node)
                for old, new in renamed.items():
                    node.replace_input_with(old, new)
                self.drop_metadata_of_arguments(node)
                return True
        _, _, args, kwargs = self.nodes.call(op)
        self.remember_arguments(node)
        node.args, node.kwargs = args, kwargs
        self.drop_metadata_of_arguments(node)
        return True

    def renamed(self, op: TorchOp, node: fx.Node) -> dict[fx.Node, fx.Node] | None:
        """Which input nodes became which; None where one became two, or a whole tuple is meant."""
        if any(type(leaf) is Pack for leaf in _containers(op.args.data)):
            return None
        inputs = set(node.all_input_nodes)
        renamed: dict[fx.Node, fx.Node] = {}
        for old, new in zip(op.node.operands, op._operands, strict=True):
            target = self.nodes.node(new)
            sources = [source for source in self.lowered_nodes(old) if source in inputs]
            if not sources or any(renamed.setdefault(s, target) is not target for s in sources):
                return None
        return {old: new for old, new in renamed.items() if old is not new}

    def lowered_nodes(self, value: SSAValue) -> list[fx.Node]:
        """The nodes a value was lowered from: one, or several `getitem`s of one slot."""
        if isinstance(value, BlockArgument):
            return [self.nodes.arguments[value.index]]
        assert isinstance(value, OpResult)
        meta = value.op.node  # type: ignore[attr-defined]
        if meta.getitems is not None:
            return list(meta.getitems.get(value.index, ()))
        return [meta.origin] if meta.origin is not None else []

    def remember_arguments(self, node: fx.Node) -> None:
        args, kwargs = node.args, node.kwargs

        def restore() -> None:
            node.args, node.kwargs = args, kwargs

        self.undo.append(restore)

    def drop_metadata_of_arguments(self, node: fx.Node) -> None:
        """What was recorded of the arguments of a call does not hold for others."""
        for key in _OF_ARGUMENTS.intersection(node.meta):
            value = node.meta.pop(key)
            self.undo.append(lambda key=key, value=value: node.meta.__setitem__(key, value))

    def say_what_to_clone(self, op: TorchOp, node: fx.Node) -> None:
        """What a pass said of a functionalised call that stays."""
        key = "only_clone_these_tensors"
        clones = clones_of(op.node)
        if clones is None or node.meta.get(key) == clones:
            return
        before = {one: node.meta[one] for one in (key,) if one in node.meta}

        def restore() -> None:
            node.meta.pop(key, None)
            node.meta.update(before)

        self.undo.append(restore)
        node.meta[key] = clones

    def output(self, op: OutputOp) -> None:
        node = self.graph.output_node()
        self.kept.add(node)
        if op.args is op.node.args and op._operands is op.node.operands and op.node.origin is node:
            self.precede(op, node)
            return
        args = (self.nodes.tree(op, op.tree),)  # makes `getitem` nodes, to be undone after the use
        self.remember_arguments(node)
        node.args = args

    def subgraph(self, name: str) -> fx.Node:
        """The `get_attr` of a subgraph; an existing one where there is one."""
        node = self.subgraph_nodes.get(name)
        if node is None:
            node = self.subgraph_nodes[name] = self.add_subgraph(name)
        self.kept.add(node)
        return node

    def add_subgraph(self, name: str) -> fx.Node:
        """The `get_attr` of a body that a pass made; it becomes a child of the GraphModule."""
        child = new_child(self.module, name)
        attribute = name.replace(".", "_")
        if hasattr(self.gm, attribute):
            raise RaisingError(f"@{name}: the GraphModule has an attribute of that name")
        self.gm.add_submodule(attribute, child)
        self.undo.append(lambda: delattr(self.gm, attribute))
        with self._behind_cursor():
            node = self.graph.get_attr(attribute)
        self.undo.append(lambda: self.graph.erase_node(node))
        self.cursor = node
        return node

    def _subgraph_nodes(self) -> dict[str, fx.Node]:
        live = self.source.live
        names = {id(child): name for name, child in live.children} if live is not None else {}
        found: dict[str, fx.Node] = {}
        for node in self.graph.find_nodes(op="get_attr"):
            value: Any = self.gm
            for part in str(node.target).split("."):
                value = getattr(value, part, None)
            if isinstance(value, fx.GraphModule):
                name = names.get(id(value))
                if name is None and live is not None:
                    name = live.names.of.get(id(value))
                if live is None:
                    name = str(node.target)
                if name is not None:
                    found.setdefault(name, node)
                if node.users:
                    self.kept.add(node)
        return found

    def doomed(self) -> list[fx.Node]:
        """Nodes that no op stands for any more, last first."""
        made = set(self.nodes.made) | {node for _, node in self.new}
        return [
            node
            for node in reversed(self.graph.nodes)
            if node.op not in ("placeholder", "output")
            and node not in self.kept
            and node not in made
        ]

    def erase(self, doomed: list[fx.Node]) -> None:
        for node in doomed:
            self.graph.erase_node(node)
        for node in list(self.subgraph_nodes.values()):
            if not node.users and node in self.order and not node._erased:
                self.graph.erase_node(node)


def _check_erasable(doomed: list[fx.Node]) -> None:
    going = set(doomed)
    for node in doomed:
        left = [user.name for user in node.users if user not in going]
        if left:
            raise RaisingError(
                f"node '{node.name}' has no op any more but is used by {', '.join(left)}"
            )


def _same_target(op: TorchOp, node: fx.Node) -> bool:
    return (
        op.path == node.target
        if isinstance(op, GetAttrOp)
        else op.target is node.target or op.target == node.target
    )


def _getitems(op: TorchOp, node: fx.Node) -> dict[int, list[fx.Node]]:
    """The `getitem` nodes of each result: as recorded at lowering, else by looking."""
    if op.node.getitems is not None:
        return op.node.getitems
    found: dict[int, list[fx.Node]] = {}
    if op.node.textual is not None and (len(op.results) > 1 or op.structure is not None):
        for user in node.users:
            slot = user.args[1] if user.target is operator.getitem else None
            if isinstance(slot, int) and 0 <= slot < len(op.results):
                found.setdefault(slot, []).append(user)
    return found


def _containers(tree: Any) -> Any:
    if isinstance(tree, tuple):
        yield tree
        for part in tree:
            yield from _containers(part)


__all__ = ["is_unchanged", "reconcile"]
